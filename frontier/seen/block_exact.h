/*
 * block_exact.h - a set of URLs in a file, searched on disk.
 *
 * The second check of a blocklist: made once from a text file of any length, in
 * bounded memory; a lookup takes a few reads. A URL is stored as a 128-bit
 * digest with a seed of the file's own. The file is made anew when size or time
 * of the text file have changed.
 *
 * One thread.
 */
#ifndef URLWEIR_FRONTIER_SEEN_BLOCK_EXACT_H
#define URLWEIR_FRONTIER_SEEN_BLOCK_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

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
