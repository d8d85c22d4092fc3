/* SPDX-License-Identifier: MIT */
/*
 * frontier_store_open.c - opening and closing the frontier store.
 *
 * Opening reads these in order, as each needs the one before: queue names,
 * origins, done bits (status rows and the fetch rows past them), segments (all
 * of them, once, to count the pending URLs of each queue), then the url rows
 * past the segments.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/schema.h"
#include "storage/frontier_store_impl.h"

#define FLUSH_LEAST   4096
#define URL_ROW_LEAST 8  /* least octets of a row of table url */
#define MERGE_ROWS    48 /* per step, and one more for each 256 URLs admitted */

void frontier_make_room(struct frontier_store *s, uint32_t queue)
{
    uint32_t cap = s->pending_cap + s->pending_cap / 2;

    if (queue <= s->pending_cap)
        return;
    if (cap < queue + 64)
        cap = queue + 64;
    s->pending = xrealloc(s->pending, cap * sizeof *s->pending);
    memset(s->pending + s->pending_cap, 0,
           (cap - s->pending_cap) * sizeof *s->pending);
    s->pending_cap = cap;
}

static enum status read_queues(struct frontier_store *s)
{
    sqlite3_stmt *row = NULL;
    enum status st = db_prepare(s->d, &row,
                                "SELECT id, crawl, key FROM queue"
                                " ORDER BY id");

    while (st == STATUS_OK && (st = db_step(s->d, row)) == STATUS_OK) {
        int64_t id = sqlite3_column_int64(row, 0);

        if (id < 1 || id != (int64_t)queue_names_count(s->names) + 1 ||
            queue_names_load(s->names, db_column(row, 1), db_column(row, 2)) !=
                STATUS_OK)
            st = db_damaged("queue", id, "numbers have a gap");
    }
    sqlite3_finalize(row);
    if (st == STATUS_NOT_FOUND && queue_names_index(s->names) != STATUS_OK)
        return db_damaged("queue", 0, "a queue is named twice");
    frontier_make_room(s, queue_names_count(s->names));
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void count_pending(void *ctx, uint32_t queue, const uint64_t *ids,
                          uint32_t n)
{
    struct frontier_store *s = ctx;
    uint32_t pending = 0;

    if (queue > s->pending_cap)
        return; /* no such queue: verify reports it */
    for (uint32_t i = 0; i < n; i++)
        pending += !done_bits_has(s->done, ids[i]);
    s->pending[queue - 1] += pending;
    s->pending_all += pending;
}

void frontier_enqueue(struct frontier_store *s, uint64_t id, uint32_t queue,
                      uint8_t kind)
{
    segments_append(s->segments, kind == URL_KIND_SERVED ? 0 : queue);
    if (kind != URL_KIND_SERVED)
        count_pending(s, queue, &id, 1);
}

/* ---- the rows past the segments ---- */

#define NEWEST 64
#define AHEAD  8 /* rows whose memory is fetched */

struct newest {
    uint32_t n;
    uint32_t origins[NEWEST], queues[NEWEST];
    uint8_t kinds[NEWEST];
};

/* Reads up to NEWEST rows that follow s->last_id, and no more of each than its
 * queue needs. STATUS_NOT_FOUND: these are the last. */
static enum status read_newest(struct frontier_store *s, sqlite3_stmt *q,
                               struct newest *new)
{
    enum status st = STATUS_OK;

    for (new->n = 0; new->n < NEWEST; new->n++) {
        struct db_row r = db_row(q);
        uint64_t id;

        st = db_step(s->d, q);
        if (st != STATUS_OK)
            return st;
        id = db_row_count(&r, 0, DB_ID_MOST);
        new->origins[new->n] = (uint32_t)db_row_count(&r, 1, UINT32_MAX);
        new->kinds[new->n] = (uint8_t)db_row_count(&r, 2, URL_KIND_MOST);
        st = db_row_check(&r, "url");
        if (st != STATUS_OK)
            return st;
        if (id != s->last_id + new->n + 1)
            return db_damaged("url", (int64_t)id, "ids have a gap");
        origins_prefetch(s->origins, new->origins[new->n]);
    }
    return st;
}

static enum status enqueue_newest(struct frontier_store *s, struct newest *new)
{
    for (uint32_t i = 0; i < new->n; i++) {
        new->queues[i] = origins_queue(s->origins, new->origins[i]);
        if (new->queues[i] == 0)
            return db_damaged("url", (int64_t)(s->last_id + i + 1),
                              "of no origin");
    }
    for (uint32_t i = 0; i < new->n; i++) {
        if (i + AHEAD < new->n)
            segments_prefetch(s->segments, new->queues[i + AHEAD]);
        s->last_id++;
        frontier_enqueue(s, s->last_id, new->queues[i], new->kinds[i]);
    }
    return STATUS_OK;
}

static enum status replay(struct frontier_store *s)
{
    struct newest new;
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q,
                                "SELECT id, origin, kind FROM url"
                                " WHERE id > ? ORDER BY id");

