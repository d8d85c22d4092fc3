/* SPDX-License-Identifier: MIT */
/* early_store.c - URLs that go before their turn, by queue and class. */
#include "storage/rows/early_store.h"

#include <stdlib.h>

#include "base/mem.h"
#include "storage/db/db_row.h"

struct early_store {
    struct db *d;
    sqlite3_stmt *get, *put, *drop, *each;
};

#define ALL_CLASSES "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"

enum status early_store_open(struct early_store **out, struct db *d)
{
    struct early_store *s = xcalloc(1, sizeof *s);
    enum status st;

    s->d = d;
    st = db_prepare(d, &s->get,
                    "SELECT class, links FROM early WHERE queue = ?"
                    " AND class IN (" ALL_CLASSES ") AND url = ?");
    if (st == STATUS_OK)
        st = db_prepare(d, &s->put,
                        "INSERT OR REPLACE INTO early VALUES(?, ?, ?, ?)");
    if (st == STATUS_OK)
        st = db_prepare(d, &s->drop,
                        "DELETE FROM early WHERE queue = ? AND class = ?"
                        " AND url = ?");
    if (st == STATUS_OK)
        st = db_prepare(d, &s->each,
                        "SELECT url FROM early WHERE queue = ? AND class = ?"
                        " ORDER BY url");
    if (st != STATUS_OK) {
        early_store_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void early_store_close(struct early_store *s)
{
    if (s == NULL)
        return;
    sqlite3_finalize(s->get);
    sqlite3_finalize(s->put);
    sqlite3_finalize(s->drop);
    sqlite3_finalize(s->each);
    free(s);
}

enum status early_store_get(struct early_store *s, uint32_t queue, uint64_t url,
                            uint8_t *class_, uint32_t *links)
{
    enum status st;

    sqlite3_bind_int64(s->get, 1, queue);
    sqlite3_bind_int64(s->get, 2, (int64_t)url);
    st = db_step(s->d, s->get);
    if (st == STATUS_OK) {
        struct db_row r = db_row(s->get);

        *class_ = (uint8_t)db_row_count(&r, 0, EARLY_CLASS_MOST);
        *links = (uint32_t)db_row_count(&r, 1, UINT32_MAX);
        st = db_row_check(&r, "early");
    }
    sqlite3_reset(s->get);
    return st;
}

static enum status drop(struct early_store *s, uint32_t queue, uint64_t url,
                        uint8_t class_)
{
    sqlite3_bind_int64(s->drop, 1, queue);
    sqlite3_bind_int(s->drop, 2, class_);
    sqlite3_bind_int64(s->drop, 3, (int64_t)url);
    return db_run(s->d, s->drop);
}

enum status early_store_put(struct early_store *s, uint32_t queue, uint64_t url,
                            uint8_t was, uint8_t class_, uint32_t links)
{
    enum status st = STATUS_OK;

    if (was != EARLY_NONE && was != class_)
        st = drop(s, queue, url, was);
    if (st != STATUS_OK)
        return st;
    sqlite3_bind_int64(s->put, 1, queue);
    sqlite3_bind_int(s->put, 2, class_);
    sqlite3_bind_int64(s->put, 3, (int64_t)url);
    sqlite3_bind_int64(s->put, 4, links);
    return db_run(s->d, s->put);
}

enum status early_store_each(struct early_store *s, uint32_t queue,
                             uint8_t class_,
                             bool (*visit)(void *ctx, uint64_t url), void *ctx)
{
    enum status st;
    bool more = true;

    sqlite3_bind_int64(s->each, 1, queue);
    sqlite3_bind_int(s->each, 2, class_);
    while (more && (st = db_step(s->d, s->each)) == STATUS_OK) {
        struct db_row r = db_row(s->each);
        uint64_t url = db_row_count(&r, 0, DB_ID_MOST);

        st = db_row_check(&r, "early");
        if (st != STATUS_OK)
            break;
        more = visit(ctx, url);
    }
    sqlite3_reset(s->each);
    return more && st != STATUS_NOT_FOUND ? st : STATUS_OK;
}

enum status early_store_each_queue(struct early_store *s,
                                   void (*visit)(void *ctx, uint32_t queue,
                                                 uint8_t class_),
                                   void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q,
                                "SELECT DISTINCT queue, class FROM early"
                                " WHERE class > 0");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        uint32_t queue = (uint32_t)db_row_count(&r, 0, UINT32_MAX);
        uint8_t class_ = (uint8_t)db_row_count(&r, 1, EARLY_CLASS_MOST);

        st = db_row_check(&r, "early");
        if (st == STATUS_OK)
            visit(ctx, queue, class_);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}
