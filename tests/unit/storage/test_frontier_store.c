/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_store.c - the store against a plain model: an array of URLs,
 * each with its queue and what became of it.
 */
#include "storage/frontier_store.h"
#include "storage/page_store.h"
#include "tests/unit/storage/scratch.h"

#define MOST_URLS 400000

struct model {
    struct db *d;
    struct frontier_store *s;
    struct page_store *p;
    uint64_t n; /* URLs admitted */
    uint32_t queues;
    uint32_t *queue; /* of id */
    unsigned char *done, *tries;
    uint64_t random;
};

static const struct frontier_store_options options = {0};

static void url_text(char *out, size_t size, uint64_t id, uint32_t queue)
{
    snprintf(out, size, "http://host%u.example%s/page/%llu?x=%llu", queue,
             id % 5 == 0 ? ":8080" : "", (unsigned long long)id,
             (unsigned long long)(id * 7919));
}

static void model_open(struct model *m, const char *path, enum db_mode mode)
{
    m->d = scratch_open(path, mode);
    ck_assert_int_eq(frontier_store_open(&m->s, m->d, &options, 0, NULL, NULL),
                     STATUS_OK);
    ck_assert_int_eq(page_store_open(&m->p, m->d), STATUS_OK);
}

static void model_close(struct model *m)
{
    page_store_close(m->p);
    frontier_store_close(m->s);
    db_close(m->d);
    m->d = NULL;
}

static struct model model_make(const struct scratch *dir)
{
    struct model m = {.random = 42};

    m.queue = calloc(MOST_URLS + 1, sizeof *m.queue);
    m.done = calloc(MOST_URLS + 1, 1);
    m.tries = calloc(MOST_URLS + 1, 1);
    model_open(&m, dir->db, DB_CREATE);
    return m;
}

static void model_free(struct model *m)
{
    free(m->queue);
    free(m->done);
    free(m->tries);
}

/* Low queue numbers get most of the URLs. */
static void admit_one(struct model *m, uint32_t hosts)
{
    uint32_t host = (uint32_t)(scratch_below(&m->random, hosts) *
                               scratch_below(&m->random, hosts) / hosts) +
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

    snprintf(key, sizeof key, "host%u.example", host);
    ck_assert_int_eq(frontier_store_queue(m->s, bytes_of_str("c"),
                                          bytes_of_str(key), &row.queue),
                     STATUS_OK);
    url_text(url, sizeof url, m->n + 1, row.queue);
    row.url = bytes_of_str(url);
    ck_assert_int_eq(frontier_store_admit(m->s, &row, &id), STATUS_OK);
    ck_assert_uint_eq(id, ++m->n);
    m->queue[id] = row.queue;
    if (row.queue > m->queues)
        m->queues = row.queue;
}

static void fetch_one(struct model *m, uint64_t id, bool final)
{
    struct fetch_row row = {.url = id, .final = final, .status = 1};
    uint64_t seq = 0;

    ck_assert_int_eq(page_store_add(m->p, &row, &seq), STATUS_OK);
    if (final) {
        ck_assert_int_eq(frontier_store_done(m->s, id, seq), STATUS_OK);
        m->done[id] = 1;
        m->tries[id] = 0;
    } else {
        m->tries[id]++;
        ck_assert_int_eq(frontier_store_set_tries(m->s, id, m->tries[id],
                                                  (int64_t)id * 10),
                         STATUS_OK);
    }
}

/* Takes some ids of a queue, as the frontier would, and finishes most. */
static void crawl_some(struct model *m, uint32_t queue, uint64_t after)
{
    uint64_t ids[16];
    size_t n = 0;

    ck_assert_int_eq(frontier_store_refill(m->s, queue, after, ids, 16, &n),
                     STATUS_OK);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_gt(ids[i], after);
        ck_assert(!m->done[ids[i]]);
        ck_assert_uint_eq(m->queue[ids[i]], queue);
        if (scratch_below(&m->random, 10) < 8)
            fetch_one(m, ids[i], scratch_below(&m->random, 8) != 0);
    }
}

static void transaction(struct model *m, uint32_t hosts, uint32_t admit,
                        uint32_t pages)
{
    ck_assert_int_eq(db_begin(m->d), STATUS_OK);
    for (uint32_t i = 0; i < admit; i++)
        admit_one(m, hosts);
    for (uint32_t i = 0; i < pages && m->queues > 0; i++)
        crawl_some(m, 1 + (uint32_t)scratch_below(&m->random, m->queues),
                   i % 3 == 0 ? scratch_below(&m->random, m->n) : 0);
    frontier_store_add(m->s, "transactions", 1);
    ck_assert_int_eq(frontier_store_step(m->s), STATUS_OK);
    ck_assert_int_eq(db_commit(m->d), STATUS_OK);
}

