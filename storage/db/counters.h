/*
 * counters.h - named counters, written in the transaction they belong to.
 *
 * Counting is in memory; counters_flush writes what changed (table counter), so
 * that after a crash the counts still agree with the rows.
 */
#ifndef URLWEIR_STORAGE_DB_COUNTERS_H
#define URLWEIR_STORAGE_DB_COUNTERS_H

#include <stdint.h>

#include "storage/db/db.h"

struct counters;

MUST_CHECK enum status counters_open(struct counters **out, struct db *d);
void counters_close(struct counters *t); /* NULL is fine */

uint64_t counters_get(const struct counters *t, const char *name);
void counters_add(struct counters *t, const char *name, uint64_t by);
void counters_each(const struct counters *t,
                   void (*visit)(void *ctx, const char *name, uint64_t value),
                   void *ctx);
MUST_CHECK enum status counters_flush(struct counters *t);

#endif
