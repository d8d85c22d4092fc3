/*
 * blocklist.h - a filter and an exact list of URLs to keep out of a crawl.
 *
 * A filter tells which URLs may be blocked, in a few bits each; an exact list,
 * if there is one, tells which of these are. The filter's keys are those that
 * `urlweir filter add --urls` makes of a line.
 *
 * It is a guard, and so what would block nothing is refused: a filter file
 * without keys, or with keys that are no canonical URLs, a list that is empty
 * or cannot be read to its end. Where nobody knows what the keys are, in Redis
 * and in files of other programs, that is logged.
 *
 * The filter is a file, held in memory, or a Redis URL. Without an exact list
 * the filter's false positives are blocked as well (blocklist_rate). While a
 * Redis server is out of reach, the exact list alone decides; without one
 * nothing is blocked. That is counted (`unsure`) and logged once.
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
    const char *kept;   /* path of the file of digests made from `exact` */
    uint64_t memory;    /* most the filter may take; 0: any */
};

/* On error a sentence is put into `error`, which is empty. STATUS_NOT_FOUND,
 * STATUS_CLOSED, STATUS_FORMAT (of no use, see above), STATUS_ARG (a crawl's
 * own filter, whose secret is not there), STATUS_DAMAGED, STATUS_LIMIT,
 * STATUS_NOMEM, STATUS_IO. */
MUST_CHECK enum status blocklist_open(struct blocklist **out,
                                      const struct blocklist_options *o,
                                      struct buf *error);
void blocklist_close(struct blocklist *b); /* NULL is fine */

/* blocked[i]: keep canonical urls[i] out. STATUS_IO: the exact list cannot be
 * read. */
MUST_CHECK enum status blocklist_check(struct blocklist *b,
                                       const struct bytes *urls, size_t n,
                                       bool *blocked);

struct blocklist_counts {
    uint64_t asked, blocked;
    uint64_t false_positives; /* "maybe" to the filter, not on the exact list */
    uint64_t unsure;          /* asked while the filter was out of reach */
};
struct blocklist_counts blocklist_counts(const struct blocklist *b);
/* The share of other URLs that the filter alone would block; the number of its
 * keys; the number of URLs on the exact list, 0 without one. */
double blocklist_rate(const struct blocklist *b);
uint64_t blocklist_keys(const struct blocklist *b);
uint64_t blocklist_exact_keys(const struct blocklist *b);

#endif
