/*
 * key_store.h - keys a filter keeps for itself, by hash prefix.
 *
 * A part that is built anew needs its keys. In a crawl the exact set has them;
 * elsewhere (the shell, an audit's what-if) the filter keeps them here, 8
 * bytes and spare room each, and its struct filter_source reads them back.
 * A key added twice may stand twice until its part is next put in order.
 *
 * One thread at a time; a filter that is saved meanwhile locks around it.
 */
#ifndef URLWEIR_FILTER_KEY_STORE_H
#define URLWEIR_FILTER_KEY_STORE_H

#include "base/bytes.h"
#include "filter/filter.h"

#define KEY_STORE_BITS  12 /* parts are the keys' top bits */
#define KEY_STORE_PARTS (1u << KEY_STORE_BITS)

static inline uint32_t key_store_part(uint64_t key)
{
    return (uint32_t)(key >> (64 - KEY_STORE_BITS));
}

struct key_store;

/* `whole`: every part is empty and complete; else incomplete until put. */
MUST_CHECK enum status key_store_new(struct key_store **out, bool whole);
void key_store_free(struct key_store *k); /* NULL is fine */

/* `fresh`: it is certainly not there yet. No memory: the key's part is
 * incomplete from now on, and not given. */
void key_store_add(struct key_store *k, uint64_t key, bool fresh);
bool key_store_has(struct key_store *k, uint64_t key);
/* Every occurrence of `key` goes; false: it was not there. */
bool key_store_remove(struct key_store *k, uint64_t key);
/* Reads this `k`; STATUS_NOT_FOUND where a part is incomplete. */
struct filter_source key_store_source(struct key_store *k);
/* Memory held, in bytes. */
uint64_t key_store_bytes(const struct key_store *k);

/* One part, distinct and sorted; borrowed until the next change. False: it is
 * incomplete, and there is nothing to see. */
bool key_store_get(struct key_store *k, uint32_t part, const uint64_t **keys,
                   size_t *n);
/* Fill part `part` from little-endian octets and make it complete.
 * STATUS_DAMAGED: they are not keys of this part. */
MUST_CHECK enum status key_store_put(struct key_store *k, uint32_t part,
                                     struct bytes octets);

#endif
