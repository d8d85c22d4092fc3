/*
 * page_cache.h - the exact set's own cache of its pages, before SQLite's.
 *
 * A hit costs one cache line instead of the ~4 us of a b-tree walk; without it
 * the reads of duplicates are what makes the cost of a link grow (measured:
 * docs/formats/frontier-db.md). Sets of eight ways; a hit promotes by
 * one place, what is new enters at the sixth, so one pass over many pages
 * leaves the popular ones alone. Memory is touched only as pages come in.
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

/* The page, until the next put; NULL: not here. */
const unsigned char *page_cache_get(struct page_cache *c, uint32_t id);
/* As get, but leaves no trace. */
const unsigned char *page_cache_peek(const struct page_cache *c, uint32_t id);
/* The next call about this page will find its set in the processor's cache. */
void page_cache_prefetch(const struct page_cache *c, uint32_t id);
/* Room for the page, in the place of one seldom asked. */
unsigned char *page_cache_put(struct page_cache *c, uint32_t id);
/* Room for the page if it is here already or its set has a free way; NULL. */
unsigned char *page_cache_put_cheap(struct page_cache *c, uint32_t id);

uint64_t page_cache_memory(const struct page_cache *c);

#endif
