/* SPDX-License-Identifier: MIT */
/*
 * frontier_store.c - URLs and host queues on disk, combined.
 *
 *   admit ──► url row ──► segments     (ids by queue)
 *   done  ──► done_bits ◄── fetch rows (page_store)
 *   refill ◄── segments, minus ids in done_bits
 *
 * Admitting a URL writes only its row; leasing it or marking it done writes
 * nothing. The rest is replayed or written by sweeps.
 */
#include "storage/frontier_store.h"
#include "storage/db/db_row.h"
#include "storage/db/schema.h"
#include "storage/frontier_store_impl.h"

/*
 * The url rows, one and many.
 *
 * A row names its origin, whose queue and prefix are in memory, and its queue
 * has a name there. With a million hosts each of these is a cache line that is
 * far away, and a visit that waits for them in turn takes twice as long. So
 * some rows are read before the first of them is visited.
 */

#define EACH        32    /* rows read before the first of them is visited */
#define EACH_TEXT   16384 /* octets after which no further one is read */
#define NAMES_AHEAD 4     /* rows whose queues' names are fetched */

/* ---- one row ---- */

/* Reads the numbers of the current row of `row` (columns id to at) except its
 * queue, and starts to fetch what is known of its origin. STATUS_DAMAGED. */
static enum status frontier_begin_row(struct frontier_store *s,
                                      sqlite3_stmt *row, struct url_row *out,
                                      uint32_t *origin)
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

/* Sets the rest: out->queue, and out->url, which is built in `text`.
 * STATUS_DAMAGED. */
static enum status frontier_end_row(struct frontier_store *s,
                                    struct url_row *out, uint32_t origin,
                                    struct bytes path, struct buf *text)
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

#define FLUSH_MOST UINT64_C(262144)

/* ---- queues ---- */

enum status frontier_store_queue(struct frontier_store *s, struct bytes crawl,
                                 struct bytes key, uint32_t *queue)
{
    sqlite3_stmt *q;
    uint32_t n = queue_names_find(s->names, crawl, key);
    enum status st;

    if (n != 0) {
        *queue = n;
        return STATUS_OK;
    }
    st = queue_names_add(s->names, crawl, key, &n);
    if (st != STATUS_OK)
        return st;
    frontier_make_room(s, n);
    q = db_statement(s->d, "INSERT INTO queue VALUES(?, ?, ?)");
    sqlite3_bind_int64(q, 1, n);
    db_bind_text(q, 2, crawl);
    db_bind_text(q, 3, key);
    st = db_run(s->d, q);
    if (st == STATUS_OK)
        *queue = n;
    return st;
}

uint32_t frontier_store_find_queue(const struct frontier_store *s,
                                   struct bytes crawl, struct bytes key)
{
    return queue_names_find(s->names, crawl, key);
}

void frontier_store_find_queues(const struct frontier_store *s,
                                struct bytes crawl, const struct bytes *keys,
                                size_t n, uint32_t *queues)
{
    queue_names_find_all(s->names, crawl, keys, n, queues);
}

void frontier_store_prefetch(const struct frontier_store *s, uint32_t queue)
{
    __builtin_prefetch(&s->pending[queue - 1]);
    segments_prefetch(s->segments, queue);
}

uint32_t frontier_store_queue_count(const struct frontier_store *s)
{
    return queue_names_count(s->names);
}

void frontier_store_queue_name(struct frontier_store *s, uint32_t queue,
                               struct bytes *crawl, struct bytes *key)
{
    queue_names_get(s->names, queue, crawl, key);
}

uint32_t frontier_store_origin_queue(const struct frontier_store *s,
                                     uint32_t origin)
{
    return origins_queue(s->origins, origin);
}

uint64_t frontier_store_pending(const struct frontier_store *s, uint32_t queue)
{
    return queue >= 1 && queue <= s->pending_cap ? s->pending[queue - 1] : 0;
}

uint64_t frontier_store_pending_all(const struct frontier_store *s)
{
    return s->pending_all;
}

/* ---- URLs ---- */

enum status frontier_store_admit(struct frontier_store *s,
                                 const struct url_row *row, uint64_t *id)
{
    size_t split = origins_split(row->url);
    uint64_t n = s->last_id + 1;
    uint32_t origin = 0;
    sqlite3_stmt *q;
    enum status st;

    if (row->queue == 0 || row->queue > queue_names_count(s->names) ||
        row->url.len > MOST_URL)
        return STATUS_ARG;
    if (n > DB_ID_MOST || s->pending[row->queue - 1] == UINT32_MAX)
        return STATUS_LIMIT;
    st = origins_number(s->origins, row->queue, bytes_of(row->url.at, split),
                        &origin);
    if (st != STATUS_OK)
        return st;
    q = db_statement(s->d, "INSERT INTO url VALUES(?, ?, ?, ?, ?, ?, ?,"
                           " nullif(?, 0), ?)");
    sqlite3_bind_int64(q, 1, (int64_t)n);
    sqlite3_bind_int64(q, 2, origin);
    db_bind_text(q, 3, split > 0 ? bytes_skip(row->url, split) : row->url);
    sqlite3_bind_int64(q, 4, row->depth);
    sqlite3_bind_int(q, 5, row->hops);
    sqlite3_bind_int(q, 6, row->kind);
    sqlite3_bind_int(q, 7, row->flags);
    sqlite3_bind_int64(q, 8, (int64_t)row->via);
    sqlite3_bind_int64(q, 9, row->found_at_ms);
    st = db_run(s->d, q);
    if (st != STATUS_OK)
        return st;
    s->last_id = n;
    frontier_enqueue(s, n, row->queue, row->kind);
    s->admitted++;
    *id = n;
    return STATUS_OK;
}

