/* SPDX-License-Identifier: MIT */
/* test_frontier_facts.c - counters, drops, queue states, steps, small facts. */
#include "storage/frontier_store.h"
#include "storage/frontier_store_impl.h"
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

/* Promise 8: Every drop has a reason. See also `tests/cli/explain.sh`,
 * `tests/cli/export.sh`,
 * `frontier_facts/the_latest_thousand_drops_of_each_reason_are_kept`,
 * `fetcher_links/each_link_is_an_item_once_or_a_drop_with_its_reason`,
 * `outcome/every_number_has_a_word_of_its_own`. */
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
