/* SPDX-License-Identifier: MIT */
/* reindex.c - makes the exact set of a crawl anew from its rows. */
#include "frontier/seen/reindex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/seen/row_digest.h"
#include "storage/db/db.h"

#define STEP 10000 /* rows in one transaction */

struct reindex {
    struct db *db;
    struct exact_set *exact;
    struct frontier_store *store;
    struct digest_key key;
};

static void put_row(void *ctx, const struct url_row *row)
{
    struct reindex *r = ctx;

    row_to_exact_set(r->exact, row_digest(&r->key, r->store, row), row->id,
                     row_replaces(row));
}

static enum status open_parts(struct reindex *r, const char *dir,
                              uint64_t memory)
{
    struct db_options dbo = {.cache_bytes = memory / 7, .forget_derived = true};
    struct exact_set_options eo = {.block_cache_bytes = memory / 7};
    struct frontier_store_options so = {.memory_bytes = memory / 7 * 4};
    size_t size = strlen(dir) + sizeof "/frontier.db";
    char *path = xmalloc(size);
    enum status st;

    snprintf(path, size, "%s/frontier.db", dir);
    st = db_open(&r->db, path, DB_WRITE, &dbo);
    free(path);
    if (st == STATUS_OK)
        st = exact_set_open(&r->exact, r->db, &eo);
    if (st == STATUS_OK)
        st = frontier_store_open(&r->store, r->db, &so, 0, NULL, NULL);
    if (st == STATUS_OK)
        st = row_digest_read_key(&r->key, r->store, dir);
    return st;
}

static enum status put_rows(struct reindex *r, uint64_t first, uint64_t last)
{
    enum status st = db_begin(r->db);

    if (st == STATUS_OK)
        st = frontier_store_each(r->store, first, last, put_row, r);
    if (st == STATUS_OK)
        st = exact_set_step(r->exact, last - first + 1);
    return st == STATUS_OK ? db_commit(r->db) : st;
}

enum status reindex(const char *dir, uint64_t memory, uint64_t *urls)
{
    struct reindex r = {0};
    enum status st = open_parts(&r, dir, memory);
    uint64_t last = st == STATUS_OK ? frontier_store_last_id(r.store) : 0;

    for (uint64_t id = 1; st == STATUS_OK && id <= last; id += STEP)
        st = put_rows(&r, id, last - id < STEP ? last : id + STEP - 1);
    *urls = last;
    frontier_store_close(r.store);
    exact_set_close(r.exact);
    db_close(r.db);
    return st;
}
