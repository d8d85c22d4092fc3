/*
 * tally.h - named counters, and drops before admission by reason and host.
 *
 * Counting is in memory; tally_flush writes what changed, in the transaction
 * that holds what was counted, so that a crash cannot part the two. See
 * frontier_store.h, which passes these on.
 */
#ifndef URLWEIR_STORAGE_TALLY_H
#define URLWEIR_STORAGE_TALLY_H

#include <stdint.h>

#include "base/bytes.h"
#include "storage/db.h"

#define TALLY_EXAMPLES 1000   /* kept of each reason */
#define TALLY_HOSTS    100000 /* counted apart, of each reason */
#define TALLY_URL_MOST 2048   /* octets kept of an example */

struct tally;

MUST_CHECK enum status tally_open(struct tally **out, struct db *d);
void tally_close(struct tally *t); /* NULL is fine */

uint64_t tally_counter(const struct tally *t, const char *name);
void tally_add(struct tally *t, const char *name, uint64_t by);
void tally_each_counter(const struct tally *t,
                        void (*visit)(void *ctx, const char *name,
                                      uint64_t value),
                        void *ctx);

void tally_skip(struct tally *t, const char *reason, struct bytes host,
                struct bytes url, uint64_t via, int64_t at_ms);

MUST_CHECK enum status tally_flush(struct tally *t);
uint64_t tally_memory(const struct tally *t);

#endif
