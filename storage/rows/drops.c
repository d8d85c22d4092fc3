/* SPDX-License-Identifier: MIT */
/*
 * drops.c - drops before admission, by reason and host.
 *
 * (reason, host) pairs are numbered in order of first appearance, and the
 * number is the key of the row: common hosts come early, so their rows share
 * few pages. A hash of the pair finds the row without an index.
 */
#include "storage/rows/drops.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/index/tag_index.h"

#define HOST_MOST    255
#define REASONS_MOST 100000

/* `text` is the host followed by the URL. */
struct example {
    char *text;
    size_t cap, host_len, url_len;
    uint64_t via;
    int64_t at_ms;
};

struct reason {
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
    struct reason **reason_list; /* [i]: of id i + 1 */
    uint32_t reason_count;
    struct tag_index *pairs; /* (reason, host) to the key of table drop_count */
    uint32_t *counts;        /* [i]: of pair i + 1, since the last flush */
    uint32_t counts_cap;
    uint32_t *touched, touched_count, touched_cap;
    struct fresh **fresh; /* [i]: of pair flushed_pairs + i + 1 */
    uint32_t flushed_pairs, fresh_cap;
    uint64_t example_memory;
};

static struct reason *make_reason(struct drops *t, struct bytes name)
{
    struct reason *r = xcalloc(1, sizeof *r + name.len + 1);

    if (name.len > 0)
        memcpy(r->name, name.at, name.len);
    r->id = ++t->reason_count;
    map_put(t->reasons, name, r);
    t->reason_list =
        xrealloc(t->reason_list, t->reason_count * sizeof(struct reason *));
    t->reason_list[r->id - 1] = r;
    return r;
}

static uint32_t make_pair(struct drops *t, struct reason *r, struct bytes host)
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

static void keep_fresh(struct drops *t, uint32_t pair, const struct reason *r,
                       struct bytes host)
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

static uint32_t pair_of(struct drops *t, struct reason *r, struct bytes host)
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

static void keep_example(struct drops *t, struct reason *r, struct bytes host,
                         struct bytes url, uint64_t via, int64_t at_ms)
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

void drops_add(struct drops *t, const char *reason, struct bytes host,
               struct bytes url, uint64_t via, int64_t at_ms)
{
    struct reason *r = map_get(t->reasons, bytes_of_str(reason));
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

static enum status write_example(struct drops *t, const struct reason *r,
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

static enum status flush_reason(struct drops *t, struct reason *r)
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

enum status drops_flush(struct drops *t)
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
    struct reason *r;
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

static enum status read_all(struct drops *t)
{
    enum status st =
        read_rows(t, "SELECT id, name, total FROM drop_reason ORDER BY id",
                  take_reason);

    if (st == STATUS_OK)
        st = read_rows(t, "SELECT id, reason, host FROM drop_count ORDER BY id",
                       take_pair);
    return st;
}

enum status drops_open(struct drops **out, struct db *d)
{
    struct drops *t = xcalloc(1, sizeof *t);
    enum status st;

    t->d = d;
    t->reasons = map_new();
    t->pairs = tag_index_new();
    st = read_all(t);
    if (st != STATUS_OK) {
        drops_close(t);
        return st;
    }
    *out = t;
    return STATUS_OK;
}

static void free_reason(void *reason)
{
    struct reason *r = reason;

    for (uint32_t i = 0; r->examples != NULL && i < DROPS_EXAMPLES; i++)
        free(r->examples[i].text);
    free(r->examples);
    free(r);
}

void drops_close(struct drops *t)
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

uint64_t drops_memory(const struct drops *t)
{
    return sizeof *t + tag_index_memory(t->pairs) + t->example_memory +
           ((uint64_t)t->counts_cap + t->touched_cap) * 4 +
           (uint64_t)t->fresh_cap * sizeof(struct fresh *) +
           (uint64_t)t->reason_count * DROPS_EXAMPLES * sizeof(struct example);
}
