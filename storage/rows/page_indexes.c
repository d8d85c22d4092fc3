/* SPDX-License-Identifier: MIT */
/*
 * page_indexes.c - finds fetches by what they brought.
 *
 * Each index is opened when it is asked for. It names rows by their numbers,
 * and may name one that history.c has removed; so it asks which are there.
 */

#include "base/logger.h"
#include "storage/db/db_row.h"
#include "storage/rows/page_store.h"
#include "storage/rows/page_store_impl.h"

#define VERIFY_MEMORY (UINT64_C(4) << 20)

/* Only a row that may have been removed is looked for. An error leaves it
 * there: the next statement meets it too. */
static bool has_row(void *ctx, uint64_t seq)
{
    struct page_store *s = ctx;
    bool has = true;

    if (seq <= s->thinned) {
        sqlite3_stmt *q =
            db_statement(s->d, "SELECT 1 FROM fetch WHERE seq = ?");

        sqlite3_bind_int64(q, 1, (int64_t)seq);
        has = db_step(s->d, q) != STATUS_NOT_FOUND;
        sqlite3_reset(q);
    }
    return has;
}

/* Adds the rows past those in the index's pages. A repeat of a body names the
 * first row with it. */
static enum status replay(struct page_store *s, struct fetch_index *x,
                          enum fetch_index_kind kind)
{
    sqlite3_stmt *q = db_statement(
        s->d, kind == FETCH_BODIES
                  ? "SELECT seq, digest FROM fetch WHERE seq > ?"
                    " AND digest IS NOT NULL AND same IS NULL ORDER BY seq"
                  : "SELECT seq, text_print FROM fetch WHERE seq > ?"
                    " AND text_print IS NOT NULL ORDER BY seq");
    enum status st = STATUS_OK;

    sqlite3_bind_int64(q, 1, (int64_t)fetch_index_upto(x));
    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        uint64_t seq = db_row_count(&r, 0, DB_ID_MOST);

        st = db_row_check(&r, "fetch");
        if (st == STATUS_OK && kind == FETCH_BODIES)
            st = body_index_replay(x, fetch_digest(q, 1), seq, s->thinned > 0);
        else if (st == STATUS_OK)
            st = near_index_add(x, (uint64_t)sqlite3_column_int64(q, 1), seq);
    }
    return db_end(q, st);
}

static enum status open_index(struct page_store *s, struct fetch_index **out,
                              enum fetch_index_kind kind, uint64_t memory)
{
    const struct exact_set_rows rows = {has_row, s};
    struct fetch_index *x = NULL;
    enum status st = fetch_index_open(&x, s->d, kind, memory, &rows);

    if (st == STATUS_OK)
        st = fetch_index_check_upto(x, s->last_seq);
    if (st == STATUS_OK)
        st = replay(s, x, kind);
    if (st == STATUS_OK)
        *out = x;
    else
        fetch_index_close(x);
    return st;
}

enum status page_store_watch_bodies(struct page_store *s, uint64_t memory)
{
    return open_index(s, &s->bodies, FETCH_BODIES, memory);
}

enum status page_store_watch_near(struct page_store *s, uint64_t memory)
{
    return open_index(s, &s->near, FETCH_TEXTS, memory);
}

enum status page_store_watch_last(struct page_store *s, uint64_t memory)
{
    return whole_index_open(&s->last, s->d, memory);
}

/* The index is in the same transactions as the rows. */
static enum status wrong_row(uint64_t url, uint64_t seq)
{
    log_error("the index of whole fetches names a row of another URL",
              "id=%llu seq=%llu", (unsigned long long)url,
              (unsigned long long)seq);
    return STATUS_DAMAGED;
}

