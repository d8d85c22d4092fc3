/*
 * skips.h - drops before admission, by reason and host (tables skip_reason,
 * skip, skip_example).
 *
 * Counting is in memory, without a copy of the host's name; skips_flush writes
 * what changed in the transaction of the page that was being looked at.
 */
#ifndef URLWEIR_STORAGE_ROWS_SKIPS_H
#define URLWEIR_STORAGE_ROWS_SKIPS_H

#include <stdint.h>

#include "base/bytes.h"
#include "storage/db/db.h"

#define SKIPS_EXAMPLES 1000   /* the latest of each reason */
#define SKIPS_HOSTS    100000 /* counted apart, of each reason */
#define SKIPS_URL_MOST 2048   /* octets kept of an example */

struct skips;

MUST_CHECK enum status skips_open(struct skips **out, struct db *d);
void skips_close(struct skips *t); /* NULL is fine */

/* See frontier_store_skip. */
void skips_add(struct skips *t, const char *reason, struct bytes host,
               struct bytes url, uint64_t via, int64_t at_ms);
MUST_CHECK enum status skips_flush(struct skips *t);
uint64_t skips_memory(const struct skips *t);

#endif
