/* SPDX-License-Identifier: MIT */
/*
 * refresh_store.c - the calendar: when each done URL is to be fetched again.
 *
 * The key is (queue, due, url), without a rowid. A table that grows with the
 * crawl has else a key that only rises (schema.c), since a random key costs a
 * page of log and a page of the file. Here that is one page for each page
 * fetched, not for each link found, and less where it would hurt most: with a
 * fixed interval a large host takes its rows from one end of its range and puts
 * them back at the other. A log of dates by time alone would save that page,
 * but needs a second structure by host when many dates are due at once, as
 * after a pause, and a replay after a crash.
 */
#include "storage/rows/refresh_store.h"

#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"
#include "storage/db/db_row.h"

#define COLUMNS "queue, due, url, seq, at, tries, absent, checks, links"

struct refresh_store {
    struct db *d;
    sqlite3_stmt *put, *drop, *each, *next;
};

enum status refresh_store_open(struct refresh_store **out, struct db *d)
{
    struct refresh_store *s = xcalloc(1, sizeof *s);
    enum status st;

    s->d = d;
    st = db_prepare(d, &s->put,
                    "INSERT INTO refresh(" COLUMNS ")"
                    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (st == STATUS_OK)
        st = db_prepare(d, &s->drop,
                        "DELETE FROM refresh WHERE queue = ? AND due = ?"
                        " AND url = ?");
    if (st == STATUS_OK)
        st = db_prepare(d, &s->each,
                        "SELECT " COLUMNS " FROM refresh"
                        " WHERE (queue, due, url) > (?, ?, ?)"
                        " ORDER BY queue, due, url");
    if (st == STATUS_OK)
        st = db_prepare(d, &s->next,
                        "SELECT " COLUMNS " FROM refresh WHERE queue > ?"
                        " ORDER BY queue, due, url LIMIT 1");
    if (st != STATUS_OK) {
        refresh_store_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void refresh_store_close(struct refresh_store *s)
{
    if (s == NULL)
        return;
    sqlite3_finalize(s->put);
    sqlite3_finalize(s->drop);
    sqlite3_finalize(s->each);
    sqlite3_finalize(s->next);
    free(s);
}

static void bind_key(sqlite3_stmt *q, const struct refresh_row *row)
{
    sqlite3_bind_int64(q, 1, row->queue);
    sqlite3_bind_int64(q, 2, row->due_ms);
    sqlite3_bind_int64(q, 3, (int64_t)row->url);
}

enum status refresh_store_put(struct refresh_store *s,
                              const struct refresh_row *row)
{
    bind_key(s->put, row);
    sqlite3_bind_int64(s->put, 4, (int64_t)row->seq);
    sqlite3_bind_int64(s->put, 5, row->at_ms);
    sqlite3_bind_int64(s->put, 6, row->tries);
    sqlite3_bind_int64(s->put, 7, row->absent);
    sqlite3_bind_int64(s->put, 8, (int64_t)row->known);
    sqlite3_bind_int64(s->put, 9, (int64_t)row->links);
    return db_run(s->d, s->put);
}

enum status refresh_store_drop(struct refresh_store *s,
                               const struct refresh_row *row)
{
    enum status st;

    bind_key(s->drop, row);
    st = db_run(s->d, s->drop);
    if (st == STATUS_OK && sqlite3_changes(db_handle(s->d)) != 1)
        st = db_damaged("refresh", (int64_t)row->url, "has another date");
    return st;
}

static enum status take(sqlite3_stmt *q, struct refresh_row *out)
{
    struct db_row r = db_row(q);

    *out = (struct refresh_row){
        .queue = (uint32_t)db_row_count(&r, 0, UINT32_MAX),
        .due_ms = db_row_time(&r, 1),
        .url = db_row_count(&r, 2, DB_ID_MOST),
        .seq = db_row_count(&r, 3, DB_ID_MOST),
        .at_ms = db_row_time(&r, 4),
        .tries = (uint32_t)db_row_count(&r, 5, UINT32_MAX),
        .absent = (uint32_t)db_row_count(&r, 6, UINT32_MAX),
        .known = db_row_count(&r, 7, INT64_MAX),
        .links = db_row_count(&r, 8, INT64_MAX),
    };
    return db_row_check(&r, "refresh");
}

enum status refresh_store_each(
    struct refresh_store *s, const struct refresh_row *after,
    bool (*visit)(void *ctx, const struct refresh_row *row), void *ctx)
{
    struct refresh_row row, from = *after;
    bool more = true;
    enum status st;

    if (from.url == 0 && from.due_ms == 0)
        from.due_ms = INT64_MIN;
    bind_key(s->each, &from);
    while (more && (st = db_step(s->d, s->each)) == STATUS_OK) {
        st = take(s->each, &row);
        if (st != STATUS_OK)
            break;
        more = visit(ctx, &row);
    }
    sqlite3_reset(s->each);
    return more && st != STATUS_NOT_FOUND ? st : STATUS_OK;
}

enum status refresh_store_each_queue(
    struct refresh_store *s,
    void (*visit)(void *ctx, const struct refresh_row *first), void *ctx)
{
    struct refresh_row row = {.queue = 0};
    enum status st = STATUS_OK;

    while (st == STATUS_OK) {
        sqlite3_bind_int64(s->next, 1, row.queue);
        st = db_step(s->d, s->next);
        if (st == STATUS_OK)
            st = take(s->next, &row);
        sqlite3_reset(s->next);
        if (st == STATUS_OK)
            visit(ctx, &row);
    }
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}