    s->last_id = segments_upto(s->segments);
    if (st == STATUS_OK)
        sqlite3_bind_int64(q, 1, (int64_t)s->last_id);
    while (st == STATUS_OK) {
        enum status in_memory;

        st = read_newest(s, q, &new);
        if (st != STATUS_OK && st != STATUS_NOT_FOUND)
            break;
        in_memory = enqueue_newest(s, &new);
        if (in_memory != STATUS_OK)
            st = in_memory;
    }
    sqlite3_finalize(q);
    if (st == STATUS_NOT_FOUND && s->rows < s->last_id)
        return db_damaged("url", (int64_t)s->rows + 1,
                          "segments are ahead of it");
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* Ids have no gaps, so the number of rows that fit into the file bounds them,
 * and with them the memory needed per id. */
static enum status read_last_row(struct frontier_store *s)
{
    int64_t last = 0, pages = 0;
    enum status st =
        db_number(s->d, "SELECT ifnull(max(id), 0) FROM url", &last);

    if (st == STATUS_OK)
        st = db_number(s->d, "PRAGMA page_count", &pages);
    if (st == STATUS_OK && (last < 0 || last > pages * (4096 / URL_ROW_LEAST)))
        st = db_damaged("url", last, "ids have a gap");
    s->rows = (uint64_t)last;
    return st;
}

static enum status open_parts(struct frontier_store *s,
                              const struct frontier_store_options *o)
{
    int64_t retries = 0;
    enum status st = read_last_row(s);

    if (st == STATUS_OK)
        st = read_queues(s);
    s->gather_most = o->memory_bytes / 2;
    if (st == STATUS_OK)
        st = origins_open(&s->origins, s->d, queue_names_count(s->names),
                          o->memory_bytes / 64);
    if (st == STATUS_OK)
        st = done_bits_open(&s->done, s->d, s->rows, o->sweep_least);
    if (st == STATUS_OK)
        st = segments_open(&s->segments, s->d, queue_names_count(s->names),
                           count_pending, s);
    if (st == STATUS_OK)
        st = frontier_facts_open(s);
    if (st == STATUS_OK)
        st = db_number(s->d, "SELECT count(*) FROM retry", &retries);
    if (st != STATUS_OK)
        return st;
    s->retries = (uint64_t)retries;
    return STATUS_OK;
}

enum status frontier_store_open(struct frontier_store **out, struct db *d,
                                const struct frontier_store_options *o,
                                uint64_t replay_after, url_row_visit visit,
                                void *ctx)
{
    struct frontier_store *s = xcalloc(1, sizeof *s);
    enum status st;

    s->d = d;
    s->names = queue_names_new();
    s->flush_least = o->flush_least > 0 ? o->flush_least : FLUSH_LEAST;
    s->merge_rows = o->merge_rows > 0 ? o->merge_rows : MERGE_ROWS;
    s->recent = xcalloc(RECENT, sizeof *s->recent);
    buf_init(&s->text, MOST_URL);
    st = open_parts(s, o);
    if (st == STATUS_OK)
        st = replay(s);
    if (st == STATUS_OK && visit != NULL)
        st = frontier_store_each(s, replay_after + 1, DB_ID_MOST, visit, ctx);
    if (st != STATUS_OK) {
        frontier_store_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void frontier_store_close(struct frontier_store *s)
{
    if (s == NULL)
        return;
    frontier_facts_close(s);
    segments_close(s->segments);
    done_bits_close(s->done);
    origins_close(s->origins);
    queue_names_free(s->names);
    free(s->pending);
    free(s->recent);
    buf_fini(&s->text);
    free(s);
}
