/* SPDX-License-Identifier: MIT */
/* page_near.c - pages whose text is nearly that of an earlier one. */
#include "storage/rows/page_near.h"

#include "base/logger.h"
#include "storage/db/db_row.h"
#include "storage/index/near_index.h"

static enum status replay(struct near_index *x, struct db *d)
{
    sqlite3_stmt *q = NULL;
    enum status st =
        db_prepare(d, &q,
                   "SELECT seq, text_print FROM fetch WHERE seq > ?"
                   " AND text_print IS NOT NULL ORDER BY seq");

    if (st == STATUS_OK)
        sqlite3_bind_int64(q, 1, (int64_t)near_index_upto(x));
    while (st == STATUS_OK && (st = db_step(d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        uint64_t seq = db_row_count(&r, 0, DB_ID_MOST);

        st = db_row_check(&r, "fetch");
        if (st == STATUS_OK)
            st = near_index_add(x, (uint64_t)sqlite3_column_int64(q, 1), seq);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status page_near_open(struct near_index **out, struct db *d,
                           uint64_t memory, uint64_t last_seq,
                           const struct exact_set_rows *rows)
{
    struct near_index *x = NULL;
    enum status st = near_index_open(&x, d, memory, rows);

    if (st == STATUS_OK)
        st = near_index_check_upto(x, last_seq);
    if (st == STATUS_OK)
        st = replay(x, d);
    if (st != STATUS_OK) {
        near_index_close(x);
        return st;
    }
    *out = x;
    return STATUS_OK;
}

/* What a row names, against what the index finds. A row with the body of an
 * earlier one names that by `same` alone. Once rows have been removed, a row
 * that outlives its URL's history names none (history.h), and where the first
 * row with a fingerprint is gone, opening may have found a later one. */
static bool agrees(uint64_t seq, uint64_t near, bool same, uint64_t found,
                   uint64_t thinned)
{
    if (same)
        return found <= seq && (found != 0 || seq <= thinned);
    if (thinned == 0)
        return found == (near != 0 ? near : seq);
    return found <= seq && (found != 0 || (near == 0 && seq <= thinned));
}

static enum status check_row(struct near_index *x, sqlite3_stmt *q,
                             uint64_t thinned)
{
    struct db_row r = db_row(q);
    uint64_t seq = db_row_count(&r, 0, DB_ID_MOST), found = 0;
    uint64_t near = db_row_count(&r, 2, DB_ID_MOST);
    bool same = sqlite3_column_type(q, 3) != SQLITE_NULL;
    enum status st = db_row_check(&r, "fetch");

    if (st == STATUS_OK)
        st = near_index_find(x, (uint64_t)sqlite3_column_int64(q, 1), &found);
    if (st != STATUS_OK)
        return st;
    if (agrees(seq, near, same, found, thinned))
        return STATUS_OK;
    log_error("the index of fingerprints does not agree with a row",
              "seq=%llu near=%llu indexed=%llu", (unsigned long long)seq,
              (unsigned long long)near, (unsigned long long)found);
    return STATUS_DAMAGED;
}

enum status page_near_verify(struct near_index *x, struct db *d,
                             uint64_t last_seq, uint64_t thinned)
{
    sqlite3_stmt *q = NULL;
    enum status st = near_index_verify(x, last_seq);

    if (st == STATUS_OK)
        st = db_prepare(d, &q,
                        "SELECT seq, text_print, near, same FROM fetch"
                        " WHERE text_print IS NOT NULL");
    while (st == STATUS_OK && (st = db_step(d, q)) == STATUS_OK)
        st = check_row(x, q, thinned);
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}