enum status page_store_last(struct page_store *s, uint64_t url,
                            void (*visit)(void *ctx,
                                          const struct fetch_row *row),
                            void *ctx)
{
    sqlite3_stmt *q;
    struct fetch_row row;
    uint64_t seq = 0;
    enum status st = s->last != NULL ? whole_index_find(s->last, url, &seq)
                                     : STATUS_NOT_FOUND;

    if (st != STATUS_OK || seq == 0)
        return st == STATUS_OK ? STATUS_NOT_FOUND : st;
    q = db_statement(s->d,
                     "SELECT " FETCH_COLUMNS(FETCH_WORD) " FROM fetch f"
                                                         " WHERE f.seq = ?");
    sqlite3_bind_int64(q, 1, (int64_t)seq);
    st = db_step(s->d, q);
    if (st == STATUS_OK)
        st = fetch_row_take(NULL, q, &row);
    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && row.url != url))
        st = wrong_row(url, seq);
    if (st == STATUS_OK)
        visit(ctx, &row);
    sqlite3_reset(q);
    return st;
}

enum status page_store_step(struct page_store *s)
{
    enum status st =
        s->bodies != NULL ? fetch_index_step(s->bodies) : STATUS_OK;

    if (st == STATUS_OK && s->near != NULL)
        st = fetch_index_step(s->near);
    return st == STATUS_OK && s->last != NULL ? whole_index_step(s->last) : st;
}

uint64_t page_store_memory(const struct page_store *s)
{
    return (s->bodies != NULL ? fetch_index_memory(s->bodies) : 0) +
           (s->near != NULL ? fetch_index_memory(s->near) : 0) +
           (s->last != NULL ? whole_index_memory(s->last) : 0);
}

static enum status read_first(struct page_store *s, struct first_body *first)
{
    sqlite3_stmt *q = db_statement(s->d, "SELECT url, at, status, reason,"
                                         " warc IS NOT NULL AND reason <> 41"
                                         " FROM fetch WHERE seq = ?");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)first->seq);
    st = db_step(s->d, q);
    if (st == STATUS_OK) {
        struct db_row r = db_row(q);

        first->url = db_row_count(&r, 0, DB_ID_MOST);
        first->at_ms = db_row_time(&r, 1);
        first->status = (uint8_t)db_row_count(&r, 2, UINT8_MAX);
        first->reason = (uint8_t)db_row_count(&r, 3, UINT8_MAX);
        first->recorded = db_row_flag(&r, 4);
        st = db_row_check(&r, "fetch");
    } else if (st == STATUS_NOT_FOUND) {
        log_error("an index of pages names no row", "seq=%llu",
                  (unsigned long long)first->seq);
        st = STATUS_DAMAGED;
    }
    sqlite3_reset(q);
    return st;
}

enum status page_store_brief(struct page_store *s, uint64_t seq,
                             struct first_body *out)
{
    *out = (struct first_body){.seq = seq};
    return read_first(s, out);
}

uint64_t page_store_url_of(struct page_store *s, uint64_t seq)
{
    struct first_body row = {.seq = seq};

    return read_first(s, &row) == STATUS_OK ? row.url : 0;
}

enum status page_store_first_with_body(struct page_store *s,
                                       struct digest body_digest,
                                       struct first_body *first)
{
    enum status st = STATUS_OK;

    *first = (struct first_body){.seq = 0};
    if (s->bodies != NULL && page_has_body(body_digest))
        st = body_index_find(s->bodies, body_digest, &first->seq);
    if (st == STATUS_OK && first->seq != 0)
        st = read_first(s, first);
    return st;
}

enum status page_store_first_near(struct page_store *s, uint64_t simhash,
                                  struct first_body *first)
{
    enum status st = STATUS_OK;

    *first = (struct first_body){.seq = 0};
    if (s->near != NULL && simhash != 0)
        st = near_index_find(s->near, simhash, &first->seq);
    if (st == STATUS_OK && first->seq != 0)
        st = read_first(s, first);
    return st;
}

/* ---- verify ---- */