static void remember(struct frontier_store *s, uint64_t id, uint32_t queue)
{
    s->recent[id % RECENT] = (struct recent){id, queue};
}

enum status frontier_store_get(struct frontier_store *s, uint64_t id,
                               struct url_row *row, struct buf *text)
{
    sqlite3_stmt *q =
        db_statement(s->d, "SELECT " URL_COLUMNS " FROM url WHERE id = ?");
    uint32_t origin = 0;
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)id);
    st = db_step(s->d, q);
    if (st == STATUS_OK)
        st = frontier_begin_row(s, q, row, &origin);
    if (st == STATUS_OK)
        st = frontier_end_row(s, row, origin, db_column(q, URL_PATH), text);
    sqlite3_reset(q);
    if (st == STATUS_OK)
        remember(s, id, row->queue);
    return st;
}

enum status frontier_store_come_nearer(struct frontier_store *s, uint64_t id,
                                       uint32_t depth, uint16_t hops,
                                       uint8_t kind)
{
    sqlite3_stmt *q;

    if (id == 0 || id > s->last_id)
        return STATUS_NOT_FOUND;
    q = db_statement(s->d, "UPDATE url SET depth = ?2, hops = min(hops, ?3),"
                           " kind = ?4 WHERE id = ?1");
    sqlite3_bind_int64(q, 1, (int64_t)id);
    sqlite3_bind_int64(q, 2, depth);
    sqlite3_bind_int(q, 3, hops);
    sqlite3_bind_int(q, 4, kind);
    return db_run(s->d, q);
}

static enum status take_text(struct frontier_store *s, sqlite3_stmt *q,
                             struct buf *text, int64_t *found_at_ms)
{
    struct db_row r = db_row(q);
    uint32_t origin = (uint32_t)db_row_count(&r, 0, UINT32_MAX);
    int64_t at_ms = db_row_time(&r, 2);
    enum status st = db_row_check(&r, "url");

    if (st == STATUS_OK)
        st = origins_prefix(s->origins, origin, text);
    if (st != STATUS_OK)
        return st;
    buf_add_bytes(text, db_column(q, 1));
    *found_at_ms = at_ms;
    return buf_failed(text);
}

enum status frontier_store_get_url(struct frontier_store *s, uint64_t id,
                                   struct buf *text, int64_t *found_at_ms)
{
    sqlite3_stmt *q =
        db_statement(s->d, "SELECT origin, path, at FROM url WHERE id = ?");
    enum status st;

    buf_clear(text);
    sqlite3_bind_int64(q, 1, (int64_t)id);
    st = db_step(s->d, q);
    if (st == STATUS_OK)
        st = take_text(s, q, text, found_at_ms);
    sqlite3_reset(q);
    return st;
}

enum status frontier_store_last_before(struct frontier_store *s,
                                       int64_t before_ms, uint64_t *last)
{
    uint64_t low = 0, high = frontier_store_last_id(s);
    enum status st = STATUS_OK;
    struct url_row row;
    struct buf text;

    buf_init(&text, MOST_URL);
    while (st == STATUS_OK && low < high && before_ms != INT64_MAX) {
        uint64_t middle = low + (high - low + 1) / 2;

        st = frontier_store_get(s, middle, &row, &text);
        if (st == STATUS_OK && row.found_at_ms < before_ms)
            low = middle;
        else
            high = middle - 1;
    }
    buf_fini(&text);
    if (st == STATUS_OK)
        *last = high;
    return st;
}

uint64_t frontier_store_last_id(const struct frontier_store *s)
{
    return s->last_id;
}

enum status frontier_store_refill(struct frontier_store *s, uint32_t queue,
                                  uint64_t after, uint64_t *ids, size_t most,
                                  size_t *n)
{
    if (queue == 0 || queue > queue_names_count(s->names))
        return STATUS_ARG;
    return segments_take(s->segments, queue, after, s->done, ids, most, n);
}

