/* SPDX-License-Identifier: MIT */
/*
 * path_log.c - which URLs each page led to (table path).
 *
 * A row has seq, the page, whether the URLs are on its level, and their ids as
 * varints (packed.h), each minus the one before: a page mostly links to URLs
 * that arrived shortly before or after it, so most take one or two octets.
 */
#include "storage/rows/path_log.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/packed.h"

#define BLOB_MOST ((size_t)64 << 20)

struct path_log {
    struct db *d;
    uint64_t last;
    struct buf packed;
};

enum status path_log_open(struct path_log **out, struct db *d)
{
    struct path_log *l = xcalloc(1, sizeof *l);
    int64_t last = 0;
    enum status st =
        db_number(d, "SELECT ifnull(max(seq), 0) FROM path", &last);

    l->d = d;
    buf_init(&l->packed, BLOB_MOST);
    if (st == STATUS_OK && last < 0)
        st = db_damaged("path", last, "makes no sense");
    if (st != STATUS_OK) {
        path_log_close(l);
        return st;
    }
    l->last = (uint64_t)last;
    *out = l;
    return STATUS_OK;
}

void path_log_close(struct path_log *l)
{
    if (l == NULL)
        return;
    buf_fini(&l->packed);
    free(l);
}

uint64_t path_log_last(const struct path_log *l)
{
    return l->last;
}

/* ---- writing ---- */

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static enum status pack(struct path_log *l, uint64_t *to, size_t n)
{
    uint64_t before = 0;

    qsort(to, n, sizeof *to, compare_ids);
    buf_clear(&l->packed);
    for (size_t i = 0; i < n; i++) {
        unsigned char octets[VARINT_MOST];

        if (to[i] == before) /* no URL has the id 0 */
            continue;
        buf_add(&l->packed, octets, varint_put(octets, to[i] - before));
        before = to[i];
    }
    return buf_failed(&l->packed);
}

enum status path_log_add(struct path_log *l, uint64_t from, enum path_step step,
                         uint64_t *to, size_t n)
{
    sqlite3_stmt *q;
    enum status st = pack(l, to, n);

    if (st != STATUS_OK || l->packed.len == 0)
        return st;
    q = db_statement(l->d, "INSERT INTO path VALUES(?, ?, ?, ?)");
    sqlite3_bind_int64(q, 1, (int64_t)l->last + 1);
    sqlite3_bind_int64(q, 2, (int64_t)from);
    sqlite3_bind_int(q, 3, (int)step);
    db_bind_blob(q, 4, buf_bytes(&l->packed));
    st = db_run(l->d, q);
    l->last += st == STATUS_OK;
    return st;
}

/* ---- reading ---- */

static enum status visit_row(sqlite3_stmt *row, uint64_t *at,
                             void (*visit)(void *ctx, uint64_t from,
                                           enum path_step step, uint64_t to),
                             void *ctx)
{
    struct db_row r = db_row(row);
    uint64_t seq = db_row_count(&r, 0, INT64_MAX);
    uint64_t from = db_row_count(&r, 1, DB_ID_MOST), to = 0, more = 0;
    enum path_step step = (enum path_step)db_row_count(&r, 2, PATH_STEPS_ - 1);
    struct bytes packed = db_column(row, 3);
    const unsigned char *p = (const unsigned char *)packed.at;
    const unsigned char *end = p + packed.len;

    if (db_row_check(&r, "path") != STATUS_OK)
        return STATUS_DAMAGED;
    while (p != end) {
        p = varint_get(p, end, &more);
        if (p == NULL || more == 0 || more > DB_ID_MOST - to)
            return db_damaged("path", (int64_t)seq, "makes no sense");
        to += more;
        visit(ctx, from, step, to);
    }
    *at = seq;
    return STATUS_OK;
}

enum status path_log_each(struct path_log *l, uint64_t *at, size_t most,
                          void (*visit)(void *ctx, uint64_t from,
                                        enum path_step step, uint64_t to),
                          void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(l->d, &q,
                                "SELECT seq, src, step, dst FROM path"
                                " WHERE seq > ? ORDER BY seq LIMIT ?");
    size_t rows = 0;

    if (st == STATUS_OK) {
        sqlite3_bind_int64(q, 1, (int64_t)*at);
        sqlite3_bind_int64(q, 2, (int64_t)most);
    }
    while (st == STATUS_OK && (st = db_step(l->d, q)) == STATUS_OK) {
        st = visit_row(q, at, visit, ctx);
        rows++;
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND && rows == most ? STATUS_OK : st;
}