/* What a row names, against what the index finds. A row with the body of an
 * earlier one names that by `same` alone. Once rows have been removed, a row
 * that outlives its URL's history names no text (history.h), and where the
 * first row with a fingerprint is gone, opening may have found a later one. */
static bool agrees(enum fetch_index_kind kind, uint64_t seq, uint64_t named,
                   bool same, uint64_t found, uint64_t thinned)
{
    if (kind == FETCH_BODIES || (!same && thinned == 0))
        return found == (named != 0 ? named : seq);
    if (same)
        return found <= seq && (found != 0 || seq <= thinned);
    return found <= seq && (found != 0 || (named == 0 && seq <= thinned));
}

static enum status check_row(struct page_store *s, struct fetch_index *x,
                             enum fetch_index_kind kind, sqlite3_stmt *q)
{
    struct db_row r = db_row(q);
    uint64_t seq = db_row_count(&r, 0, DB_ID_MOST), found = 0;
    uint64_t named = db_row_count(&r, 2, DB_ID_MOST);
    bool same = sqlite3_column_type(q, 3) != SQLITE_NULL;
    enum status st = db_row_check(&r, "fetch");

    if (st == STATUS_OK)
        st = kind == FETCH_BODIES
                 ? body_index_find(x, fetch_digest(q, 1), &found)
                 : near_index_find(x, (uint64_t)sqlite3_column_int64(q, 1),
                                   &found);
    if (st != STATUS_OK || agrees(kind, seq, named, same, found, s->thinned))
        return st;
    log_error("an index of pages does not agree with a row",
              "of=%s seq=%llu names=%llu indexed=%llu",
              kind == FETCH_BODIES ? "bodies" : "texts",
              (unsigned long long)seq, (unsigned long long)named,
              (unsigned long long)found);
    return STATUS_DAMAGED;
}

/* Checks the index, and that each row is in it or names the row that is. */
static enum status verify_index(struct page_store *s,
                                enum fetch_index_kind kind, uint64_t *count)
{
    sqlite3_stmt *q =
        db_statement(s->d, kind == FETCH_BODIES
                               ? "SELECT seq, digest, same, same FROM fetch"
                                 " WHERE digest IS NOT NULL"
                               : "SELECT seq, text_print, near, same FROM fetch"
                                 " WHERE text_print IS NOT NULL");
    struct fetch_index *x = NULL;
    enum status st = open_index(s, &x, kind, VERIFY_MEMORY);

    if (st == STATUS_OK)
        st = fetch_index_verify(x, s->last_seq);
    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK)
        st = check_row(s, x, kind, q);
    st = db_end(q, st);
    if (st == STATUS_OK)
        *count = fetch_index_count(x);
    fetch_index_close(x);
    return st;
}

enum status page_store_verify_bodies(struct page_store *s, uint64_t *count)
{
    return verify_index(s, FETCH_BODIES, count);
}

enum status page_store_verify_near(struct page_store *s, uint64_t *count)
{
    return verify_index(s, FETCH_TEXTS, count);
}

/* Each row names a final fetch of its URL that was not whole. */
static enum status verify_newest(struct page_store *s)
{
    int64_t wrong = 0;
    enum status st = db_number(
        s->d,
        "SELECT n.url FROM newest n LEFT JOIN fetch f ON f.seq = n.seq"
        " WHERE f.url IS NOT n.url OR ifnull(f.final, 0) = 0 OR f.status = 1"
        " AND ifnull(f.reason, 0) IN (0, 41) LIMIT 1",
        &wrong);

    if (st == STATUS_OK)
        return db_damaged("newest", wrong, "has another fetch");
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status page_store_verify_last(struct page_store *s, uint64_t last_id)
{
    struct whole_index *x = NULL;
    enum status st = whole_index_open(&x, s->d, 0);

    if (st == STATUS_OK)
        st = whole_index_verify(x, last_id);
    whole_index_close(x);
    return st == STATUS_OK ? verify_newest(s) : st;
}
