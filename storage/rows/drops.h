/*
 * drops.h - drops before admission, by reason and host (tables drop_reason,
 * drop_count, drop_example).
 *
 * It counts in memory, without a copy of the host's name; drops_flush writes
 * the changes in the transaction of the page being processed.
 */
#ifndef URLWEIR_STORAGE_ROWS_DROPS_H
#define URLWEIR_STORAGE_ROWS_DROPS_H

#include <stdint.h>

#include "base/bytes.h"
#include "storage/db/db.h"

#define DROPS_EXAMPLES 1000   /* the latest of each reason */
#define DROPS_HOSTS    100000 /* counted separately, for each reason */
#define DROPS_URL_MOST 2048   /* octets kept of an example */

struct drops;

MUST_CHECK enum status drops_open(struct drops **out, struct db *d);
void drops_close(struct drops *t); /* NULL is fine */

/* See frontier_store_drop. */
void drops_add(struct drops *t, const char *reason, struct bytes host,
               struct bytes url, uint64_t via, int64_t at_ms);
MUST_CHECK enum status drops_flush(struct drops *t);
uint64_t drops_memory(const struct drops *t);

#endif
