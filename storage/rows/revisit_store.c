/* SPDX-License-Identifier: MIT */
/* revisit_store.c - what the record of a fetch refers to. */
#include "storage/rows/revisit_store.h"

#include <stdlib.h>

#include "base/mem.h"
#include "storage/db/db_row.h"

struct revisit_store {
    struct db *d;
    sqlite3_stmt *set, *get;
};

enum status revisit_store_open(struct revisit_store **out, struct db *d)
{
    struct revisit_store *s = xcalloc(1, sizeof *s);
    enum status st =
        db_prepare(d, &s->set, "INSERT INTO revisit VALUES(?, ?, ?)");

    s->d = d;
    if (st == STATUS_OK)
        st = db_prepare(d, &s->get,
                        "SELECT fetch, at, url FROM revisit WHERE fetch = ?");
    if (st == STATUS_OK)
        *out = s;
    else
        revisit_store_close(s);
    return st;
}

void revisit_store_close(struct revisit_store *s)
{
    if (s == NULL)
        return;
    sqlite3_finalize(s->set);
    sqlite3_finalize(s->get);
    free(s);
}

enum status revisit_store_set(struct revisit_store *s, uint64_t seq,
                              const struct record_name *to)
{
    sqlite3_bind_int64(s->set, 1, (int64_t)seq);
    sqlite3_bind_int64(s->set, 2, to->at_ms);
    db_bind_text(s->set, 3, to->url);
    return db_run(s->d, s->set);
}

enum status revisit_store_get(struct revisit_store *s, uint64_t seq,
                              struct record_name *to, struct buf *text)
{
    enum status st;

    buf_clear(text);
    sqlite3_bind_int64(s->get, 1, (int64_t)seq);
    st = db_step(s->d, s->get);
    if (st == STATUS_OK) {
        struct db_row r = db_row(s->get);

        (void)db_row_count(&r, 0, DB_ID_MOST);
        to->at_ms = db_row_time(&r, 1);
        buf_add_bytes(text, db_column(s->get, 2));
        to->url = buf_bytes(text);
        st = db_row_check(&r, "revisit");
    }
    if (st == STATUS_OK)
        st = buf_failed(text);
    sqlite3_reset(s->get);
    return st;
}