/* STATUS_NOT_FOUND: no such URL. */
static enum status queue_of(struct frontier_store *s, uint64_t id,
                            uint32_t *queue)
{
    sqlite3_stmt *q;
    const struct recent *r = &s->recent[id % RECENT];
    enum status st;

    *queue = segments_waiting_queue(s->segments, id);
    if (*queue != 0)
        return STATUS_OK;
    if (r->id == id && id != 0) {
        *queue = r->queue;
        return STATUS_OK;
    }
    q = db_statement(s->d, "SELECT " URL_COLUMNS " FROM url WHERE id = ?");
    sqlite3_bind_int64(q, 1, (int64_t)id);
    st = db_step(s->d, q);
    if (st == STATUS_OK) {
        struct db_row row = db_row(q);

        *queue = origins_queue(s->origins,
                               (uint32_t)db_row_count(&row, 1, UINT32_MAX));
        st = db_row_check(&row, "url");
    }
    sqlite3_reset(q);
    if (st == STATUS_OK && *queue == 0)
        st = db_damaged("url", (int64_t)id, "of no origin");
    return st;
}

static enum status drop_retry(struct frontier_store *s, uint64_t id)
{
    sqlite3_stmt *q;
    enum status st;

    if (s->retries == 0)
        return STATUS_OK;
    q = db_statement(s->d, "DELETE FROM retry WHERE url = ?");
    sqlite3_bind_int64(q, 1, (int64_t)id);
    st = db_run(s->d, q);
    if (st == STATUS_OK)
        s->retries -= (uint64_t)sqlite3_changes(db_handle(s->d));
    return st;
}

enum status frontier_store_done(struct frontier_store *s, uint64_t id,
                                uint64_t seq)
{
    uint32_t queue = 0;
    enum status st;

    if (id == 0 || id > s->last_id)
        return STATUS_NOT_FOUND;
    if (done_bits_has(s->done, id)) {
        done_bits_set(s->done, id, seq); /* it was fetched again */
        s->finished++;
        return STATUS_OK;
    }
    st = queue_of(s, id, &queue);
    if (st == STATUS_OK && s->pending[queue - 1] == 0)
        st = db_damaged("url", (int64_t)id, "stands under another queue");
    if (st != STATUS_OK)
        return st;
    done_bits_set(s->done, id, seq);
    s->pending[queue - 1]--;
    s->pending_all--;
    s->finished++;
    return drop_retry(s, id);
}

bool frontier_store_is_done(const struct frontier_store *s, uint64_t id)
{
    return done_bits_has(s->done, id);
}

/* ---- tries ---- */

enum status frontier_store_set_tries(struct frontier_store *s, uint64_t id,
                                     uint32_t tries, int64_t due_ms)
{
    return tries == 0 ? drop_retry(s, id)
                      : frontier_store_postpone(s, id, tries, due_ms);
}

enum status frontier_store_postpone(struct frontier_store *s, uint64_t id,
                                    uint32_t tries, int64_t due_ms)
{
    sqlite3_stmt *q;
    enum status st = drop_retry(s, id);

    if (st != STATUS_OK)
        return st;
    q = db_statement(s->d, "INSERT OR REPLACE INTO retry VALUES(?, ?, ?)");
    sqlite3_bind_int64(q, 1, (int64_t)id);
    sqlite3_bind_int64(q, 2, tries);
    sqlite3_bind_int64(q, 3, due_ms);
    st = db_run(s->d, q);
    if (st == STATUS_OK)
        s->retries++;
    return st;
}

enum status frontier_store_each_tries(struct frontier_store *s,
                                      void (*visit)(void *ctx, uint64_t id,
                                                    uint32_t tries,
                                                    int64_t due_ms),
                                      void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q,
                                "SELECT url, tries, due FROM retry"
                                " ORDER BY url");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        uint64_t id = db_row_count(&r, 0, DB_ID_MOST);
        uint32_t tries = (uint32_t)db_row_count(&r, 1, UINT8_MAX);
        int64_t due_ms = db_row_time(&r, 2);

        st = db_row_check(&r, "retry");
        if (st == STATUS_OK)
            visit(ctx, id, tries, due_ms);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* ---- upkeep ---- */

static uint64_t flush_at(const struct frontier_store *s)
{
    uint64_t n = s->last_id / 8;

    if (n < s->flush_least)
        n = s->flush_least;
    return n < FLUSH_MOST ? n : FLUSH_MOST;
}

enum status frontier_store_step(struct frontier_store *s)
{
    uint32_t rows = s->merge_rows + (uint32_t)(s->admitted / 256);
    enum status st = frontier_facts_flush(s);

    if (st == STATUS_OK && segments_waiting(s->segments) >= flush_at(s))
        st = segments_flush(s->segments, s->done);
    else if (st == STATUS_OK)
        st = segments_step(s->segments, s->done, rows);
    if (st == STATUS_OK)
        st = done_bits_step(s->done, s->last_id, s->admitted + s->finished);
    s->admitted = s->finished = 0;
    return st;
}

uint64_t frontier_store_memory(const struct frontier_store *s)
{
    return sizeof *s + queue_names_memory(s->names) +
           origins_memory(s->origins) + done_bits_memory(s->done) +
           segments_memory(s->segments) + frontier_facts_memory(s) +
           (uint64_t)s->pending_cap * sizeof *s->pending +
           RECENT * sizeof *s->recent;
}
