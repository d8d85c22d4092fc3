/* SPDX-License-Identifier: MIT */
/*
 * frontier_store_facts.c - the frontier's data besides URLs: the state of
 * queues, small facts, counters, drops, the filter's steps.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/map.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/frontier_store_impl.h"
#include "storage/index/name_table.h"

/* ---- the state of queues ---- */

enum status frontier_store_set_queue_state(struct frontier_store *s,
                                           uint32_t queue,
                                           const struct queue_state *state)
{
    sqlite3_stmt *q;

    if (queue == 0 || queue > queue_names_count(s->names))
        return STATUS_ARG;
    q = db_statement(s->d, "INSERT OR REPLACE INTO queue_state"
                           " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite3_bind_int64(q, 1, queue);
    sqlite3_bind_int64(q, 2, state->blocked_until_ms);
    sqlite3_bind_int64(q, 3, state->delay_ms);
    sqlite3_bind_int64(q, 4, state->backoffs);
    sqlite3_bind_int64(q, 5, state->failures);
    sqlite3_bind_int64(q, 6, (int64_t)state->fetched);
    sqlite3_bind_text(q, 7, state->reason, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 8, (int64_t)state->octets);
    if (state->linked)
        db_bind_blob(q, 9, bytes_of(state->sources, sizeof state->sources));
    return db_run(s->d, q);
}

static enum status take_state(sqlite3_stmt *q, struct queue_state *state)
{
    struct bytes reason = db_column(q, 6), sources = db_column(q, 8);
    struct db_row r = db_row(q);

    *state = (struct queue_state){
        .blocked_until_ms = db_row_time(&r, 1),
        .delay_ms = db_row_number(&r, 2, -1, DB_TIME_MOST),
        .backoffs = (uint32_t)db_row_count(&r, 3, INT32_MAX),
        .failures = (uint32_t)db_row_count(&r, 4, INT32_MAX),
        .fetched = db_row_count(&r, 5, DB_TOTAL_MOST),
        .octets = db_row_count(&r, 7, DB_TOTAL_MOST),
    };
    snprintf(state->reason, sizeof state->reason, "%.*s",
             (int)(reason.len < sizeof state->reason ? reason.len
                                                     : sizeof state->reason),
             reason.at != NULL ? reason.at : "");
    state->linked = sources.len == sizeof state->sources;
    if (state->linked)
        memcpy(state->sources, sources.at, sources.len);
    return db_row_check(&r, "queue_state");
}

enum status frontier_store_each_queue_state(
    struct frontier_store *s,
    void (*visit)(void *ctx, uint32_t queue, const struct queue_state *state),
    void *ctx)
{
    sqlite3_stmt *q = NULL;
    struct queue_state state;
    enum status st = db_prepare(s->d, &q,
                                "SELECT queue, blocked_until, delay, backoffs,"
                                " failures, fetched, reason, octets, sources"
                                " FROM queue_state"
                                " ORDER BY queue");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        int64_t queue = sqlite3_column_int64(q, 0);

        if (queue < 1 || queue > (int64_t)queue_names_count(s->names))
            continue; /* verify reports it */
        st = take_state(q, &state);
        if (st == STATUS_OK)
            visit(ctx, (uint32_t)queue, &state);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* ---- addresses of hosts ---- */

/* Called once per host and run, so preparing a statement each time is cheap. */
enum status frontier_store_place(struct frontier_store *s, uint32_t queue,
                                 struct buf *out)
{
    sqlite3_stmt *q = NULL;
    enum status st =
        db_prepare(s->d, &q, "SELECT address FROM place WHERE queue = ?");

    if (st == STATUS_OK) {
        sqlite3_bind_int64(q, 1, queue);
        st = db_step(s->d, q);
    }
    if (st == STATUS_OK)
        buf_add_bytes(out, db_column(q, 0));
    sqlite3_finalize(q);
    return st;
}

enum status frontier_store_each_place(struct frontier_store *s,
                                      void (*visit)(void *ctx, uint32_t queue,
                                                    struct bytes address),
                                      void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q, "SELECT queue, address FROM place");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        int64_t queue = sqlite3_column_int64(q, 0);

        if (queue >= 1 && queue <= (int64_t)queue_names_count(s->names))
            visit(ctx, (uint32_t)queue, db_column(q, 1));
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status frontier_store_set_place(struct frontier_store *s, uint32_t queue,
                                     struct bytes address)
{
    sqlite3_stmt *q = NULL;
    enum status st =
        db_prepare(s->d, &q, "INSERT OR REPLACE INTO place VALUES(?, ?)");

    if (st == STATUS_OK) {
        sqlite3_bind_int64(q, 1, queue);
        db_bind_text(q, 2, address);
        st = db_run(s->d, q);
    }
    sqlite3_finalize(q);
    return st;
}

/* ---- small facts ---- */

enum status frontier_store_meta(struct frontier_store *s, const char *name,
                                struct buf *out)
{
    sqlite3_stmt *q =
        db_statement(s->d, "SELECT value FROM meta WHERE name = ?");
    enum status st;

    sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    st = db_step(s->d, q);
    if (st == STATUS_OK) {
        const void *at = sqlite3_column_blob(q, 0);

        buf_add(out, at, (size_t)sqlite3_column_bytes(q, 0));
        st = buf_failed(out);
    }
    sqlite3_reset(q);
    return st;
}

enum status frontier_store_meta_time(struct frontier_store *s, const char *name,
                                     int64_t *ms)
{
    struct buf text;
    int64_t n = 0;
    char *end;
    enum status st;

    buf_init(&text, 64);
    st = frontier_store_meta(s, name, &text);
    if (st == STATUS_OK) {
        errno = 0;
        n = strtoll(buf_str(&text), &end, 10);
        if (errno != 0 || end == buf_str(&text) || *end != '\0' || n < 0 ||
            n > DB_TIME_MOST)
            st = STATUS_LIMIT;
    }
    buf_fini(&text);
    if (st == STATUS_LIMIT) {
        log_error("store is damaged", "table=meta name=%s", name);
        return STATUS_DAMAGED;
    }
    if (st == STATUS_OK)
        *ms = n;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status frontier_store_set_meta(struct frontier_store *s, const char *name,
                                    struct bytes value)
{
    sqlite3_stmt *q =
        db_statement(s->d, "INSERT OR REPLACE INTO meta VALUES(?, ?)");

    sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    db_bind_text(q, 2, value);
    return db_run(s->d, q);
}

/* ---- named counters, written in the transaction they belong to ---- */

struct counter {
    uint64_t value;
    bool dirty;
    char name[];
};

struct counters {
    struct db *d;
    struct map *by_name;
    struct counter **list;
    size_t count;
};

static struct counter *counter_make(struct counters *t, struct bytes name)
{
    struct counter *c = xcalloc(1, sizeof *c + name.len + 1);

    if (name.len > 0)
        memcpy(c->name, name.at, name.len);
    map_put(t->by_name, name, c);
    t->list = xrealloc(t->list, (t->count + 1) * sizeof(struct counter *));
    t->list[t->count++] = c;
    return c;
}

static enum status read_counters(struct counters *t)
{
    sqlite3_stmt *row = NULL;
    enum status st = db_prepare(t->d, &row, "SELECT name, value FROM counter");

    while (st == STATUS_OK && (st = db_step(t->d, row)) == STATUS_OK) {
        struct bytes name = db_column(row, 0);
        struct db_row r = db_row(row);
        uint64_t value = db_row_count(&r, 1, DB_TOTAL_MOST);

        st = db_row_check(&r, "counter");
        /* To SQLite a name as text and the same name as a blob are two keys. */
        if (st == STATUS_OK && map_get(t->by_name, name) != NULL)
            st = db_damaged("counter", 0, "stands twice");
        if (st == STATUS_OK && name.len > 0)
            counter_make(t, name)->value = value;
    }
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void counters_close(struct counters *t)
{
    if (t == NULL)
        return;
    map_free(t->by_name, free);
    free(t->list);
    free(t);
}

static enum status counters_open(struct counters **out, struct db *d)
{
    struct counters *t = xcalloc(1, sizeof *t);
    enum status st;

    t->d = d;
    t->by_name = map_new();
    st = read_counters(t);
    if (st != STATUS_OK) {
        counters_close(t);
        return st;
    }
    *out = t;
    return STATUS_OK;
}

static enum status counters_flush(struct counters *t)
{
    sqlite3_stmt *q;
    enum status st = STATUS_OK;

    for (size_t i = 0; i < t->count && st == STATUS_OK; i++) {
        struct counter *c = t->list[i];

        if (!c->dirty)
            continue;
        q = db_statement(t->d, "INSERT OR REPLACE INTO counter"
                               " VALUES(?, ?)");
        sqlite3_bind_text(q, 1, c->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 2, (int64_t)c->value);
        st = db_run(t->d, q);
        c->dirty = false;
    }
    return st;
}

uint64_t frontier_store_counter(const struct frontier_store *s,
                                const char *name)
{
    const struct counter *c = map_get(s->counters->by_name, bytes_of_str(name));

    return c != NULL ? c->value : 0;
}

void frontier_store_add(struct frontier_store *s, const char *name, uint64_t by)
{
    struct counters *t = s->counters;
    struct counter *c;

    if (by == 0)
        return;
    c = map_get(t->by_name, bytes_of_str(name));
    if (c == NULL)
        c = counter_make(t, bytes_of_str(name));
    c->value += by;
    c->dirty = true;
}

void frontier_store_each_counter(const struct frontier_store *s,
                                 void (*visit)(void *ctx, const char *name,
                                               uint64_t value),
                                 void *ctx)
{
    const struct counters *t = s->counters;

    for (size_t i = 0; i < t->count; i++)
        visit(ctx, t->list[i]->name, t->list[i]->value);
}

/*
 * Drops before admission, by reason and host (tables drop_reason, drop_count,
 * drop_example), counted in memory without a copy of the host's name.
 *
 * (reason, host) pairs are numbered in order of first appearance, and the
 * number is the key of the row: common hosts come early, so their rows share
 * few pages. A hash of the pair finds the row without an index.
 */

#define HOST_MOST    255
#define REASONS_MOST 100000

/* `text` is the host followed by the URL. */
struct example {
    char *text;
    size_t cap, host_len, url_len;
    uint64_t via;
    int64_t at_ms;
};

struct drop_reason {
    uint32_t id;
    uint32_t hosts; /* counted separately so far */
    uint64_t total, flushed_total;
    struct example *examples; /* of drops counted since the last flush */
    char name[];
};

/* A pair that has no row yet. */
struct fresh {
    uint32_t reason;
    size_t len;
    char host[];
};

struct drops {
    struct db *d;
    struct map *reasons;
    struct drop_reason **reason_list; /* [i]: of id i + 1 */
    uint32_t reason_count;
    struct tag_index *pairs; /* (reason, host) to the key of table drop_count */
    uint32_t *counts;        /* [i]: of pair i + 1, since the last flush */
    uint32_t counts_cap;
    uint32_t *touched, touched_count, touched_cap;
    struct fresh **fresh; /* [i]: of pair flushed_pairs + i + 1 */
    uint32_t flushed_pairs, fresh_cap;
    uint64_t example_memory;
};

static struct drop_reason *make_reason(struct drops *t, struct bytes name)
{
    struct drop_reason *r = xcalloc(1, sizeof *r + name.len + 1);

    if (name.len > 0)
        memcpy(r->name, name.at, name.len);
    r->id = ++t->reason_count;
    map_put(t->reasons, name, r);
    t->reason_list = xrealloc(t->reason_list,
                              t->reason_count * sizeof(struct drop_reason *));
    t->reason_list[r->id - 1] = r;
    return r;
}

static uint32_t make_pair(struct drops *t, struct drop_reason *r,
                          struct bytes host)
{
    uint32_t pair = tag_index_add(t->pairs, r->id, host);

    if (host.len > 0)
        r->hosts++;
    if (pair > t->counts_cap) {
        uint32_t cap = pair + pair / 2 + 64;

        t->counts = xrealloc(t->counts, cap * sizeof *t->counts);
        memset(t->counts + t->counts_cap, 0,
               (cap - t->counts_cap) * sizeof *t->counts);
        t->counts_cap = cap;
    }
    return pair;
}

static void keep_fresh(struct drops *t, uint32_t pair,
                       const struct drop_reason *r, struct bytes host)
{
    struct fresh *f = xmalloc(sizeof *f + host.len);
    uint32_t i = pair - t->flushed_pairs - 1;

    if (i >= t->fresh_cap) {
        t->fresh_cap = i + i / 2 + 64;
        t->fresh = xrealloc(t->fresh, t->fresh_cap * sizeof(struct fresh *));
    }
    f->reason = r->id;
    f->len = host.len;
    if (host.len > 0)
        memcpy(f->host, host.at, host.len);
    t->fresh[i] = f;
}

static uint32_t pair_of(struct drops *t, struct drop_reason *r,
                        struct bytes host)
{
    uint32_t pair;

    if (host.len > HOST_MOST)
        host.len = HOST_MOST;
    pair = tag_index_find(t->pairs, r->id, host);
    if (pair == 0 && r->hosts >= DROPS_HOSTS) {
        host = bytes_of("", 0);
        pair = tag_index_find(t->pairs, r->id, host);
    }
    if (pair == 0) {
        pair = make_pair(t, r, host);
        keep_fresh(t, pair, r, host);
    }
    return pair;
}

static void keep_example(struct drops *t, struct drop_reason *r,
                         struct bytes host, struct bytes url, uint64_t via,
                         int64_t at_ms)
{
    struct example *e;

    if (r->examples == NULL)
        r->examples = xcalloc(DROPS_EXAMPLES, sizeof *r->examples);
    e = &r->examples[r->total % DROPS_EXAMPLES];
    e->host_len = host.len < HOST_MOST ? host.len : HOST_MOST;
    e->url_len = url.len < DROPS_URL_MOST ? url.len : DROPS_URL_MOST;
    if (e->cap < e->host_len + e->url_len) {
        t->example_memory -= e->cap;
        e->cap = e->host_len + e->url_len;
        e->text = xrealloc(e->text, e->cap);
        t->example_memory += e->cap;
    }
    if (e->host_len > 0)
        memcpy(e->text, host.at, e->host_len);
    if (e->url_len > 0)
        memcpy(e->text + e->host_len, url.at, e->url_len);
    e->via = via;
    e->at_ms = at_ms;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static enum status write_fresh(struct drops *t, uint32_t pair)
{
    sqlite3_stmt *q =
        db_statement(t->d, "INSERT INTO drop_count VALUES(?, ?, ?, ?)");
    struct fresh *f = t->fresh[pair - t->flushed_pairs - 1];
    enum status st;

    sqlite3_bind_int64(q, 1, pair);
    sqlite3_bind_int64(q, 2, f->reason);
    db_bind_text(q, 3, bytes_of(f->host, f->len));
    sqlite3_bind_int64(q, 4, t->counts[pair - 1]);
    st = db_run(t->d, q);
    free(f);
    t->fresh[pair - t->flushed_pairs - 1] = NULL;
    return st;
}

/* Writes in order of key, so that each page is touched once. */
static enum status flush_pairs(struct drops *t)
{
    sqlite3_stmt *q =
        db_statement(t->d,
                     "UPDATE drop_count SET count = count + ? WHERE id = ?");
    enum status st = STATUS_OK;

    if (t->touched_count > 1)
        qsort(t->touched, t->touched_count, sizeof *t->touched,
              compare_numbers);
    for (uint32_t i = 0; i < t->touched_count && st == STATUS_OK; i++) {
        uint32_t pair = t->touched[i];

        if (pair > t->flushed_pairs) {
            st = write_fresh(t, pair);
        } else {
            sqlite3_bind_int64(q, 1, t->counts[pair - 1]);
            sqlite3_bind_int64(q, 2, pair);
            st = db_run(t->d, q);
        }
        t->counts[pair - 1] = 0;
    }
    t->touched_count = 0;
    if (st == STATUS_OK)
        t->flushed_pairs = tag_index_count(t->pairs);
    return st;
}

static enum status write_example(struct drops *t, const struct drop_reason *r,
                                 uint32_t slot)
{
    const struct example *e = &r->examples[slot];
    sqlite3_stmt *s =
        db_statement(t->d, "INSERT OR REPLACE INTO drop_example"
                           " VALUES(?, ?, ?, ?, ?, nullif(?, 0), ?)");

    sqlite3_bind_int64(s, 1, (int64_t)r->id * DROPS_EXAMPLES + slot);
    sqlite3_bind_int64(s, 2, r->id);
    sqlite3_bind_int64(s, 3, slot);
    db_bind_text(s, 4, bytes_of(e->text, e->host_len));
    db_bind_text(s, 5, bytes_of(e->text + e->host_len, e->url_len));
    sqlite3_bind_int64(s, 6, (int64_t)e->via);
    sqlite3_bind_int64(s, 7, e->at_ms);
    return db_run(t->d, s);
}

static enum status flush_reason(struct drops *t, struct drop_reason *r)
{
    sqlite3_stmt *q;
    uint64_t from = r->flushed_total;
    enum status st;

    if (r->total == from)
        return STATUS_OK;
    q = db_statement(t->d, "INSERT OR REPLACE INTO drop_reason"
                           " VALUES(?, ?, ?)");
    sqlite3_bind_int64(q, 1, r->id);
    sqlite3_bind_text(q, 2, r->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 3, (int64_t)r->total);
    st = db_run(t->d, q);
    if (r->total - from > DROPS_EXAMPLES)
        from = r->total - DROPS_EXAMPLES;
    for (; from < r->total && st == STATUS_OK; from++)
        st = write_example(t, r, (uint32_t)(from % DROPS_EXAMPLES));
    r->flushed_total = r->total;
    return st;
}

static enum status drops_flush(struct drops *t)
{
    enum status st = flush_pairs(t);

    for (uint32_t i = 0; i < t->reason_count && st == STATUS_OK; i++)
        st = flush_reason(t, t->reason_list[i]);
    return st;
}

/* ---- opening ---- */

static enum status take_reason(struct drops *t, sqlite3_stmt *row)
{
    struct db_row in = db_row(row);
    uint64_t id = db_row_count(&in, 0, REASONS_MOST);
    uint64_t total = db_row_count(&in, 2, DB_TOTAL_MOST);
    struct bytes name = db_column(row, 1);
    struct drop_reason *r;
    enum status st = db_row_check(&in, "drop_reason");

    if (st != STATUS_OK)
        return st;
    if (id != t->reason_count + 1 || map_get(t->reasons, name) != NULL)
        return db_damaged("drop_reason", (int64_t)id, "makes no sense");
    r = make_reason(t, name);
    r->total = r->flushed_total = total;
    return STATUS_OK;
}

static enum status take_pair(struct drops *t, sqlite3_stmt *row)
{
    int64_t id = sqlite3_column_int64(row, 0);
    int64_t reason = sqlite3_column_int64(row, 1);

    if (id != (int64_t)tag_index_count(t->pairs) + 1 || reason < 1 ||
        reason > (int64_t)t->reason_count)
        return db_damaged("drop_count", id, "makes no sense");
    make_pair(t, t->reason_list[reason - 1], db_column(row, 2));
    t->flushed_pairs = (uint32_t)id;
    return STATUS_OK;
}

static enum status read_rows(struct drops *t, const char *sql,
                             enum status (*take)(struct drops *,
                                                 sqlite3_stmt *))
{
    sqlite3_stmt *row = NULL;
    enum status st = db_prepare(t->d, &row, sql);

    while (st == STATUS_OK && (st = db_step(t->d, row)) == STATUS_OK)
        st = take(t, row);
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status read_drops(struct drops *t)
{
    enum status st =
        read_rows(t, "SELECT id, name, total FROM drop_reason ORDER BY id",
                  take_reason);

    if (st == STATUS_OK)
        st = read_rows(t, "SELECT id, reason, host FROM drop_count ORDER BY id",
                       take_pair);
    return st;
}

static void free_reason(void *reason)
{
    struct drop_reason *r = reason;

    for (uint32_t i = 0; r->examples != NULL && i < DROPS_EXAMPLES; i++)
        free(r->examples[i].text);
    free(r->examples);
    free(r);
}

static void drops_close(struct drops *t)
{
    if (t == NULL)
        return;
    for (uint32_t p = t->flushed_pairs; p < tag_index_count(t->pairs); p++)
        free(t->fresh[p - t->flushed_pairs]);
    map_free(t->reasons, free_reason);
    free(t->reason_list);
    tag_index_free(t->pairs);
    free(t->counts);
    free(t->touched);
    free(t->fresh);
    free(t);
}

static enum status drops_open(struct drops **out, struct db *d)
{
    struct drops *t = xcalloc(1, sizeof *t);
    enum status st;

    t->d = d;
    t->reasons = map_new();
    t->pairs = tag_index_new();
    st = read_drops(t);
    if (st != STATUS_OK) {
        drops_close(t);
        return st;
    }
    *out = t;
    return STATUS_OK;
}

static uint64_t drops_memory(const struct drops *t)
{
    return sizeof *t + tag_index_memory(t->pairs) + t->example_memory +
           ((uint64_t)t->counts_cap + t->touched_cap) * 4 +
           (uint64_t)t->fresh_cap * sizeof(struct fresh *) +
           (uint64_t)t->reason_count * DROPS_EXAMPLES * sizeof(struct example);
}

void frontier_store_drop(struct frontier_store *s, const char *reason,
                         struct bytes host, struct bytes url, uint64_t via,
                         int64_t at_ms)
{
    struct drops *t = s->drops;
    struct drop_reason *r = map_get(t->reasons, bytes_of_str(reason));
    uint32_t pair;

    if (r == NULL)
        r = make_reason(t, bytes_of_str(reason));
    pair = pair_of(t, r, host);
    if (t->counts[pair - 1]++ == 0) {
        if (t->touched_count == t->touched_cap) {
            t->touched_cap = t->touched_cap > 0 ? t->touched_cap * 2 : 256;
            t->touched =
                xrealloc(t->touched, t->touched_cap * sizeof *t->touched);
        }
        t->touched[t->touched_count++] = pair;
    }
    keep_example(t, r, host, url, via, at_ms);
    r->total++;
}

/* ---- counters and drops together ---- */

enum status frontier_facts_open(struct frontier_store *s)
{
    enum status st = counters_open(&s->counters, s->d);

    return st == STATUS_OK ? drops_open(&s->drops, s->d) : st;
}

void frontier_facts_close(struct frontier_store *s)
{
    counters_close(s->counters);
    drops_close(s->drops);
}

enum status frontier_facts_flush(struct frontier_store *s)
{
    enum status st = counters_flush(s->counters);

    return st == STATUS_OK ? drops_flush(s->drops) : st;
}

uint64_t frontier_facts_memory(const struct frontier_store *s)
{
    return drops_memory(s->drops);
}

/* ---- the filter's steps ---- */

enum status frontier_store_add_step(struct frontier_store *s,
                                    const struct filter_step *step)
{
    sqlite3_stmt *q = db_statement(s->d, "INSERT INTO filter_step VALUES"
                                         "(NULL, ?, ?, ?, ?, ?, ?, ?, ?)");

    sqlite3_bind_int64(q, 1, (int64_t)step->upto);
    sqlite3_bind_int64(q, 2, (int64_t)step->keys);
    sqlite3_bind_int64(q, 3, (int64_t)step->bits);
    sqlite3_bind_double(q, 4, step->promised);
    sqlite3_bind_double(q, 5, step->predicted);
    sqlite3_bind_int64(q, 6, (int64_t)step->asked);
    sqlite3_bind_int64(q, 7, (int64_t)step->maybe);
    sqlite3_bind_int64(q, 8, (int64_t)step->false_positives);
    return db_run(s->d, q);
}

enum status frontier_store_each_step(
    struct frontier_store *s,
    void (*visit)(void *ctx, const struct filter_step *step), void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q,
                                "SELECT upto, keys, bits, promised, predicted,"
                                " asked, maybe, false_positives"
                                " FROM filter_step ORDER BY id");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        struct filter_step step = {
            .upto = db_row_count(&r, 0, DB_ID_MOST),
            .keys = db_row_count(&r, 1, DB_TOTAL_MOST),
            .bits = db_row_count(&r, 2, DB_TOTAL_MOST),
            .promised = db_row_real(&r, 3, 1),
            .predicted = db_row_real(&r, 4, 1),
            .asked = db_row_count(&r, 5, DB_TOTAL_MOST),
            .maybe = db_row_count(&r, 6, DB_TOTAL_MOST),
            .false_positives = db_row_count(&r, 7, DB_TOTAL_MOST),
        };

        st = db_row_check(&r, "filter_step");
        if (st == STATUS_OK)
            visit(ctx, &step);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static struct bytes text_at(sqlite3_stmt *q, int column)
{
    const void *at = sqlite3_column_blob(q, column);

    return bytes_of(at != NULL ? at : "",
                    (size_t)sqlite3_column_bytes(q, column));
}

enum status frontier_store_each_drop(struct frontier_store *s, bool examples,
                                     void (*visit)(void *ctx,
                                                   const struct drop_row *row),
                                     void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(
        s->d, &q,
        examples ? "SELECT r.name, e.host, 0, e.url, e.via, e.at"
                   " FROM drop_example e JOIN drop_reason r ON r.id = e.reason"
                   " ORDER BY e.at, e.id"
                 : "SELECT r.name, k.host, k.count, NULL, 0, 0"
                   " FROM drop_count k JOIN drop_reason r ON r.id = k.reason"
                   " ORDER BY k.count DESC, k.id");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        struct drop_row row = {
            .reason = text_at(q, 0),
            .host = text_at(q, 1),
            .count = db_row_count(&r, 2, DB_TOTAL_MOST),
            .url = text_at(q, 3),
            .via = db_row_count(&r, 4, DB_ID_MOST),
            .at_ms = db_row_time(&r, 5),
        };

        st = db_row_check(&r, examples ? "drop_example" : "drop_count");
        if (st == STATUS_OK)
            visit(ctx, &row);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}
