/* SPDX-License-Identifier: MIT */
/*
 * outcome_rows.c - what became of each URL, for a reader beside the crawl.
 *
 * By the views that people read as well (schema.c). URLs of other rows come
 * from subqueries: SQLite would write a view down, whole, that stands to the
 * right of an outer join.
 */
#include "storage/rows/outcome_rows.h"

#include <stdlib.h>

#include "base/mem.h"
#include "storage/db/db.h"

#define CACHE      (UINT64_C(2) << 20)

#define URL_OF(id) "(SELECT url FROM urls WHERE urls.id = " id ")"

/* clang-format off */
static const char sql[] =
    "SELECT f.seq, f.url, f.status, f.reason, f.http_status,"
    " u.depth, u.kind, " URL_OF("u.via") " AS via,"
    " " URL_OF("f.redirect_to") " AS redirect_to,"
    " f.mime, f.charset, f.title, f.lang,"
    " ifnull(f.body_bytes, 0) AS body_bytes,"
    " ifnull(f.wire_bytes, 0) AS wire_bytes,"
    " nullif(f.body_digest, '') AS body_digest,"
    " " URL_OF("(SELECT url FROM fetch WHERE seq = f.same_as)") " AS same_as,"
    " ifnull(f.links, 0) AS links, f.tries, f.at AS fetched_at, f.elapsed,"
    " ifnull(f.first_byte, CASE WHEN f.http_status > 0 THEN 0.0 END)"
    " AS first_byte,"
    " f.ip, f.etag, f.last_modified, f.detail, f.warc_file,"
    " f.warc_offset, f.warc_length"
    " FROM fetches f JOIN urls u ON u.id = f.id"
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

enum status outcome_rows_each(struct outcome_rows *r, uint64_t after,
                              unsigned most,
                              void (*visit)(void *ctx, sqlite3_stmt *row),
                              void *ctx, unsigned *seen)
{
    enum status st;

    *seen = 0;
    sqlite3_bind_int64(r->each, 1, (int64_t)after);
    sqlite3_bind_int64(r->each, 2, most);
    while ((st = db_step(r->d, r->each)) == STATUS_OK) {
        visit(ctx, r->each);
        ++*seen;
    }
    sqlite3_reset(r->each);
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
