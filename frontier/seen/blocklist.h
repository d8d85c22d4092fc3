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
 * the filter's false positives are blocked as well (blocklist_size). While a
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
#include "base/bytes.h"
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

struct blocklist_size {
    uint64_t keys;       /* of the filter */
    uint64_t exact_keys; /* URLs on the exact list, 0 without one */
    double rate; /* the share of other URLs that the filter alone would block */
};
struct blocklist_size blocklist_size(const struct blocklist *b);

/*
 * The exact list, a set of URLs in a file, searched on disk.
 *
 * The second check of a blocklist: made once from a text file of any length, in
 * bounded memory; a lookup takes a few reads. A URL is stored as a 128-bit
 * digest with a seed of the file's own. The file is made anew when size or time
 * of the text file have changed.
 *
 * One thread.
 */
struct block_exact;

/* Opens the set of the URLs in `list`, one a line, which are canonicalised;
 * blank lines and comments are skipped. `path`: the file of digests, made if
 * needed. A list that may not say all that is to be blocked is refused, with a
 * sentence in `why`: STATUS_NOT_FOUND: there is none; STATUS_FORMAT: it has no
 * URL, or a line that is none, or is cut short; STATUS_IO, STATUS_FULL. */
MUST_CHECK enum status block_exact_open(struct block_exact **out,
                                        const char *list, const char *path,
                                        struct buf *why);
void block_exact_close(struct block_exact *b); /* NULL is fine */
/* Is canonical `url` in the set? */
MUST_CHECK enum status block_exact_has(struct block_exact *b, struct bytes url,
                                       bool *has);
uint64_t block_exact_count(const struct block_exact *b);

#endif
