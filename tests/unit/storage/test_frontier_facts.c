/* SPDX-License-Identifier: MIT */
/* test_frontier_facts.c - counters, drops, queue states, steps, small facts. */
#include "storage/frontier_store.h"
#include "storage/rows/drops.h"
#include "tests/unit/storage/store_model.h"

static int64_t number(struct model *m, const char *sql)
{
    int64_t v = -1;

    ck_ok(db_number(m->d, sql, &v));
    return v;
}

static void commit(struct model *m)
{
    ck_ok(db_begin(m->d));
    ck_ok(frontier_store_step(m->s));
    ck_ok(db_commit(m->d));
}

static void skip(struct model *m, const char *reason, const char *host,
                 uint64_t i)
{
    char url[64];

    snprintf(url, sizeof url, "http://%s/%llu", host, (unsigned long long)i);
    frontier_store_drop(m->s, reason, bytes_of_str(host), bytes_of_str(url), i,
                        (int64_t)i);
}

static void begin(struct model *m, struct scratch *dir)
{
    *dir = scratch_make();
    model_init(m, 1, 1, 0);
    model_open(m, dir->db, DB_CREATE);
}

static void reopen(struct model *m, const struct scratch *dir)
{
    model_close(m);
    model_open(m, dir->db, DB_WRITE);
}

static void end(struct model *m, const struct scratch *dir)
{
    model_close(m);
    model_free(m);
    scratch_remove(dir);
}

TEST(drops_are_counted_by_reason_and_host_to_the_last_one)
{
    struct scratch dir;
    struct model m;
    uint64_t n = 0;

    begin(&m, &dir);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 357; i++, n++) {
            char host[32];

            snprintf(host, sizeof host, "h%llu.example",
                     (unsigned long long)(n * n % 101));
            skip(&m, n % 3 == 0 ? "depth" : "scope", host, n);
        }
        commit(&m);
        if (round % 3 == 1)
            reopen(&m, &dir);
    }
    ck_assert_int_eq(number(&m, "SELECT sum(count) FROM drops"), 3570);
    ck_assert_int_eq(number(&m, "SELECT sum(total) FROM drop_reason"), 3570);
    ck_assert_int_eq(number(&m, "SELECT sum(count) FROM drops"
                                " WHERE reason = 'depth'"),
                     1190);
    /* h0 is used when n squared modulo 101 is 0, so when 101 divides n */
    ck_assert_int_eq(number(&m, "SELECT sum(count) FROM drops"
                                " WHERE host = 'h0.example'"),
                     (3570 + 100) / 101);
    ck_assert_int_eq(number(&m, "SELECT count(*) FROM (SELECT 1 FROM drops"
                                " GROUP BY reason, host HAVING count(*) > 1)"),
                     0);
    end(&m, &dir);
}

TEST(the_latest_thousand_drops_of_each_reason_are_kept)
{
    struct scratch dir;
    struct model m;

    begin(&m, &dir);
    for (uint64_t i = 1; i <= 4500; i++) {
        skip(&m, "scope", "a.example", i);
        if (i <= 10)
            skip(&m, "depth", "b.example", i);
        if (i % 700 == 0 || i == 4500)
            commit(&m);
        if (i == 2100)
            reopen(&m, &dir);
    }
    ck_assert_int_eq(number(&m, "SELECT count(*) FROM drop_examples"
                                " WHERE reason = 'scope'"),
                     DROPS_EXAMPLES);
    ck_assert_int_eq(number(&m, "SELECT min(via) FROM drop_examples"
                                " WHERE reason = 'scope'"),
                     4500 - DROPS_EXAMPLES + 1);
    ck_assert_int_eq(number(&m, "SELECT count(*) FROM drop_examples"
                                " WHERE reason = 'depth'"),
                     10);
    ck_assert_int_eq(number(&m, "SELECT count(*) FROM drop_examples"
                                " WHERE url = 'http://a.example/4321'"),
                     1);
    end(&m, &dir);
}

TEST(of_more_drops_than_are_kept_in_one_commit_the_latest_are_kept)
{
    struct scratch dir;
    struct model m;

    begin(&m, &dir);
    for (uint64_t i = 1; i <= 3500; i++) {
        skip(&m, "scope", "a.example", i);
        if (i == 500 || i == 3500)
            commit(&m);
    }
    ck_assert_int_eq(number(&m, "SELECT count(*) FROM drop_examples"),
                     DROPS_EXAMPLES);
    ck_assert_int_eq(number(&m, "SELECT min(via) FROM drop_examples"),
                     3500 - DROPS_EXAMPLES + 1);
    ck_assert_int_eq(number(&m, "SELECT max(via) FROM drop_examples"), 3500);
    ck_assert_int_eq(number(&m, "SELECT total FROM drop_reason"), 3500);
    end(&m, &dir);
}

