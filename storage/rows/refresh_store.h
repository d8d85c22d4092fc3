/*
 * refresh_store.h - the calendar: when each done URL is to be fetched again.
 *
 * A URL with a date has one row in table refresh; a URL without one is not
 * fetched again. Rows are in order of queue, then of date, so the next URL of a
 * queue is the first of its rows, and a queue's dates are neighbours on disk:
 * a crawl that leaves a host alone touches none of its pages. Nothing is kept
 * in memory but statements.
 *
 * A row is written in the transaction of the fetch that gives the date, and
 * replaced in that of the next fetch. So a crash finds the old date with the
 * old fetch or the new date with the new one, and nothing has to be replayed.
 *
 * Owned by the frontier thread; readers open the database read-only. Make all
 * writing calls between db_begin and db_commit.
 */
#ifndef URLWEIR_STORAGE_ROWS_REFRESH_STORE_H
#define URLWEIR_STORAGE_ROWS_REFRESH_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/db/db.h"

struct refresh_store;

struct refresh_row {
    uint32_t queue;
    int64_t due_ms; /* wall clock */
    uint64_t url;
    uint64_t seq;    /* its last final fetch row (page_store.h) */
    int64_t at_ms;   /* when that was asked */
    uint32_t tries;  /* of the refresh under way that failed for now */
    uint32_t absent; /* consecutive fetches that found 404 or 410 */
    uint64_t known;  /* how often it changes (refresh_rule.h) */
    uint64_t links;  /* a digest of those that its page had; 0: not known */
};

MUST_CHECK enum status refresh_store_open(struct refresh_store **out,
                                          struct db *d);
void refresh_store_close(struct refresh_store *s); /* NULL is fine */

/* The URL must have no other row. */
MUST_CHECK enum status refresh_store_put(struct refresh_store *s,
                                         const struct refresh_row *row);
/* Removes the row with this queue, date and URL. STATUS_DAMAGED, with a log
 * line: there is none. */
MUST_CHECK enum status refresh_store_drop(struct refresh_store *s,
                                          const struct refresh_row *row);

/* Visits rows in order of queue, date and URL, the first of them after that of
 * `after` (whose other fields do not count), until `visit` returns false. All
 * zero but the queue: those of this queue and all later ones. */
MUST_CHECK enum status refresh_store_each(
    struct refresh_store *s, const struct refresh_row *after,
    bool (*visit)(void *ctx, const struct refresh_row *row), void *ctx);
/* The first date of each queue that has any, in order of queue. */
MUST_CHECK enum status refresh_store_each_queue(
    struct refresh_store *s,
    void (*visit)(void *ctx, const struct refresh_row *first), void *ctx);

#endif
