/*
 * page_cache.h - the exact set's own cache of its pages, before the system's.
 *
 * A hit costs one cache line instead of the 2 us of a system call and a
 * checksum; without it, reads for duplicates make the cost of a link grow
 * (docs/performance.md). It has sets of eight ways. A hit promotes a
 * page by one rank, and a new page enters at the sixth, so one pass over many
 * pages does not evict the popular ones. Memory is touched only as pages come
 * in.
 */
#ifndef URLWEIR_STORAGE_INDEX_PAGE_CACHE_H
#define URLWEIR_STORAGE_INDEX_PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define PAGE_CACHE_PAGE 4096

struct page_cache;

/* STATUS_NOMEM. At least 64 pages. */
MUST_CHECK enum status page_cache_new(struct page_cache **out, uint64_t bytes);
void page_cache_free(struct page_cache *c); /* NULL is fine */

/* The page, valid until the next put; NULL: not cached. */
const unsigned char *page_cache_get(struct page_cache *c, uint32_t id);
/* As get, but without promoting the page. */
const unsigned char *page_cache_peek(const struct page_cache *c, uint32_t id);
/* Prefetches the set for the next call about this page. */
void page_cache_prefetch(const struct page_cache *c, uint32_t id);
/* Room for the page, in place of a seldom used one. */
unsigned char *page_cache_put(struct page_cache *c, uint32_t id);
/* Room for the page if it is cached already or its set has a free way, else
 * NULL. */
unsigned char *page_cache_put_cheap(struct page_cache *c, uint32_t id);

uint64_t page_cache_memory(const struct page_cache *c);

#endif
