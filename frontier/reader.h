/*
 * reader.h - a crawl's directory opened for reading, also while it runs.
 *
 * Used by status, audit, explain, export and verify. It sees a snapshot of the
 * store and writes nothing. Threads: one.
 */
#ifndef URLWEIR_FRONTIER_READER_H
#define URLWEIR_FRONTIER_READER_H

#include <stdbool.h>

#include "base/digest.h"
#include "base/status.h"
#include "frontier/url/url.h"
#include "storage/db/db.h"
#include "storage/db/manifest.h"
#include "storage/frontier_store.h"
#include "storage/index/exact_set.h"
#include "storage/rows/link_store.h"
#include "storage/rows/page_store.h"
#include "storage/rows/side_tables.h"
#include "storage/url_record.h"

#define CRAWL_ID "DEFAULT" /* of a crawl of our own */

struct reader {
    char *dir;
    struct db *db;
    struct exact_set *exact; /* newest rows included */
    struct frontier_store *store;
    struct page_store *pages;
    struct link_store *links;
    struct digest_key key;
    struct manifest manifest;
    enum status manifest_status; /* of reading it; the rest may still open */
    long holder;                 /* process that runs the crawl, 0: none */
    unsigned char *newest;       /* see reader_find_newest */
};

/* STATUS_NOT_FOUND: no crawl in `dir`. STATUS_BUSY: its process is making it,
 * and nothing can be read yet; no log line. STATUS_DAMAGED, STATUS_VERSION: with one
 * log line. */
MUST_CHECK enum status reader_open(struct reader *r, const char *dir);
/* The same within some `memory` octets, but for what a crawl needs for each of
 * its hosts, and two bits for each URL. */
MUST_CHECK enum status reader_open_within(struct reader *r, const char *dir,
                                          uint64_t memory);
void reader_close(struct reader *r);

/* Is this a crawl that ended before all of its seeds were stored? Then nothing
 * was fetched: `urlweir crawl` starts it over, and other commands see no crawl.
 * Also true while a crawl is being started, since the lock is not checked.
 * False if it cannot be determined. */
bool reader_is_unbegun(const char *dir);

/* DIR/NAME; the caller frees. */
char *reader_path(const struct reader *r, const char *name);
/* The URL of a row, in `text`; empty: there is no such row. */
struct bytes reader_url(struct reader *r, uint64_t id, struct buf *text);
/* Sets same_as or near_dup_of of `f`, a record with its url and fetch, to the
 * URL of the earlier page, in `text`; neither, if that is the same URL, tried
 * before. */
void reader_same_page(struct reader *r, struct url_record *f, struct buf *text);
/* Finds out which fetches say what their URLs are now: of each URL the last
 * final one, if its row was not replaced (below). The others are its history.
 * From then on r->links lists the links of these fetches alone, besides those
 * of which no fetch is known. Takes a bit for each fetch and each URL, and
 * nothing if every URL was fetched once. */
MUST_CHECK enum status reader_find_newest(struct reader *r);
/* After reader_find_newest. */
bool reader_is_newest(const struct reader *r, const struct fetch_row *row);
/* *is: the URL of this row was skipped once and has come back since, under a
 * row of its own that has replaced this one. */
MUST_CHECK enum status reader_is_replaced(struct reader *r,
                                          const struct url_row *row, bool *is);
/* The digest under which the crawl knows a row's URL. */
struct digest reader_digest(struct reader *r, const struct url_row *row);
/* The id of a canonical URL, 0: never admitted. Tries both modes of queue
 * keys. */
MUST_CHECK enum status reader_find(struct reader *r, const struct url *u,
                                   uint64_t *id);

#endif
