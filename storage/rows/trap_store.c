/* SPDX-License-Identifier: MIT */
/*
 * trap_store.c - families of URLs that bring nothing new (table trap).
 *
 * There are few rows: what a crawl holds of them in memory is bounded, and a
 * family is written only after some pages. So all are read at the start.
 */
#include "storage/rows/trap_store.h"

#include <stdlib.h>

#include "base/mem.h"
#include "storage/db/db_row.h"

struct trap_store {
    struct db *d;
    sqlite3_stmt *set, *remove;
};

enum status trap_store_open(struct trap_store **out, struct db *d)
{
    struct trap_store *s = xcalloc(1, sizeof *s);
    enum status st;

    s->d = d;
    st = db_prepare(d, &s->set,
                    "INSERT OR REPLACE INTO trap"
                    " VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    if (st == STATUS_OK)
        st = db_prepare(d, &s->remove, "DELETE FROM trap WHERE id = ?");
    if (st != STATUS_OK) {
        trap_store_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void trap_store_close(struct trap_store *s)
{
    if (s == NULL)
        return;
    sqlite3_finalize(s->set);
    sqlite3_finalize(s->remove);
    free(s);
}

enum status trap_store_set(struct trap_store *s, const struct trap_row *row)
{
    sqlite3_bind_int64(s->set, 1, (int64_t)row->id);
    sqlite3_bind_int(s->set, 2, row->rule);
    db_bind_text(s->set, 3, row->owner);
    db_bind_text(s->set, 4, row->form);
    sqlite3_bind_int64(s->set, 5, (int64_t)row->pages);
    sqlite3_bind_int64(s->set, 6, (int64_t)row->score);
    sqlite3_bind_int64(s->set, 7, (int64_t)row->body);
    db_bind_blob(s->set, 8, row->tags);
    return db_run(s->d, s->set);
}

enum status trap_store_remove(struct trap_store *s, uint64_t id)
{
    sqlite3_bind_int64(s->remove, 1, (int64_t)id);
    return db_run(s->d, s->remove);
}

static enum status take_row(sqlite3_stmt *q, struct trap_row *row)
{
    struct db_row r = db_row(q);

    *row = (struct trap_row){
        .id = db_row_count(&r, 0, DB_ID_MOST),
        .rule = (uint8_t)db_row_count(&r, 1, UINT8_MAX),
        .owner = db_column(q, 2),
        .form = db_column(q, 3),
        .pages = db_row_count(&r, 4, DB_ID_MOST),
        .score = db_row_count(&r, 5, TRAP_SCORE_MOST),
        .body = (uint64_t)db_row_number(&r, 6, INT64_MIN, INT64_MAX),
        .tags = db_column(q, 7),
    };
    if (row->owner.len > TRAP_TEXT_MOST || row->form.len > TRAP_TEXT_MOST ||
        row->tags.len > TRAP_TAGS_MOST * TRAP_TAG_SIZE ||
        row->tags.len % TRAP_TAG_SIZE != 0)
        return db_damaged("trap", (int64_t)row->id, "makes no sense");
    return db_row_check(&r, "trap");
}

enum status trap_store_each(struct trap_store *s,
                            void (*visit)(void *ctx,
                                          const struct trap_row *row),
                            void *ctx)
{
    sqlite3_stmt *q = NULL;
    struct trap_row row;
    enum status st = db_prepare(s->d, &q,
                                "SELECT id, rule, owner, form, pages, score,"
                                " body, tags FROM trap ORDER BY id");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        st = take_row(q, &row);
        if (st == STATUS_OK)
            visit(ctx, &row);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}
