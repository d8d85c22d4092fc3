/* SPDX-License-Identifier: MIT */
/* page_last.c - the last whole fetch of a URL. */
#include "storage/rows/page_last.h"

#include <stdlib.h>

#include "base/logger.h"
#include "base/mem.h"
#include "storage/index/whole_index.h"
#include "storage/rows/fetch_columns.h"

struct page_last {
    struct db *d;
    struct whole_index *index;
    sqlite3_stmt *read;
};

enum status page_last_open(struct page_last **out, struct db *d,
                           uint64_t memory)
{
    struct page_last *l = xcalloc(1, sizeof *l);
    enum status st;

    l->d = d;
    st = db_prepare(d, &l->read,
                    "SELECT " FETCH_COLUMNS(FETCH_WORD) " FROM fetch f"
                                                        " WHERE f.seq = ?");
    if (st == STATUS_OK)
        st = whole_index_open(&l->index, d, memory);
    if (st == STATUS_OK)
        *out = l;
    else
        page_last_close(l);
    return st;
}

void page_last_close(struct page_last *l)
{
    if (l == NULL)
        return;
    sqlite3_finalize(l->read);
    whole_index_close(l->index);
    free(l);
}

void page_last_add(struct page_last *l, const struct fetch_row *row,
                   uint64_t seq)
{
    if (whole_index_takes(row->final, row->status, row->reason))
        whole_index_set(l->index, row->url, seq);
}

/* The index is in the same transactions as the rows. */
static enum status wrong_row(uint64_t url, uint64_t seq)
{
    log_error("the index of whole fetches names a row of another URL",
              "id=%llu seq=%llu", (unsigned long long)url,
              (unsigned long long)seq);
    return STATUS_DAMAGED;
}

enum status page_last_find(struct page_last *l, uint64_t url, uint64_t *seq)
{
    return whole_index_find(l->index, url, seq);
}

enum status page_last_read(struct page_last *l, uint64_t url,
                           void (*visit)(void *ctx,
                                         const struct fetch_row *row),
                           void *ctx)
{
    struct fetch_row row;
    uint64_t seq = 0;
    enum status st = whole_index_find(l->index, url, &seq);

    if (st != STATUS_OK || seq == 0)
        return st == STATUS_OK ? STATUS_NOT_FOUND : st;
    sqlite3_bind_int64(l->read, 1, (int64_t)seq);
    st = db_step(l->d, l->read);
    if (st == STATUS_OK)
        st = fetch_row_take(NULL, l->read, &row);
    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && row.url != url))
        st = wrong_row(url, seq);
    if (st == STATUS_OK)
        visit(ctx, &row);
    sqlite3_reset(l->read);
    return st;
}

enum status page_last_step(struct page_last *l)
{
    return whole_index_step(l->index);
}

enum status page_last_verify(struct page_last *l, uint64_t last_id)
{
    return whole_index_verify(l->index, last_id);
}

uint64_t page_last_memory(const struct page_last *l)
{
    return whole_index_memory(l->index);
}
