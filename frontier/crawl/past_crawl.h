/*
 * past_crawl.h - an earlier crawl, which a new one knows (--since).
 *
 * The new crawl has the secret of the earlier one, so URLs and bodies have the
 * same digests in both. For a URL that the new crawl has not fetched yet, the
 * earlier one has validators, digest, facts and links. Links count only if the
 * earlier crawl kept those of that page (--record links), all of them, by the
 * same rules: otherwise a 304 would lose links, and the page is asked for
 * without conditions, unless it had no links at all. Sitemaps and feeds always
 * are: of their entries links tell a part, while dates and priorities, the
 * level of an index, and what robots.txt files of other hosts say of the list
 * belong to the new crawl.
 *
 * The earlier crawl is read as of the moment of opening; it must not be
 * running. Owned by the frontier thread.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_PAST_CRAWL_H
#define URLWEIR_FRONTIER_CRAWL_PAST_CRAWL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "storage/frontier_store.h"
#include "storage/rows/link_store.h"
#include "storage/rows/page_store.h"
#include "storage/rows/side_tables.h"

struct past_crawl;

/* STATUS_NOT_FOUND: no crawl in `dir`; STATUS_AGAIN: it is running;
 * STATUS_VERSION: its format is older, and lacks what is needed here; `why`
 * gets the reason, for people. `identity`: what the new crawl asks for and
 * reads, see frontier_options. */
MUST_CHECK enum status past_crawl_open(struct past_crawl **out, const char *dir,
                                       struct bytes identity, uint64_t memory,
                                       struct buf *why);
void past_crawl_close(struct past_crawl *p); /* NULL is fine */

struct past_facts {
    uint64_t urls;             /* ever admitted */
    const unsigned char *seed; /* the secret of its digests */
    bool has_links;            /* it kept the links of all pages */
    bool is_of_another; /* it had another identity, so all pages are asked for
                           in full */
};
struct past_facts past_crawl_facts(const struct past_crawl *p);
/* Text by name, kept with it. STATUS_NOT_FOUND. */
MUST_CHECK enum status past_crawl_meta(struct past_crawl *p, const char *name,
                                       struct buf *out);
/* The links of its pages may be used (true at first), or not: the rules by
 * which they were kept are others. */
void past_crawl_set_links(struct past_crawl *p, bool may_use);

/* The new crawl has a root (a seed, or what one redirects to): if the earlier
 * one had not, its links out of that place's scope are missing. */
MUST_CHECK enum status past_crawl_root(struct past_crawl *p,
                                       struct digest digest, struct bytes url);

/* Visits the row of its last whole fetch, as page_store_last does. */
MUST_CHECK enum status past_crawl_last(
    struct past_crawl *p, uint64_t id,
    void (*visit)(void *ctx, const struct fetch_row *row), void *ctx);
/* May this row's validators be sent? */
MUST_CHECK enum status past_crawl_may_ask(struct past_crawl *p,
                                          const struct fetch_row *row,
                                          bool *may);
/* See recorded_find. */
MUST_CHECK enum status past_crawl_record(struct past_crawl *p,
                                         const struct fetch_row *row,
                                         struct record_name *out,
                                         struct buf *text);

#endif
