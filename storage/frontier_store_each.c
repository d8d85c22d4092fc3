/* SPDX-License-Identifier: MIT */
/*
 * frontier_store_each.c - the url rows, one and many.
 *
 * A row names its origin, whose queue and prefix are in memory, and its queue
 * has a name there. With a million hosts each of these is a cache line that is
 * far away, and a visit that waits for them in turn takes twice as long. So
 * some rows are read before the first of them is visited.
 */
#include "storage/db/db_row.h"
#include "storage/db/url_kind.h"
#include "storage/frontier_store_impl.h"

#define EACH        32    /* rows read before the first of them is visited */
#define EACH_TEXT   16384 /* octets after which no further one is read */
#define NAMES_AHEAD 4     /* rows whose queues' names are fetched */

/* ---- one row ---- */

enum status frontier_begin_row(struct frontier_store *s, sqlite3_stmt *row,
                               struct url_row *out, uint32_t *origin)
{
    struct db_row r = db_row(row);
    enum status st;

    *origin = (uint32_t)db_row_count(&r, 1, UINT32_MAX);
    *out = (struct url_row){
        .id = db_row_count(&r, 0, DB_ID_MOST),
        .depth = (uint32_t)db_row_count(&r, 3, UINT32_MAX),
        .hops = (uint16_t)db_row_count(&r, 4, UINT16_MAX),
        .kind = (uint8_t)db_row_count(&r, 5, URL_KIND_MOST),
        .flags = (uint8_t)db_row_count(&r, 6, UINT8_MAX),
        .via = db_row_count(&r, 7, DB_ID_MOST),
        .found_at_ms = db_row_time(&r, 8),
    };
    st = db_row_check(&r, "url");
    if (st == STATUS_OK)
        origins_prefetch(s->origins, *origin);
    return st;
}

enum status frontier_end_row(struct frontier_store *s, struct url_row *out,
                             uint32_t origin, struct bytes path,
                             struct buf *text)
{
    enum status st;

    out->queue = origins_queue(s->origins, origin);
    if (out->queue == 0)
        return db_damaged("url", (int64_t)out->id, "of no origin");
    buf_clear(text);
    st = origins_prefix(s->origins, origin, text);
    if (st != STATUS_OK)
        return st;
    buf_add_bytes(text, path);
    out->url = buf_bytes(text);
    return buf_failed(text);
}

/* ---- all rows of a range ---- */

struct each {
    uint32_t n;
    uint32_t origins[EACH];
    size_t ends[EACH]; /* of each path, in `paths` */
    struct url_row rows[EACH];
    struct buf paths, text;
};

/* STATUS_NOT_FOUND: these are the last. */
static enum status read_rows(struct frontier_store *s, sqlite3_stmt *q,
                             struct each *e)
{
    enum status st = STATUS_OK;

    buf_clear(&e->paths);
    for (e->n = 0; e->n < EACH && e->paths.len < EACH_TEXT; e->n++) {
        st = db_step(s->d, q);
        if (st == STATUS_OK)
            st = frontier_begin_row(s, q, &e->rows[e->n], &e->origins[e->n]);
        if (st == STATUS_OK)
            buf_add_bytes(&e->paths, db_column(q, URL_PATH));
        if (st == STATUS_OK)
            st = buf_failed(&e->paths);
        if (st != STATUS_OK)
            return st;
        e->ends[e->n] = e->paths.len;
    }
    return st;
}

static struct bytes path_of(const struct each *e, uint32_t i)
{
    size_t from = i > 0 ? e->ends[i - 1] : 0, len = e->ends[i] - from;

    return len > 0 ? bytes_of(e->paths.at + from, len) : bytes_of(NULL, 0);
}

static enum status visit_rows(struct frontier_store *s, struct each *e,
                              url_row_visit visit, void *ctx)
{
    enum status st = STATUS_OK;

    for (uint32_t i = 0; i < e->n; i++) {
        origins_prefetch_prefix(s->origins, e->origins[i]);
        queue_names_prefetch(s->names,
                             origins_queue(s->origins, e->origins[i]));
    }
    for (uint32_t i = 0; i < e->n && st == STATUS_OK; i++) {
        if (i + NAMES_AHEAD < e->n)
            queue_names_prefetch_name(
                s->names,
                origins_queue(s->origins, e->origins[i + NAMES_AHEAD]));
        st = frontier_end_row(s, &e->rows[i], e->origins[i], path_of(e, i),
                              &e->text);
        if (st == STATUS_OK)
            visit(ctx, &e->rows[i]);
    }
    return st;
}

static enum status each_row(struct frontier_store *s, sqlite3_stmt *q,
                            url_row_visit visit, void *ctx)
{
    struct each e = {0};
    enum status st = STATUS_OK, read = STATUS_OK;

    buf_init(&e.paths, MOST_URL + EACH_TEXT);
    buf_init(&e.text, MOST_URL);
    while (st == STATUS_OK && read == STATUS_OK) {
        read = read_rows(s, q, &e);
        st = visit_rows(s, &e, visit, ctx);
    }
    buf_fini(&e.paths);
    buf_fini(&e.text);
    if (st != STATUS_OK)
        return st;
    return read == STATUS_NOT_FOUND ? STATUS_OK : read;
}

enum status frontier_store_each(struct frontier_store *s, uint64_t first,
                                uint64_t last, url_row_visit visit, void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q,
                                "SELECT " URL_COLUMNS " FROM url"
                                " WHERE id BETWEEN ? AND ?"
                                " ORDER BY id");

    uint64_t end = last < s->last_id ? last : s->last_id;

    if (st == STATUS_OK) {
        sqlite3_bind_int64(q, 1, (int64_t)first);
        sqlite3_bind_int64(q, 2, last > INT64_MAX ? INT64_MAX : (int64_t)last);
    }
    /* To look an origin up costs five times what it does to read the next. */
    if (st == STATUS_OK && first < end &&
        end - first >= origins_count(s->origins) / 2)
        st = origins_gather(s->origins, s->gather_most);
    if (st == STATUS_OK)
        st = each_row(s, q, visit, ctx);
    origins_let_go(s->origins);
    sqlite3_finalize(q);
    return st;
}

struct root_visit {
    url_row_visit visit;
    void *ctx;
};

static void visit_root(void *ctx, const struct url_row *row)
{
    const struct root_visit *v = ctx;

    if (row->depth == 0)
        v->visit(v->ctx, row);
}

enum status frontier_store_each_root(struct frontier_store *s,
                                     url_row_visit visit, void *ctx)
{
    struct root_visit v = {visit, ctx};

    return frontier_store_each(s, 1, frontier_store_counter(s, "last_root"),
                               visit_root, &v);
}
