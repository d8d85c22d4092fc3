/* SPDX-License-Identifier: MIT */
/*
 * test_cross_host.c - a URL whose request goes to another host, as happens when
 * its robots.txt redirects there: the other host must not be asked sooner, more
 * often or twice at once because of it.
 */

#include "tests/unit/frontier/frontier_rig.h"
#include "tests/unit/unit.h"

#define DELAY (10 * NS_PER_S)

static void start(struct rig *r, int64_t delay, enum queue_key_mode group)
{
    rig_init(r);
    r->o.schedule.delay = delay;
    r->o.schedule.max_delay = 60 * NS_PER_S;
    r->o.schedule.max_crawl_delay = 300 * NS_PER_S;
    r->o.conns_per_host = 1;
    r->o.in_flight = 2000; /* nothing is committed, and that counts */
    r->o.group = group;
    rig_create(r);
}

static void put(struct rig *r, const char *url)
{
    ck_assert_int_eq(rig_put(r, rig_item(r, url)), PUT_NEW);
}

/* Leases what is due now; id 0: nothing is. */
static struct url_lease lease(struct rig *r)
{
    struct url_lease l = {.id = 0};
    size_t n = 0;

    ck_ok(frontier_lease(r->e, 1, r->now, RIG_WALL, &l, &n));
    return n > 0 ? l : (struct url_lease){.id = 0};
}

/* Gives the lease back. With `asked`, its request has just ended there; its
 * next request goes to `robots_host`, "" for its own host. */
static void give_back(struct rig *r, uint64_t id, bool asked,
                      const char *robots_host)
{
    const struct host_news news = {.ended = asked ? r->now : 0,
                                   .retry_after_ms = -1,
                                   .robots_host = bytes_of_str(robots_host)};

    ck_ok(frontier_release(r->e, id, 0, &news, r->now, RIG_WALL));
}

static void done(struct rig *r, uint64_t id)
{
    rig_ack(r, id, (struct outcome){OUTCOME_FETCHED, REASON_NONE, 200}, NULL,
            0);
}

/* A URL of a.test needs b.test, and both were asked just now. */
static struct url_lease both_were_asked(struct rig *r)
{
    struct url_lease a, b, none;

    put(r, "http://a.test/1");
    a = lease(r);
    put(r, "http://b.test/1");
    b = lease(r);
    ck_assert_uint_eq(b.id, 2);
    give_back(r, a.id, true, "b.test");
    done(r, b.id);
    none = lease(r);
    ck_assert_uint_eq(none.id, 0);
    return a;
}

/* Before its robots.txt was read, the host was asked for it by --delay. */
TEST(a_crawl_delay_that_stands_at_another_host_holds_at_once)
{
    struct host_news news = {.robots_read = true,
                             .crawl_delay_ms = 7 * DELAY / NS_PER_MS,
                             .retry_after_ms = -1};
    struct rig r;
    struct url_lease a, v;

    start(&r, DELAY, QUEUE_KEY_HOST);
    put(&r, "http://a.test/1");
    a = lease(&r);
    give_back(&r, a.id, true, "b.test");
    r.now += DELAY;
    v = lease(&r);
    ck_assert(bytes_is(v.robots_host, "b.test"));
    news.ended = r.now;
    ck_ok(frontier_release(r.e, v.id, 0, &news, r.now, RIG_WALL));
    r.now += 6 * DELAY - 1; /* and one that has passed */
    ck_assert_uint_eq(lease(&r).id, 0);
    r.now += DELAY + 1;
    ck_assert_uint_eq(lease(&r).id, a.id);
    rig_fini(&r);
}

TEST(a_url_that_is_removed_makes_its_host_wait_no_longer)
{
    struct removal gone;
    struct rig r;
    bool over = false;

    start(&r, DELAY, QUEUE_KEY_HOST);
    (void)both_were_asked(&r);
    ck_ok(frontier_block(r.e, bytes_of_str("b.test"), r.now + 100 * DELAY,
                         r.now, RIG_WALL));
    r.now += DELAY;
    ck_assert_uint_eq(lease(&r).id, 0);
    ck_ok(removal_begin(r.e, bytes_of_str("a.test"), INT64_MAX, &gone));
    while (!over)
        ck_ok(removal_step(r.e, &gone, 100, r.now, RIG_WALL, &over));
    ck_assert_uint_eq(gone.gone, 1);
    put(&r, "http://a.test/2");
    ck_assert_uint_eq(lease(&r).id, 3);
    rig_fini(&r);
}

TEST(two_hosts_whose_robots_are_at_each_other_do_not_wait_for_ever)
{
    struct rig r;
    struct url_lease a, b;
    unsigned crossings = 0;
    int64_t due;

    start(&r, DELAY, QUEUE_KEY_HOST);
    put(&r, "http://a.test/1");
    put(&r, "http://b.test/1");
    a = lease(&r);
    b = lease(&r);
    give_back(&r, a.id, true, "b.test");
    give_back(&r, b.id, true, "a.test");
    for (int i = 0; i < 4; i++) {
        struct url_lease l = {.id = 0};

        while (l.id == 0) {
            due = frontier_next_due(r.e, r.now, NULL);
            ck_assert_int_lt(due, r.now + 2 * DELAY);
            r.now = due > r.now ? due : r.now + 1;
            l = lease(&r);
        }
        r.now += NS_PER_S;
        if (l.robots_host.len > 0) {
            give_back(&r, l.id, true, "");
            crossings++;
        } else {
            done(&r, l.id);
        }
    }
    ck_assert_uint_eq(crossings, 2);
    rig_fini(&r);
}

/* ---- a plain model ---- */

enum { HOSTS = 6, EACH = 12, STEPS = 20000 };
