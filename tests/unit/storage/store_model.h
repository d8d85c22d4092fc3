/*
 * store_model.h - the whole store beside a plain model of it: arrays by id.
 *
 * A run is a series of transactions that admit, fetch and finish random URLs.
 * Its random choices depend only on the seed and on what the store returned, so
 * a second run repeats them. The model remembers the transaction of each change
 * and can be rewound, which is how a test checks a store that was killed.
 */
#ifndef URLWEIR_TESTS_STORAGE_STORE_MODEL_H
#define URLWEIR_TESTS_STORAGE_STORE_MODEL_H

#include "storage/frontier_store.h"
#include "storage/index/exact_set.h"
#include "storage/rows/page_store.h"
#include "tests/unit/storage/scratch.h"

#define MODEL_URLS 500000
#define MODEL_TX   1000

struct model_try {
    uint32_t tx;
    uint64_t id;
};

struct model {
    struct db *d;
    struct exact_set *set;
    struct frontier_store *s;
    struct page_store *p;
    uint64_t n; /* URLs admitted */
    uint32_t queues;
    uint32_t tx; /* transactions done; number of the open one */
    uint64_t random, random_after[MODEL_TX + 1];
    /* by id */
    uint32_t *queue, *admitted_tx, *done_tx;
    unsigned char *done, *tries;
    struct model_try *try_log;
    uint32_t try_count, try_total; /* so far in this run; in the longest one */
    uint32_t hosts, most_admit, pages; /* the run's size */
};

static const struct frontier_store_options model_frontier_options = {
    .flush_least = 128, .merge_rows = 1, .sweep_least = 512};
static const struct exact_set_options model_set_options = {.block_cache_bytes =
                                                               1 << 20,
                                                           .delta_most = 1024};
static const struct db_options model_db_options = {.checkpoint_bytes = 128
                                                                       << 10};

static inline struct bytes model_url(char out[128], uint64_t id, uint32_t queue)
{
    int len = snprintf(out, 128, "http://host%u.example%s/page/%llu?x=%llu",
                       queue, id % 5 == 0 ? ":8080" : "",
                       (unsigned long long)id, (unsigned long long)(id * 7919));

    return bytes_of(out, (size_t)len);
}

static void model_replay(void *ctx, const struct url_row *row)
{
    struct model *m = ctx;

    exact_set_add(m->set, scratch_digest(row->id), row->id);
}

static inline void model_open_with(struct model *m, const char *path,
                                   enum db_mode mode, url_row_visit visit)
{
    ck_ok(db_open(&m->d, path, mode, &model_db_options));
    if (mode == DB_READ)
        ck_ok(db_begin(m->d));
    ck_ok(exact_set_open(&m->set, m->d, &model_set_options));
    ck_ok(frontier_store_open(&m->s, m->d, &model_frontier_options,
                              exact_set_upto(m->set), visit, m));
    ck_ok(page_store_open(&m->p, m->d));
}

static inline void model_open(struct model *m, const char *path,
                              enum db_mode mode)
{
    model_open_with(m, path, mode, model_replay);
}

static inline void model_close(struct model *m)
{
    page_store_close(m->p);
    frontier_store_close(m->s);
    exact_set_close(m->set);
    db_close(m->d);
    m->d = NULL;
}

static inline void model_init(struct model *m, uint32_t hosts,
                              uint32_t most_admit, uint32_t pages)
{
    *m = (struct model){.random = 42,
                        .hosts = hosts,
                        .most_admit = most_admit,
                        .pages = pages};
    m->random_after[0] = m->random;
    m->queue = calloc(MODEL_URLS + 1, sizeof *m->queue);
    m->admitted_tx = calloc(MODEL_URLS + 1, sizeof *m->admitted_tx);
    m->done_tx = calloc(MODEL_URLS + 1, sizeof *m->done_tx);
    m->done = calloc(MODEL_URLS + 1, 1);
    m->tries = calloc(MODEL_URLS + 1, 1);
    m->try_log = calloc(MODEL_URLS + 1, sizeof *m->try_log);
}

static inline void model_free(struct model *m)
{
    free(m->queue);
    free(m->admitted_tx);
    free(m->done_tx);
    free(m->done);
    free(m->tries);
    free(m->try_log);
}

/* ---- a run ---- */

