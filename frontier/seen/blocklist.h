/*
 * blocklist.h - filter and exact file that keep URLs out.
 *
 * A filter says which URLs may be blocked, in a few bits each; an exact list,
 * where there is one, which of these are. Keys are what `urlweir filter add`
 * makes of a line that is the canonical URL.
 *
 * The filter is a file, held in memory, or a Redis URL. Without an exact list
 * the filter's false positives are kept out as well (blocklist_rate). A Redis
 * that is out of reach settles nothing: then the exact list alone decides, and
 * without one nothing is blocked; that is counted (`unsure`) and said once.
 *
 * One thread.
 */
#ifndef URLWEIR_FRONTIER_SEEN_BLOCKLIST_H
#define URLWEIR_FRONTIER_SEEN_BLOCKLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

struct blocklist;

struct blocklist_options {
    const char *filter; /* path or Redis URL */
    const char *exact;  /* file of URLs, one a line; NULL: none */
    const char *kept;   /* where what is made of `exact` is kept */
    uint64_t memory;    /* most the filter may take; 0: any */
};

/* On error `error` gains a sentence. STATUS_NOT_FOUND, STATUS_CLOSED,
 * STATUS_FORMAT, STATUS_ARG (a crawl's own filter, whose secret is not there),
 * STATUS_DAMAGED, STATUS_LIMIT, STATUS_NOMEM, STATUS_IO. */
MUST_CHECK enum status blocklist_open(struct blocklist **out,
                                      const struct blocklist_options *o,
                                      struct buf *error);
void blocklist_close(struct blocklist *b); /* NULL is fine */

/* blocked[i]: canonical urls[i] is to be kept out. STATUS_IO: the exact list
 * cannot be read. */
MUST_CHECK enum status blocklist_check(struct blocklist *b,
                                       const struct bytes *urls, size_t n,
                                       bool *blocked);

struct blocklist_counts {
    uint64_t asked, blocked;
    uint64_t false_positives; /* let in by the exact list */
    uint64_t unsure;          /* asked while the filter was out of reach */
};
struct blocklist_counts blocklist_counts(const struct blocklist *b);
/* Share of other URLs that the filter alone would block; its keys; the URLs of
 * the exact list, 0 without one. */
double blocklist_rate(const struct blocklist *b);
uint64_t blocklist_keys(const struct blocklist *b);
uint64_t blocklist_exact_keys(const struct blocklist *b);

#endif
