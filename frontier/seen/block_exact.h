/*
 * block_exact.h - a list of URLs that is asked for one at a time, in a file.
 *
 * The second check of a blocklist: made once from a text file of any length,
 * in bounded memory, and asked with a few reads. A URL is known by 128 bits of
 * a digest whose seed is the file's own. Made anew when the text file has
 * changed, by its size and time.
 *
 * One thread.
 */
#ifndef URLWEIR_FRONTIER_SEEN_BLOCK_EXACT_H
#define URLWEIR_FRONTIER_SEEN_BLOCK_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

struct block_exact;

/* The URLs of `list`, one a line, canonicalised; lines that are none are passed
 * over and counted. `path`: where what is made of it is kept. STATUS_NOT_FOUND:
 * no `list`; STATUS_IO, STATUS_FULL. */
MUST_CHECK enum status block_exact_open(struct block_exact **out,
                                        const char *list, const char *path);
void block_exact_close(struct block_exact *b); /* NULL is fine */
/* Does canonical `url` stand there? */
MUST_CHECK enum status block_exact_has(struct block_exact *b, struct bytes url,
                                       bool *has);
uint64_t block_exact_count(const struct block_exact *b);
uint64_t block_exact_passed_over(const struct block_exact *b);

#endif