/* Picks low host numbers for most of the URLs. */
static inline void model_admit(struct model *m)
{
    uint32_t host = (uint32_t)(scratch_below(&m->random, m->hosts) *
                               scratch_below(&m->random, m->hosts) / m->hosts) +
                    1;
    char url[128], key[32];
    uint64_t id = 0;
    struct url_row row = {
        .depth = (uint32_t)(m->n % 7),
        .hops = (uint16_t)(m->n % 3),
        .kind = (uint8_t)(m->n % 26),
        .flags = m->n == 0 ? URL_ROW_SEED : 0,
        .via = m->n / 2,
        .found_at_ms = 1700000000000 + (int64_t)m->n,
    };

    SAME(m->n < MODEL_URLS, true);
    snprintf(key, sizeof key, "host%u.example", host);
    SAME(frontier_store_queue(m->s, bytes_of_str("c"), bytes_of_str(key),
                              &row.queue),
         STATUS_OK);
    row.url = model_url(url, m->n + 1, row.queue);
    SAME(frontier_store_admit(m->s, &row, &id), STATUS_OK);
    SAME(id, ++m->n);
    exact_set_add(m->set, scratch_digest(id), id);
    m->queue[id] = row.queue;
    m->admitted_tx[id] = m->tx;
    if (row.queue > m->queues)
        m->queues = row.queue;
}

static inline void model_fetch(struct model *m, uint64_t id, bool final)
{
    struct fetch_row row = {.url = id,
                            .final = final,
                            .status = 1,
                            .mime = bytes_of_str("text/html")};
    uint64_t seq = 0;

    SAME(page_store_add(m->p, &row, &seq), STATUS_OK);
    if (final) {
        SAME(frontier_store_done(m->s, id, seq), STATUS_OK);
        m->done[id] = 1;
        m->done_tx[id] = m->tx;
        m->tries[id] = 0;
    } else {
        m->tries[id]++;
        m->try_log[m->try_count++] = (struct model_try){m->tx, id};
        if (m->try_count > m->try_total)
            m->try_total = m->try_count;
        SAME(frontier_store_set_tries(m->s, id, m->tries[id], (int64_t)id * 10),
             STATUS_OK);
    }
}

/* Takes some ids of a queue, as the frontier would, and finishes most of
 * them. */
static inline void model_crawl(struct model *m, uint32_t queue, uint64_t after)
{
    uint64_t ids[16];
    size_t n = 0;

    SAME(frontier_store_refill(m->s, queue, after, ids, 16, &n), STATUS_OK);
    for (size_t i = 0; i < n; i++) {
        SAME(ids[i] > after, true);
        SAME(m->done[ids[i]], 0);
        SAME(m->queue[ids[i]], queue);
        if (scratch_below(&m->random, 10) < 8)
            model_fetch(m, ids[i], scratch_below(&m->random, 8) != 0);
    }
}

static inline void model_transaction(struct model *m)
{
    uint64_t before = m->n;
    uint64_t admit = scratch_below(&m->random, m->most_admit);

    m->tx++;
    SAME(db_begin(m->d), STATUS_OK);
    for (uint64_t i = 0; i < admit; i++)
        model_admit(m);
    for (uint32_t i = 0; i < m->pages && m->queues > 0; i++)
        model_crawl(m, 1 + (uint32_t)scratch_below(&m->random, m->queues),
                    i % 3 == 0 ? scratch_below(&m->random, m->n) : 0);
    frontier_store_add(m->s, "transactions", 1);
    frontier_store_drop(m->s, "scope", bytes_of_str("elsewhere.example"),
                        bytes_of_str("http://elsewhere.example/"), m->n, 0);
    SAME(exact_set_step(m->set, m->n - before), STATUS_OK);
    SAME(frontier_store_step(m->s), STATUS_OK);
    SAME(db_commit(m->d), STATUS_OK);
    m->random_after[m->tx] = m->random;
}

/* Rewinds the model to its state after transaction `tx` of the run. */
static inline void model_rewind(struct model *m, uint32_t tx)
{
    m->tx = tx;
    m->random = m->random_after[tx];
    m->n = 0;
    m->queues = 0;
    while (m->n < MODEL_URLS && m->admitted_tx[m->n + 1] > 0 &&
           m->admitted_tx[m->n + 1] <= tx) {
        m->n++;
        if (m->queue[m->n] > m->queues)
            m->queues = m->queue[m->n];
    }
    memset(m->tries, 0, MODEL_URLS + 1);
    for (m->try_count = 0;
         m->try_count < m->try_total && m->try_log[m->try_count].tx <= tx;
         m->try_count++)
        m->tries[m->try_log[m->try_count].id]++;
    for (uint64_t id = 1; id <= MODEL_URLS; id++) {
        m->done[id] = m->done_tx[id] > 0 && m->done_tx[id] <= tx;
        if (m->done[id])
            m->tries[id] = 0;
    }
}

