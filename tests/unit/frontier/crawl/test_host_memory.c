/* SPDX-License-Identifier: MIT */
/*
 * test_host_memory.c - hosts that rest because their memory is short: nothing
 * that a crawl promises depends on it.
 */
#include "tests/unit/frontier/crawl/crawl_sim.h"

static const struct host_table *hosts_of(const struct sim *s)
{
    return &((const struct frontier *)s->e)->hosts;
}

/* Adds `count` URLs of one host each. */
static void put_hosts(struct sim *s, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++) {
        char key[64], url[64];
        struct url_item item = {.depth = 1};

        snprintf(key, sizeof key, "n%u.test", i);
        snprintf(url, sizeof url, "http://n%u.test/", i);
        item.key = bytes_of_str(key);
        item.url = bytes_of_str(url);
        item.digest = digest_url(frontier_get_digest_key(s->e), s->o.crawl,
                                 item.key, item.url);
        ck_ok(frontier_put(s->e, 0, &item, 1, wall(s), NULL));
    }
}

static void commit(struct sim *s)
{
    ck_ok(frontier_turn(s->e, true, s->now, wall(s), NULL));
}

FIXTURE(make_dir, remove_dir);

TEST(nor_does_it_lose_any_over_crashes)
{
    static struct sim s;

    start_resting(&s, 5 * NS_PER_MS);
    while (step(&s))
        if (rnd(&s) % 12 == 0)
            crash(&s);
    ck_assert_uint_gt(s.crashes, 50);
    check_all_fetched(&s);
    finish(&s);
}

TEST(no_more_hosts_wake_than_are_asked)
{
    static struct sim s;
    struct url_lease l[10];
    size_t n;

    start_resting(&s, 0);
    commit(&s);
    put_hosts(&s, 0, 500);
    commit(&s);
    for (unsigned i = 1; i <= 5; i++) {
        ck_ok(frontier_lease(s.e, 3, s.now, wall(&s), l, &n));
        ck_assert_uint_eq(n, 3);
        ck_assert_uint_le(hosts_of(&s)->awake, 3 * i + 1);
    }
    frontier_close(s.e);
}

TEST(a_longer_delay_holds_for_hosts_that_rest)
{
    static struct sim s;
    struct schedule_options slower;

    start_resting(&s, 5 * NS_PER_MS);
    for (int i = 0; i < 100; i++)
        (void)step(&s);
    s.now += NS_PER_S;
    commit(&s);
    ck_assert_uint_gt(hosts_of(&s)->resting, HOSTS / 2);
    for (int i = 0; i < HOSTS; i++) /* the last moment at which it was asked */
        if (s.ended[i] >= 0)
            s.ended[i] = s.now - 5 * NS_PER_MS;
    slower = s.o.schedule;
    slower.delay = s.delay = 50 * NS_PER_MS;
    frontier_set_schedule(s.e, &slower, s.now);
    while (step(&s))
        ;
    check_all_fetched(&s);
    finish(&s);
}

TEST(a_hundred_thousand_hosts_take_little_beyond_their_names)
{
    enum { MANY = 100000, AT_ONCE = 5000 };
    static struct sim s;
    struct frontier_counts st;
    const struct frontier *f;

    start(&s, NS_PER_S);
    s.o.store.memory = UINT64_C(8) << 20;
    frontier_close(s.e);
    reopen(&s);
    for (unsigned i = 0; i < MANY; i += AT_ONCE) {
        put_hosts(&s, i, AT_ONCE);
        commit(&s);
    }
    f = (const struct frontier *)s.e;
    ck_assert_uint_gt(hosts_of(&s)->resting, MANY - 3 * AT_ONCE);
    ck_assert_uint_lt(frontier_host_memory(f), UINT64_C(8) << 20);
    frontier_get_counts(s.e, &st);
    ck_assert_uint_eq(st.queues_active, MANY + 1);
    ck_assert_uint_eq(st.queued, MANY + 1);
    crash(&s);
    ck_assert_uint_gt(hosts_of(&s)->resting, MANY - 3 * AT_ONCE);
    frontier_get_counts(s.e, &st);
    ck_assert_uint_eq(st.queues_active, MANY + 1);
    frontier_close(s.e);
}

Suite *suite_host_memory(void);
