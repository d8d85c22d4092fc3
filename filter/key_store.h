/*
 * key_store.h - a filter's own copy of its keys, by hash prefix.
 *
 * To rebuild one of its parts, a filter needs the keys of that part. In a crawl
 * the exact set has them; elsewhere (`urlweir filter`, an audit's what-if) the
 * filter keeps them here, 8 bytes and spare room each, and its struct
 * filter_source reads them back. A key added twice may be stored twice until
 * its part is next sorted.
 *
 * One thread at a time; a filter that may be saved meanwhile takes a lock
 * around each call.
 */
#ifndef URLWEIR_FILTER_KEY_STORE_H
#define URLWEIR_FILTER_KEY_STORE_H

#include "base/buf.h"
#include "base/bytes.h"
#include "filter/filter.h"

#define KEY_STORE_BITS  12 /* a key's top bits number its part */
#define KEY_STORE_PARTS (1u << KEY_STORE_BITS)

static inline uint32_t key_store_part(uint64_t key)
{
    return (uint32_t)(key >> (64 - KEY_STORE_BITS));
}

struct key_store;

/* `whole`: every part starts out empty and complete; otherwise each part is
 * incomplete until key_store_put() fills it. */
MUST_CHECK enum status key_store_new(struct key_store **out, bool whole);
void key_store_free(struct key_store *k); /* NULL is fine */

/* `fresh`: the key is certainly not there yet. If memory runs out, the key's
 * part is incomplete from now on, and can no longer be read. */
void key_store_add(struct key_store *k, uint64_t key, bool fresh);
bool key_store_has(struct key_store *k, uint64_t key);
/* Remove every occurrence of `key`; false: it was not there. */
bool key_store_remove(struct key_store *k, uint64_t key);
/* A source that reads this `k`; it returns STATUS_NOT_FOUND for an incomplete
 * part. */
struct filter_source key_store_source(struct key_store *k);
/* Memory held, in bytes. */
uint64_t key_store_bytes(const struct key_store *k);

/* The keys of one part, distinct and sorted; borrowed until the next change.
 * False: the part is incomplete, and nothing is given. */
bool key_store_get(struct key_store *k, uint32_t part, const uint64_t **keys,
                   size_t *n);
/* Append the keys of one part to `to`, as key_store_put() reads them.
 * *complete: 1, or 0 where the part is incomplete and nothing was appended. */
MUST_CHECK enum status key_store_save(struct key_store *k, uint32_t part,
                                      struct buf *to, uint64_t *complete);
/* Fill part `part` from little-endian octets and make it complete.
 * STATUS_DAMAGED: they are not keys of this part. */
MUST_CHECK enum status key_store_put(struct key_store *k, uint32_t part,
                                     struct bytes octets);

#endif