/* ---- comparing ---- */

/* Walks every queue from its beginning and compares it with the model. */
static inline void model_compare_queues(struct model *m)
{
    uint64_t *next = calloc((size_t)m->n + 2, sizeof *next);
    uint64_t *heads = calloc((size_t)m->queues + 1, sizeof *heads);
    uint64_t pending = 0;

    for (uint64_t id = m->n; id >= 1; id--) {
        if (m->done[id])
            continue;
        next[id] = heads[m->queue[id]];
        heads[m->queue[id]] = id;
    }
    for (uint32_t q = 1; q <= m->queues; q++) {
        uint64_t after = 0, want = heads[q], count = 0, ids[37];
        size_t n = 1;

        while (n > 0) {
            SAME(frontier_store_refill(m->s, q, after, ids, 37, &n), STATUS_OK);
            for (size_t i = 0; i < n; i++, want = next[want], count++) {
                SAME(ids[i], want);
                after = want;
            }
        }
        SAME(want, 0);
        SAME(frontier_store_pending(m->s, q), count);
        pending += count;
    }
    SAME(frontier_store_pending_all(m->s), pending);
    free(next);
    free(heads);
}

static void model_compare_row(void *ctx, const struct url_row *row)
{
    struct model *m = ctx;
    char url[128];

    ck_assert(
        bytes_equal(row->url, model_url(url, row->id, m->queue[row->id])));
    SAME(row->queue, m->queue[row->id]);
    SAME(row->depth, (row->id - 1) % 7);
    SAME(row->hops, (row->id - 1) % 3);
    SAME(row->kind, (row->id - 1) % 26);
    SAME(row->flags, row->id == 1 ? URL_ROW_SEED : 0);
    SAME(row->via, (row->id - 1) / 2);
    SAME(row->found_at_ms, 1700000000000 + (int64_t)row->id - 1);
}

static void model_compare_tries(void *ctx, uint64_t id, uint32_t tries,
                                int64_t due_ms)
{
    struct model *m = ctx;

    SAME(m->done[id], 0);
    SAME(m->tries[id], tries);
    SAME(due_ms, (int64_t)id * 10);
}

static inline void model_compare_set(struct model *m)
{
    struct digest *digests = calloc(m->n + 100, sizeof *digests);
    uint64_t *ids = calloc(m->n + 100, sizeof *ids);

    for (uint64_t i = 0; i < m->n + 100; i++)
        digests[i] = scratch_digest(i + 1);
    SAME(exact_set_find(m->set, digests, m->n + 100, ids), STATUS_OK);
    for (uint64_t i = 0; i < m->n + 100; i++)
        SAME(ids[i], i < m->n ? i + 1 : 0);
    free(digests);
    free(ids);
}

static inline void model_compare(struct model *m)
{
    struct url_row row;
    struct buf text, again;
    uint64_t state = 5;
    int64_t found_at_ms = 0;

    SAME(frontier_store_last_id(m->s), m->n);
    for (uint64_t id = 1; id <= m->n; id++)
        SAME(frontier_store_is_done(m->s, id), m->done[id]);
    model_compare_queues(m);
    model_compare_set(m);
    SAME(frontier_store_each(m->s, 1, m->n, model_compare_row, m), STATUS_OK);
    SAME(frontier_store_each_tries(m->s, model_compare_tries, m), STATUS_OK);
    buf_init(&text, 4096);
    buf_init(&again, 4096);
    for (int i = 0; m->n > 0 && i < 100; i++) {
        uint64_t id = 1 + scratch_below(&state, m->n);

        SAME(frontier_store_get(m->s, id, &row, &text), STATUS_OK);
        model_compare_row(m, &row);
        SAME(frontier_store_get_url(m->s, id, &again, &found_at_ms), STATUS_OK);
        ck_assert(bytes_equal(buf_bytes(&again), row.url));
        SAME(found_at_ms, row.found_at_ms);
    }
    SAME(frontier_store_get(m->s, m->n + 1, &row, &text), STATUS_NOT_FOUND);
    SAME(frontier_store_get_url(m->s, m->n + 1, &again, &found_at_ms),
         STATUS_NOT_FOUND);
    buf_fini(&text);
    buf_fini(&again);
    SAME(frontier_store_counter(m->s, "transactions"), m->tx);
    SAME(frontier_store_verify(m->s), STATUS_OK);
    SAME(exact_set_verify(m->set), STATUS_OK);
}

#endif
