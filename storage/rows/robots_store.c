/* SPDX-License-Identifier: MIT */
/* robots_store.c - the robots.txt files in force. */
#include "storage/rows/robots_store.h"

#include <stdlib.h>

#include "base/mem.h"
#include "storage/db/db_row.h"

#define BODY_MOST (500 << 10)

struct robots_store {
    struct db *d;
    sqlite3_stmt *set, *get;
};

enum status robots_store_open(struct robots_store **out, struct db *d)
{
    struct robots_store *s = xcalloc(1, sizeof *s);
    enum status st = db_prepare(d, &s->set,
                                "INSERT OR REPLACE INTO robots"
                                " VALUES(?, ?, ?, ?, ?, ?)");

    s->d = d;
    if (st == STATUS_OK)
        st = db_prepare(d, &s->get,
                        "SELECT fetched_at, expires_at, unreachable_since,"
                        " http, body, origin FROM robots WHERE origin = ?");
    if (st == STATUS_OK)
        *out = s;
    else
        robots_store_close(s);
    return st;
}

void robots_store_close(struct robots_store *s)
{
    if (s == NULL)
        return;
    sqlite3_finalize(s->set);
    sqlite3_finalize(s->get);
    free(s);
}

enum status robots_store_set(struct robots_store *s,
                             const struct robots_row *row)
{
    if (row->body.len > BODY_MOST)
        return STATUS_LIMIT;
    db_bind_text(s->set, 1, row->origin);
    sqlite3_bind_int64(s->set, 2, row->fetched_at_ms);
    sqlite3_bind_int64(s->set, 3, row->expires_at_ms);
    db_bind_number(s->set, 4, (uint64_t)row->unreachable_since_ms);
    db_bind_number(s->set, 5, row->http_status);
    db_bind_blob(s->set, 6, row->body);
    return db_run(s->d, s->set);
}

static enum status take_robots(sqlite3_stmt *q, struct robots_row *row,
                               struct buf *text)
{
    struct bytes body = db_column(q, 4), origin = db_column(q, 5);
    struct db_row r = db_row(q);
    enum status st;

    buf_clear(text);
    buf_add_bytes(text, origin);
    buf_add_bytes(text, body);
    st = buf_failed(text);
    if (st != STATUS_OK)
        return st;
    *row = (struct robots_row){
        .origin = bytes_of(buf_str(text), origin.len),
        .fetched_at_ms = db_row_time(&r, 0),
        .expires_at_ms = db_row_time(&r, 1),
        .unreachable_since_ms = db_row_time(&r, 2),
        .http_status = (uint16_t)db_row_count(&r, 3, UINT16_MAX),
        .body = bytes_of(buf_str(text) + origin.len, body.len),
    };
    return db_row_check(&r, "robots");
}

enum status robots_store_get(struct robots_store *s, struct bytes origin,
                             struct robots_row *row, struct buf *text)
{
    enum status st;

    db_bind_text(s->get, 1, origin);
    st = db_step(s->d, s->get);
    if (st == STATUS_OK)
        st = take_robots(s->get, row, text);
    sqlite3_reset(s->get);
    sqlite3_clear_bindings(s->get);
    return st;
}