/* Every queue, walked from its beginning, is what the model says. */
static void compare_queues(struct model *m)
{
    uint64_t *next = calloc((size_t)m->n + 2, sizeof *next);
    uint64_t *heads = calloc((size_t)m->queues + 1, sizeof *heads);
    uint64_t pending = 0;

    for (uint64_t id = m->n; id >= 1; id--) {
        next[id] = heads[m->queue[id]];
        heads[m->queue[id]] = id;
    }
    for (uint32_t q = 1; q <= m->queues; q++) {
        uint64_t after = 0, want = heads[q], count = 0, ids[37];
        size_t n = 1;

        while (n > 0) {
            ck_assert_int_eq(frontier_store_refill(m->s, q, after, ids, 37, &n),
                             STATUS_OK);
            for (size_t i = 0; i < n; i++, want = next[want], count++) {
                while (want != 0 && m->done[want])
                    want = next[want];
                ck_assert_uint_eq(ids[i], want);
                after = want;
            }
        }
        while (want != 0 && m->done[want])
            want = next[want];
        ck_assert_uint_eq(want, 0);
        ck_assert_uint_eq(frontier_store_pending(m->s, q), count);
        pending += count;
    }
    ck_assert_uint_eq(frontier_store_pending_all(m->s), pending);
    free(next);
    free(heads);
}

static void compare_row(void *ctx, const struct url_row *row)
{
    struct model *m = ctx;
    char url[128];

    url_text(url, sizeof url, row->id, m->queue[row->id]);
    ck_assert(bytes_is(row->url, url));
    ck_assert_uint_eq(row->queue, m->queue[row->id]);
    ck_assert_uint_eq(row->depth, (row->id - 1) % 7);
    ck_assert_uint_eq(row->hops, (row->id - 1) % 3);
    ck_assert_uint_eq(row->kind, (row->id - 1) % 26);
    ck_assert_uint_eq(row->flags, row->id == 1 ? URL_ROW_SEED : 0);
    ck_assert_uint_eq(row->via, (row->id - 1) / 2);
    ck_assert_int_eq(row->found_at_ms, 1700000000000 + (int64_t)row->id - 1);
}

static void compare_tries(void *ctx, uint64_t id, uint32_t tries,
                          int64_t due_ms)
{
    struct model *m = ctx;

    ck_assert(!m->done[id]);
    ck_assert_uint_eq(m->tries[id], tries);
    ck_assert_int_eq(due_ms, (int64_t)id * 10);
}

static void compare(struct model *m)
{
    struct url_row row;
    struct buf text;

    ck_assert_uint_eq(frontier_store_last_id(m->s), m->n);
    for (uint64_t id = 1; id <= m->n; id++)
        ck_assert_int_eq(frontier_store_is_done(m->s, id), m->done[id]);
    compare_queues(m);
    ck_assert_int_eq(frontier_store_each(m->s, 1, m->n, compare_row, m),
                     STATUS_OK);
    ck_assert_int_eq(frontier_store_each_tries(m->s, compare_tries, m),
                     STATUS_OK);
    buf_init(&text, 4096);
    for (int i = 0; i < 100; i++) {
        uint64_t id = 1 + scratch_below(&m->random, m->n);

        ck_assert_int_eq(frontier_store_get(m->s, id, &row, &text), STATUS_OK);
        compare_row(m, &row);
    }
    ck_assert_int_eq(frontier_store_get(m->s, m->n + 1, &row, &text),
                     STATUS_NOT_FOUND);
    buf_fini(&text);
    ck_assert_int_eq(frontier_store_verify(m->s), STATUS_OK);
}

START_TEST(agrees_with_a_plain_model_over_random_operations)
{
    struct scratch dir = scratch_make();
    struct model m = model_make(&dir);
    uint64_t rounds = scratch_size(60, 600);

    for (uint64_t i = 0; i < rounds; i++)
        transaction(&m, 300, (uint32_t)scratch_below(&m.random, 1200), 40);
    compare(&m);
    model_close(&m);
    model_open(&m, dir.db, DB_WRITE);
    compare(&m);
    model_close(&m);
    model_free(&m);
    scratch_remove(&dir);
}
END_TEST

/* What is on disk at any moment, taken as a power cut would leave it, holds
 * every transaction that was committed. */
START_TEST(a_crash_loses_nothing_that_was_committed)
{
    struct scratch dir = scratch_make();
    struct model m = model_make(&dir);

    for (int i = 0; i < 80; i++) {
        transaction(&m, 100, 700, 30);
        if (i % 9 == 8) {
            struct model after = m;

            scratch_crash_copy(&dir);
            model_open(&after, dir.other, DB_WRITE);
            compare(&after);
            ck_assert_uint_eq(frontier_store_counter(after.s, "transactions"),
                              i + 1);
            model_close(&after);
        }
    }
    model_close(&m);
    model_free(&m);
    scratch_remove(&dir);
}
END_TEST

Suite *suite_frontier_store(void)
{
    Suite *s = suite_create("frontier_store");
    TCase *t = tcase_create("frontier_store");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, agrees_with_a_plain_model_over_random_operations);
    tcase_add_test(t, a_crash_loses_nothing_that_was_committed);
    suite_add_tcase(s, t);
    return s;
}
