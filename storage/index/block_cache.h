/*
 * block_cache.h - the exact set's own cache of its blocks, before the system's.
 *
 * A hit costs one cache line instead of the 2 us of a system call and a
 * checksum; without it, reads for duplicates make the cost of a link grow
 * (docs/performance.md). It has sets of eight ways. A hit promotes a
 * block by one rank, and a new block enters at the sixth, so one pass over many
 * blocks does not evict the popular ones. Memory is touched only as blocks come
 * in.
 */
#ifndef URLWEIR_STORAGE_INDEX_PAGE_CACHE_H
#define URLWEIR_STORAGE_INDEX_PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define BLOCK_CACHE_BLOCK 1024

struct block_cache;

/* STATUS_NOMEM. At least 64 blocks. */
MUST_CHECK enum status block_cache_new(struct block_cache **out,
                                       uint64_t bytes);
void block_cache_free(struct block_cache *c); /* NULL is fine */

/* The block, valid until the next put; NULL: not cached. */
const unsigned char *block_cache_get(struct block_cache *c, uint32_t id);
/* As get, but without promoting the block. */
const unsigned char *block_cache_peek(const struct block_cache *c, uint32_t id);
/* Prefetches the set for the next call about this block. */
void block_cache_prefetch(const struct block_cache *c, uint32_t id);
/* Room for the block, in place of a seldom used one. */
unsigned char *block_cache_put(struct block_cache *c, uint32_t id);
/* Room for the block if it is cached already or its set has a free way, else
 * NULL. */
unsigned char *block_cache_put_cheap(struct block_cache *c, uint32_t id);

uint64_t block_cache_memory(const struct block_cache *c);

#endif
