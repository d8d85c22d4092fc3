/* SPDX-License-Identifier: MIT */
/* page_body.c - pages whose body an earlier one had. */
#include "storage/rows/page_body.h"

#include "base/logger.h"
#include "storage/db/db_row.h"
#include "storage/index/body_index.h"
#include "storage/rows/fetch_columns.h"

/* Adds rows past those in the index's pages; a repeat names the first row. */
static enum status replay(struct body_index *x, struct db *d, bool removed)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(d, &q,
                                "SELECT seq, digest FROM fetch WHERE seq > ?"
                                " AND digest IS NOT NULL AND same IS NULL"
                                " ORDER BY seq");

    if (st == STATUS_OK)
        sqlite3_bind_int64(q, 1, (int64_t)body_index_upto(x));
    while (st == STATUS_OK && (st = db_step(d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        uint64_t seq = db_row_count(&r, 0, DB_ID_MOST);

        st = db_row_check(&r, "fetch");
        if (st == STATUS_OK)
            st = body_index_replay(x, fetch_digest(q, 1), seq, removed);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status page_body_open(struct body_index **out, struct db *d,
                           uint64_t memory, uint64_t last_seq,
                           const struct exact_set_rows *rows, bool removed)
{
    struct body_index *x = NULL;
    enum status st = body_index_open(&x, d, memory, rows);

    if (st == STATUS_OK)
        st = body_index_check_upto(x, last_seq);
    if (st == STATUS_OK)
        st = replay(x, d, removed);
    if (st != STATUS_OK) {
        body_index_close(x);
        return st;
    }
    *out = x;
    return STATUS_OK;
}

/* Checks that the index has each row with a body, or the row it names. */
static enum status check_rows(struct body_index *x, struct db *d)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(d, &q,
                                "SELECT seq, digest, same FROM fetch"
                                " WHERE digest IS NOT NULL");

    while (st == STATUS_OK && (st = db_step(d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        uint64_t seq = db_row_count(&r, 0, DB_ID_MOST), found = 0;
        uint64_t same = db_row_count(&r, 2, DB_ID_MOST);

        st = db_row_check(&r, "fetch");
        if (st == STATUS_OK)
            st = body_index_find(x, fetch_digest(q, 1), &found);
        if (st == STATUS_OK && found != (same != 0 ? same : seq)) {
            log_error("the index of bodies does not agree with a row",
                      "seq=%llu first=%llu indexed=%llu",
                      (unsigned long long)seq, (unsigned long long)same,
                      (unsigned long long)found);
            st = STATUS_DAMAGED;
        }
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status page_body_verify(struct body_index *x, struct db *d)
{
    enum status st = body_index_verify(x);

    return st == STATUS_OK ? check_rows(x, d) : st;
}
