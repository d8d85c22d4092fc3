/*
 * done_bits.h - which URLs are done: one bit each, in memory and in the table
 * status.
 *
 * On disk 32,000 bits make a row, 4,000 octets, about a page. A new bit is not
 * written at once: the final fetch row already says it. Changed blocks are
 * written in turn; when a round is over, everything up to the fetch row at
 * which it began is on disk (meta.status_upto), and opening reads only the
 * fetch rows past that one.
 */
#ifndef URLWEIR_STORAGE_INDEX_DONE_BITS_H
#define URLWEIR_STORAGE_INDEX_DONE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/db/db.h"

#define DONE_BLOCK 32000 /* ids in a row: (block * 32000, + 32000] */

struct done_bits;

/* Reads the rows and the fetch rows past them, none of which may be about an id
 * past `last_id`. `round_least`: least changes a round takes, 0: 262,144. */
MUST_CHECK enum status done_bits_open(struct done_bits **out, struct db *d,
                                      uint64_t last_id, uint64_t round_least);
void done_bits_close(struct done_bits *b); /* NULL is fine */

/* Marks `id` done; false: it was already. `seq` is the final fetch row. */
bool done_bits_set(struct done_bits *b, uint64_t id, uint64_t seq);
bool done_bits_has(const struct done_bits *b, uint64_t id);
/* Fetches the memory that done_bits_has will read. */
void done_bits_prefetch(const struct done_bits *b, uint64_t id);

/* Inside a transaction: one bounded step of the round, `last_id` the last URL,
 * `changes` the URLs admitted and done since the last step. */
MUST_CHECK enum status done_bits_step(struct done_bits *b, uint64_t last_id,
                                      uint64_t changes);

/* Do rows and bits agree with all fetch rows? STATUS_DAMAGED with a log
 * line. */
MUST_CHECK enum status done_bits_verify(struct done_bits *b, uint64_t last_id);

uint64_t done_bits_memory(const struct done_bits *b);

#endif
