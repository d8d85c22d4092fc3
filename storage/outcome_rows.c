/* SPDX-License-Identifier: MIT */
/*
 * outcome_rows.c - the outcome of each URL, for a reader beside the crawl.
 *
 * One statement reads the whole line: the in-memory tables that other modules
 * use (words, origins) would lack rows added since. URLs of other rows come
 * from subqueries, because SQLite materializes a whole view to the right of an
 * outer join.
 */
#include "storage/outcome_rows.h"

#include <stdlib.h>

#include "base/mem.h"
#include "storage/db/db.h"
#include "storage/db/db_row.h"
#include "storage/db/schema.h"
#include "storage/rows/page_store.h"

#define CACHE (UINT64_C(2) << 20)

#define URL_OF(id)                                                             \
    "(SELECT p.prefix || v.path FROM url v JOIN origin p ON p.id = v.origin"   \
    " WHERE v.id = " id ")"

/* clang-format off */
static const char sql[] =
    "SELECT " FETCH_COLUMNS(FETCH_WORD) ", o.prefix || u.path, u.depth, u.kind,"
    " " URL_OF("u.via") ","
    " CASE typeof(f.redirect) WHEN 'text' THEN f.redirect"
    " ELSE " URL_OF("f.redirect") " END,"
    " " URL_OF("(SELECT url FROM fetch WHERE seq = f.same AND url <> f.url)") ","
    " " URL_OF("(SELECT url FROM fetch WHERE seq = f.near AND url <> f.url)")
    " FROM fetch f JOIN url u ON u.id = f.url JOIN origin o ON o.id = u.origin"
    " WHERE f.seq > ?1 AND f.final ORDER BY f.seq LIMIT ?2";
/* clang-format on */

struct outcome_rows {
    struct db *d;
    sqlite3_stmt *each;
};

enum status outcome_rows_open(struct outcome_rows **out, const char *path)
{
    const struct db_options o = {.cache_bytes = CACHE};
    struct outcome_rows *r = xcalloc(1, sizeof *r);
    enum status st = db_open(&r->d, path, DB_READ, &o);

    if (st == STATUS_OK)
        st = db_prepare(r->d, &r->each, sql);
    if (st == STATUS_OK)
        *out = r;
    else
        outcome_rows_close(r);
    return st;
}

void outcome_rows_close(struct outcome_rows *r)
{
    if (r == NULL)
        return;
    sqlite3_finalize(r->each);
    db_close(r->d);
    free(r);
}

static enum status take_row(sqlite3_stmt *q, struct url_record *out)
{
    const int first = FETCH_COLUMN_COUNT;
    struct db_row r = db_row(q);
    enum status st;

    *out = url_record_empty();
    st = fetch_row_take(NULL, q, &out->fetch);
    out->url.id = out->fetch.url;
    out->url.url = db_column(q, first);
    out->url.depth = (uint32_t)db_row_count(&r, first + 1, UINT32_MAX);
    out->url.kind = (uint8_t)db_row_count(&r, first + 2, URL_KIND_MOST);
    out->via = db_column(q, first + 3);
    out->redirect_to = db_column(q, first + 4);
    out->same_as = db_column(q, first + 5);
    out->near_dup_of = db_column(q, first + 6);
    return st == STATUS_OK ? db_row_check(&r, "url") : st;
}

enum status outcome_rows_each(struct outcome_rows *r, uint64_t after,
                              unsigned most,
                              void (*visit)(void *ctx,
                                            const struct url_record *row),
                              void *ctx, unsigned *seen)
{
    struct url_record row;
    enum status st;

    *seen = 0;
    sqlite3_bind_int64(r->each, 1, (int64_t)after);
    sqlite3_bind_int64(r->each, 2, most);
    while ((st = db_step(r->d, r->each)) == STATUS_OK &&
           (st = take_row(r->each, &row)) == STATUS_OK) {
        visit(ctx, &row);
        ++*seen;
    }
    sqlite3_reset(r->each);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status outcome_rows_thinned(struct outcome_rows *r, uint64_t seq,
                                 bool *maybe)
{
    int64_t upto = 0;
    enum status st =
        db_number(r->d, "SELECT value FROM meta WHERE name = 'history_upto'",
                  &upto);

    *maybe = st == STATUS_OK && upto > 0 && seq <= (uint64_t)upto;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status outcome_rows_last(struct outcome_rows *r, uint64_t *seq)
{
    int64_t last = 0;
    enum status st =
        db_number(r->d, "SELECT ifnull(max(seq), 0) FROM fetch", &last);

    *seq = (uint64_t)last;
    return st;
}

enum status outcome_rows_store_id(struct outcome_rows *r, struct buf *out)
{
    sqlite3_stmt *q = NULL;
    enum status st =
        db_prepare(r->d, &q, "SELECT value FROM meta WHERE name = 'store_id'");

    if (st == STATUS_OK)
        st = db_step(r->d, q);
    if (st == STATUS_OK) {
        buf_add_bytes(out, db_column(q, 0));
        st = out->len > 0 ? buf_failed(out) : STATUS_DAMAGED;
    }
    sqlite3_finalize(q);
    return st;
}
