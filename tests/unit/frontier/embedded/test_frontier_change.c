/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_change.c - options that change while the frontier is open, and
 * which hosts it lists for a person.
 */
#include "tests/unit/frontier/engine_rig.h"

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};

/* One connection a host, and this delay. */
static void begin(struct rig *r, int64_t delay)
{
    rig_init(r);
    r->o.conns_per_host = 1;
    r->o.schedule.delay = delay;
    r->o.schedule.max_delay = 3600 * NS_PER_S;
    rig_create(r);
}

/* ---- hosts ---- */

static struct engine_host_row rows[8];

static size_t hosts(struct rig *r, enum engine_host_order by, size_t most)
{
    bool all = false;
    size_t n = r->e->ops->hosts(r->e, by, most, r->now, rows, &all);

    ck_assert(all);
    return n;
}

static void ack_after(struct rig *r, uint64_t id, uint32_t elapsed_ms)
{
    struct engine_done d = {
        .id = id,
        .outcome = fetched,
        .row = {.at_ms = RIG_WALL, .elapsed_ms = elapsed_ms},
        .host = {.ended = r->now, .crawl_delay_ms = -2, .retry_after_ms = -1},
    };

    ck_ok(r->e->ops->ack(r->e, &d, 1, r->now, RIG_WALL));
}

TEST(hosts_are_told_in_the_order_asked_for)
{
    struct rig r;

    begin(&r, 3600 * NS_PER_S);
    ck_assert_uint_eq(hosts(&r, ENGINE_HOSTS_BIGGEST, 8), 0);
    rig_seed(&r, "http://small.test/1");
    rig_seed(&r, "http://small.test/2");
    rig_seed(&r, "http://big.test/1");
    rig_seed(&r, "http://big.test/2");
    rig_seed(&r, "http://big.test/3");
    ck_assert_uint_eq(hosts(&r, ENGINE_HOSTS_BIGGEST, 8), 2);
    ck_assert(bytes_is(rows[0].host, "big.test"));
    ck_assert_uint_eq(rows[0].queued, 3);
    ck_assert_int_eq(rows[0].state, ENGINE_HOST_READY);
    ck_assert_uint_eq(hosts(&r, ENGINE_HOSTS_SLOWEST, 8), 0);
    ack_after(&r, rig_lease(&r), 100);
    ck_assert_uint_eq(hosts(&r, ENGINE_HOSTS_SLOWEST, 8), 1);
    ck_assert_int_eq(rows[0].state, ENGINE_HOST_WAITING);
    ck_assert_int_eq(rows[0].due, r.now + 3600 * NS_PER_S);
    ck_assert_uint_eq(rows[0].latency_us, 100001);
    ck_assert_uint_eq(rows[0].fetched, 1);
    ack_after(&r, rig_lease(&r), 4);
    ck_assert_uint_eq(hosts(&r, ENGINE_HOSTS_SLOWEST, 1), 1);
    ck_assert_uint_eq(rows[0].latency_us, 100001);
    ck_assert_uint_eq(hosts(&r, ENGINE_HOSTS_BLOCKED, 8), 0);
    ck_ok(r.e->ops->block(r.e, r.o.crawl, bytes_of_str("small.test"),
                          r.now + 60 * NS_PER_S, r.now, RIG_WALL));
    ck_assert_uint_eq(hosts(&r, ENGINE_HOSTS_BLOCKED, 8), 1);
    ck_assert(bytes_is(rows[0].host, "small.test"));
    ck_assert_int_eq(rows[0].state, ENGINE_HOST_BLOCKED);
    ck_assert_str_eq(rows[0].why, "operator");
    rig_fini(&r);
}

TEST(the_biggest_of_many_hosts_are_found)
{
    struct rig r;
    char url[64];

    begin(&r, 0);
    for (int host = 0; host < 50; host++)
        for (int page = 0; page <= (host * 7) % 50; page++) {
            snprintf(url, sizeof url, "http://h%d.test/%d", host, page);
            rig_seed(&r, url);
        }
    ck_assert_uint_eq(hosts(&r, ENGINE_HOSTS_BIGGEST, 3), 3);
    ck_assert_uint_eq(rows[0].queued, 50);
    ck_assert_uint_eq(rows[1].queued, 49);
    ck_assert_uint_eq(rows[2].queued, 48);
    rig_fini(&r);
}
