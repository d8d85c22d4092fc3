/*
 * page_store_impl.h - the page store's own struct, for its files alone.
 *
 *   page_store.c     the row of each fetch
 *   page_indexes.c   which fetches had the same body, nearly the same text, or
 *                    were the last whole one of their URL
 */
#ifndef URLWEIR_STORAGE_ROWS_PAGE_STORE_IMPL_H
#define URLWEIR_STORAGE_ROWS_PAGE_STORE_IMPL_H

#include "storage/db/db_row.h"
#include "storage/index/fetch_index.h"
#include "storage/index/whole_index.h"
#include "storage/rows/page_store.h"
#include "storage/rows/side_tables.h"

struct page_store {
    struct db *d;
    uint64_t last_seq;
    uint64_t thinned; /* rows up to this one may have been removed */
    struct string_table *words;
    struct fetch_index *bodies; /* NULL: repeats are not looked for */
    struct fetch_index *near;   /* NULL: near duplicates are not */
    struct whole_index *last;   /* NULL: the last whole fetches are not */
};

static inline bool page_has_body(struct digest d)
{
    return d.hi != 0 || d.lo != 0;
}

#endif