/* As long as they come, and the place of a short one is used again. */
TEST(an_example_keeps_the_beginning_of_a_long_host_and_url)
{
    struct scratch dir;
    struct model m;
    char host[300], url[3000];

    begin(&m, &dir);
    memset(host, 'h', sizeof host);
    memset(url, 'u', sizeof url);
    skip(&m, "scope", "short", 1);
    for (int i = 0; i < DROPS_EXAMPLES; i++)
        frontier_store_drop(m.s, "scope", bytes_of(host, sizeof host),
                            bytes_of(url, sizeof url), 2, 2);
    commit(&m);
    ck_assert_int_eq(number(&m, "SELECT count(*) FROM drop_examples"
                                " WHERE length(host) = 255"
                                " AND length(url) = 2048"),
                     DROPS_EXAMPLES);
    ck_assert_int_eq(number(&m, "SELECT count(*) FROM drop_examples"
                                " WHERE trim(host, 'h') || trim(url, 'u')"
                                " != ''"),
                     0);
    end(&m, &dir);
}

TEST(hosts_without_end_are_counted_together_past_a_ceiling)
{
    struct scratch dir;
    struct model m;

    begin(&m, &dir);
    for (uint64_t i = 0; i < DROPS_HOSTS + 500; i++) {
        char host[32];

        snprintf(host, sizeof host, "h%llu", (unsigned long long)i);
        skip(&m, "scope", host, i);
        if (i % 20000 == 0)
            commit(&m);
    }
    commit(&m);
    reopen(&m, &dir);
    skip(&m, "scope", "never-seen", 1);
    skip(&m, "scope", "h7", 1);
    commit(&m);
    ck_assert_int_eq(number(&m, "SELECT count FROM drops WHERE host = ''"),
                     501);
    ck_assert_int_eq(number(&m, "SELECT count FROM drops WHERE host = 'h7'"),
                     2);
    ck_assert_int_eq(number(&m, "SELECT count(*) FROM drops"), DROPS_HOSTS + 1);
    end(&m, &dir);
}

TEST(counters_are_kept_and_unknown_ones_are_zero)
{
    struct scratch dir;
    struct model m;

    begin(&m, &dir);
    frontier_store_add(m.s, "pages", 5);
    frontier_store_add(m.s, "pages", 6);
    frontier_store_add(m.s, "nothing", 0);
    frontier_store_add(m.s, "large", UINT64_C(1) << 60);
    ck_assert_uint_eq(frontier_store_counter(m.s, "pages"), 11);
    commit(&m);
    reopen(&m, &dir);
    ck_assert_uint_eq(frontier_store_counter(m.s, "pages"), 11);
    ck_assert_uint_eq(frontier_store_counter(m.s, "large"), UINT64_C(1) << 60);
    ck_assert_uint_eq(frontier_store_counter(m.s, "other"), 0);
    ck_assert_int_eq(number(&m, "SELECT count(*) FROM counter"), 2);
    end(&m, &dir);
}

static void same_state(void *ctx, uint32_t queue,
                       const struct queue_state *state)
{
    uint32_t *seen = ctx;

    ck_assert_uint_eq(queue, ++*seen);
    ck_assert_int_eq(state->blocked_until_ms, 1000 * (int64_t)queue);
    ck_assert_int_eq(state->delay_ms, (int64_t)queue - 2);
    ck_assert_uint_eq(state->backoffs, queue + 1);
    ck_assert_uint_eq(state->failures, queue + 2);
    ck_assert_uint_eq(state->fetched, queue + 3);
    ck_assert_str_eq(state->reason, queue == 2 ? "retry_after" : "");
}

