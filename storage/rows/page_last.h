/*
 * page_last.h - the last whole fetch of a URL.
 *
 * For page_store.h alone: its index of whole fetches (whole_index.h), and the
 * row that it names.
 */
#ifndef URLWEIR_STORAGE_ROWS_PAGE_LAST_H
#define URLWEIR_STORAGE_ROWS_PAGE_LAST_H

#include "storage/rows/page_store.h"

struct page_last;

/* `memory`: see whole_index_open. */
MUST_CHECK enum status page_last_open(struct page_last **out, struct db *d,
                                      uint64_t memory);
void page_last_close(struct page_last *l); /* NULL is fine */

/* A row was added. */
void page_last_add(struct page_last *l, const struct fetch_row *row,
                   uint64_t seq);
/* *seq is 0 if there is none. */
MUST_CHECK enum status page_last_find(struct page_last *l, uint64_t url,
                                      uint64_t *seq);
/* See page_store_last. */
MUST_CHECK enum status page_last_read(
    struct page_last *l, uint64_t url,
    void (*visit)(void *ctx, const struct fetch_row *row), void *ctx);
MUST_CHECK enum status page_last_step(struct page_last *l);
MUST_CHECK enum status page_last_verify(struct page_last *l, uint64_t last_id);
uint64_t page_last_memory(const struct page_last *l);

#endif