TEST(the_state_of_a_queue_is_remembered)
{
    static const uint32_t order[] = {3, 1, 2, 1};
    struct scratch dir;
    struct model m;
    uint32_t seen = 0;

    begin(&m, &dir);
    ck_ok(db_begin(m.d));
    for (uint32_t q = 1; q <= 3; q++) {
        char key[16];
        uint32_t queue = 0;

        snprintf(key, sizeof key, "q%u", q);
        ck_ok(frontier_store_queue(m.s, bytes_of_str(""), bytes_of_str(key),
                                   &queue));
    }
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        uint32_t q = order[i];
        struct queue_state state = {
            .blocked_until_ms = 1000 * (int64_t)q,
            .delay_ms = (int64_t)q - 2,
            .backoffs = q + 1,
            .failures = q + 2,
            .fetched = q + 3,
        };

        strcpy(state.reason, q == 2 ? "retry_after" : "");
        ck_ok(frontier_store_set_queue_state(m.s, q, &state));
        ck_assert_int_eq(frontier_store_set_queue_state(m.s, 4, &state),
                         STATUS_ARG);
    }
    ck_ok(db_commit(m.d));
    reopen(&m, &dir);
    ck_ok(frontier_store_each_queue_state(m.s, same_state, &seen));
    ck_assert_uint_eq(seen, 3);
    end(&m, &dir);
}

static void same_place(void *ctx, uint32_t queue, struct bytes address)
{
    uint32_t *seen = ctx;

    ck_assert_uint_eq(queue, 1);
    ck_assert(bytes_is(address, "192.0.2.2"));
    ++*seen;
}

TEST(where_a_host_stands_is_remembered)
{
    struct scratch dir;
    struct model m;
    struct buf text;
    uint32_t queue = 0, seen = 0;

    begin(&m, &dir);
    buf_init(&text, 64);
    ck_ok(db_begin(m.d));
    ck_ok(frontier_store_queue(m.s, bytes_of_str(""), bytes_of_str("a.test"),
                               &queue));
    ck_assert_int_eq(frontier_store_place(m.s, queue, &text), STATUS_NOT_FOUND);
    ck_ok(frontier_store_set_place(m.s, queue, bytes_of_str("192.0.2.1")));
    ck_ok(frontier_store_set_place(m.s, queue, bytes_of_str("192.0.2.2")));
    ck_ok(db_commit(m.d));
    reopen(&m, &dir);
    ck_ok(frontier_store_place(m.s, queue, &text));
    ck_assert_str_eq(buf_str(&text), "192.0.2.2");
    ck_ok(frontier_store_each_place(m.s, same_place, &seen));
    ck_assert_uint_eq(seen, 1);
    buf_fini(&text);
    end(&m, &dir);
}

TEST(small_facts_may_be_any_octets)
{
    struct scratch dir;
    struct model m;
    struct buf b;

    begin(&m, &dir);
    buf_init(&b, 1000);
    ck_assert_int_eq(frontier_store_meta(m.s, "absent", &b), STATUS_NOT_FOUND);
    ck_ok(frontier_store_set_meta(m.s, "k", bytes_of("a\0b", 3)));
    ck_ok(frontier_store_set_meta(m.s, "empty", bytes_of("", 0)));
    reopen(&m, &dir);
    ck_ok(frontier_store_meta(m.s, "k", &b));
    ck_assert(bytes_equal(buf_bytes(&b), bytes_of("a\0b", 3)));
    buf_clear(&b);
    ck_ok(frontier_store_meta(m.s, "empty", &b));
    ck_assert_uint_eq(b.len, 0);
    ck_ok(frontier_store_meta(m.s, "store_id", &b));
    ck_assert_uint_eq(b.len, 32);
    buf_fini(&b);
    end(&m, &dir);
}

static void same_step(void *ctx, const struct filter_step *step)
{
    uint64_t *n = ctx;

    ++*n;
    ck_assert_uint_eq(step->upto, *n * 10);
    ck_assert_uint_eq(step->keys, *n * 9);
    ck_assert_uint_eq(step->bits, *n * 144);
    ck_assert(step->promised == 0.001 && step->predicted == 0.0005);
    ck_assert_uint_eq(step->asked, *n * 100);
    ck_assert_uint_eq(step->maybe, *n * 50);
    ck_assert_uint_eq(step->false_positives, *n);
}

TEST(the_steps_of_the_filter_come_back_in_order)
{
    struct scratch dir;
    struct model m;
    uint64_t n = 0;

    begin(&m, &dir);
    for (uint64_t i = 1; i <= 20; i++) {
        struct filter_step step = {i * 10, i * 9,   i * 144, 0.001,
                                   0.0005, i * 100, i * 50,  i};

        ck_ok(frontier_store_add_step(m.s, &step));
    }
    reopen(&m, &dir);
    ck_ok(frontier_store_each_step(m.s, same_step, &n));
    ck_assert_uint_eq(n, 20);
    end(&m, &dir);
}
