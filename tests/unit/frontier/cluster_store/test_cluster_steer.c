/* SPDX-License-Identifier: MIT */
/* test_cluster_steer.c - settings, pauses and stops of all workers. */
#include "frontier/cluster/cluster_orders.h"
#include "frontier/cluster_check/cluster_find.h"
#include "frontier/cluster_store/cluster_steer.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "tests/unit/frontier/cluster_store/cluster_rig.h"

static struct cluster_store *join(void)
{
    struct redis_address a;
    const struct cluster_store_options o = rig_options(&a);
    struct cluster_store *s = NULL;
    struct buf error;

    buf_init(&error, 4096);
    ck_ok(cluster_store_open(&s, &o, &error));
    buf_fini(&error);
    return s;
}

static enum status set(struct cluster_store *s, uint64_t version,
                       const char *text, uint64_t *now)
{
    return cluster_store_set(s, version, bytes_of_str(text), now);
}

TIMEOUT(120);
FIXTURE(rig_begin, rig_end);

TEST(of_two_changes_at_once_one_is_refused)
{
    struct cluster_store *s, *t;
    uint64_t now = 0;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert_uint_eq(cluster_store_version(s), 1);
    ck_ok(set(s, 1, "delay: 2s", &now));
    ck_assert_uint_eq(now, 2);
    ck_assert_int_eq(set(s, 1, "delay: 3s", &now), STATUS_AGAIN);
    /* The same once more, as after a reply that was lost. */
    ck_ok(set(s, 1, "delay: 2s", &now));
    ck_assert_uint_eq(now, 2);
    t = join();
    ck_assert_uint_eq(cluster_store_version(t), 2);
    ck_assert(bytes_is(cluster_store_settings(t), "delay: 2s"));
    cluster_store_close(t);
    cluster_store_close(s);
}

struct heard {
    bool ended;
    enum status st;
    struct cluster_wanted w;
};

static void note(void *ctx, enum status st, const struct cluster_wanted *w)
{
    *(struct heard *)ctx = (struct heard){true, st, *w};
}

static struct cluster_wanted ask(struct cluster_store *s)
{
    struct heard h = {0};

    cluster_store_tell(s, "aa", bytes_of_str("{}"), note, &h);
    while (!h.ended)
        cluster_store_turn(s, NS_PER_S);
    ck_ok(h.st);
    return h.w;
}

TEST(a_pause_is_for_those_that_come_later_too)
{
    struct cluster_store *s, *t;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert(!ask(s).paused);
    ck_ok(cluster_store_pause(s, true));
    ck_assert(ask(s).paused);
    t = join();
    ck_assert(cluster_store_is_paused(t));
    ck_ok(cluster_store_pause(s, false));
    ck_assert(!ask(t).paused);
    cluster_store_close(t);
    cluster_store_close(s);
}

TEST(a_stop_is_for_those_that_were_there)
{
    struct cluster_store *s, *t;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert(!ask(s).stopped);
    ck_ok(cluster_store_stop(s));
    ck_assert(ask(s).stopped);
    t = join();
    ck_assert(!ask(t).stopped);
    ck_ok(cluster_store_stop(s));
    ck_assert(ask(t).stopped);
    cluster_store_close(t);
    cluster_store_close(s);
}

TEST(a_crawl_that_is_gone_is_not_made_by_an_order)
{
    struct cluster_store *s;
    uint64_t now;

    NEEDS_SERVER;
    s = rig_create(4);
    (void)redis_server_do(&server, "FLUSHALL");
    ck_assert_int_eq(cluster_store_pause(s, true), STATUS_NOT_FOUND);
    ck_assert_int_eq(cluster_store_stop(s), STATUS_NOT_FOUND);
    ck_assert_int_eq(set(s, 1, "delay: 2s", &now), STATUS_AGAIN);
    ck_assert_int_eq(redis_server_do(&server, "DBSIZE"), 0);
    cluster_store_close(s);
}

TEST(orders_wait_until_they_are_carried_out)
{
    struct cluster_orders *o = cluster_orders_new();
    struct cluster_order order;
    struct buf text;

    buf_init(&text, 1024);
    cluster_orders_look(o, &order, &text);
    ck_assert(!order.paused && !order.stopped);
    ck_assert_uint_eq(order.version, 0);
    cluster_orders_hear_settings(o, 3, bytes_of_str("delay: 2s"));
    cluster_orders_hear(o, true, true);
    cluster_orders_hear(o, false, false); /* a stop is not taken back */
    for (int i = 0; i < 2; i++) {
        buf_clear(&text);
        cluster_orders_look(o, &order, &text);
        ck_assert(!order.paused && order.stopped);
        ck_assert_uint_eq(order.version, 3);
        ck_assert_str_eq(buf_str(&text), "delay: 2s");
    }
    ck_assert_uint_eq(cluster_orders_in_force(o), 0);
    cluster_orders_done(o, 3);
    ck_assert_uint_eq(cluster_orders_in_force(o), 3);
    cluster_orders_look(o, &order, &text);
    ck_assert_uint_eq(order.version, 0);
    buf_fini(&text);
    cluster_orders_free(o);
}

static int64_t soon_due(struct cluster_store *s)
{
    struct rig_leases l;

    return (int64_t)rig_lease(s, &l, 10);
}

static enum status block(struct cluster_store *s, struct bytes host, int64_t ms)
{
    return cluster_store_set_host(s, host, CLUSTER_HOST_BLOCK, ms, 0);
}

TEST(a_blocked_host_gives_out_nothing)
{
    struct cluster_store *s;
    struct rig_leases l;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert_uint_eq(rig_put(s, 0, 6, 2), 6);
    for (int i = 0; i < 2; i++) /* once more: nothing else */
        ck_ok(block(s, bytes_of_str("h0"), 1000000));
    ck_assert_uint_eq(rig_lease(s, &l, 10), 1);
    ck_assert_str_eq(l.lease[0].host, "h1");
    ck_assert(!rig_ack(s, &l, 0, 0, "", -1));
    ck_ok(block(s, bytes_of_str("h1"), 1000000));
    ck_assert_int_eq(soon_due(s), 0);
    for (int i = 0; i < 2; i++)
        ck_ok(block(s, bytes_of_str("h0"), 0));
    ck_assert_uint_eq(rig_lease(s, &l, 10), 1);
    ck_assert_str_eq(l.lease[0].host, "h0");
    /* One of a host that nobody knows is not made. */
    ck_ok(block(s, bytes_of_str("h9"), 0));
    ck_assert_int_eq(soon_due(s), 0);
    cluster_store_close(s);
}

static void set_host(struct cluster_store *s, enum cluster_host_setting what,
                     int64_t value)
{
    for (int i = 0; i < 2; i++) /* once more: nothing else */
        ck_ok(cluster_store_set_host(s, bytes_of_str("h0"), what, value, 200));
}

/* ms until h0 is due by its not-before, about. */
static int64_t waits_for(struct cluster_store *s)
{
    struct rig_url u;
    struct cluster_found f;

    rig_url_make(&u, s, 0, 1);
    ck_ok(cluster_store_find(s, u.url.host, &u.url.digest, u.url.item, &f));
    return f.host_ms;
}

TEST(a_delay_of_a_host_is_in_force_at_once)
{
    struct cluster_store *s;
    struct rig_leases l;
    int64_t ms;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert_uint_eq(rig_put(s, 0, 6, 1), 6);
    ck_assert_uint_eq(rig_lease(s, &l, 1), 1);
    ck_assert_int_eq(l.lease[0].delay_ms, -1);
    set_host(s, CLUSTER_HOST_DELAY, 500000); /* while it is leased */
    ck_assert(!rig_ack(s, &l, 0, 200, "", -1));
    ms = waits_for(s);
    ck_assert(ms > 400000 && ms <= 500000);
    set_host(s, CLUSTER_HOST_DELAY, 900000); /* while it waits */
    ms = waits_for(s);
    ck_assert(ms > 800000 && ms <= 900000);
    set_host(s, CLUSTER_HOST_DELAY, 1);
    while (rig_lease(s, &l, 1) == 0)
        ck_assert_int_le(waits_for(s), 1);
    ck_assert_int_eq(l.lease[0].delay_ms, 1);
    ck_assert(!rig_ack(s, &l, 0, 600000, "", -1)); /* its robots.txt, say */
    set_host(s, CLUSTER_HOST_DELAY, -1);
    ck_assert_int_gt(waits_for(s), 500000); /* stays */
    cluster_store_close(s);
}

TEST(a_host_at_its_limit_gives_out_nothing)
{
    struct cluster_store *s;
    struct rig_leases l;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert_uint_eq(rig_put(s, 0, 6, 1), 6);
    ck_assert_uint_eq(rig_lease(s, &l, 1), 1);
    ck_assert(!rig_ack(s, &l, 0, 0, "", -1));
    set_host(s, CLUSTER_HOST_LIMIT, 2); /* of which one is done */
    ck_assert_uint_eq(rig_lease(s, &l, 1), 1);
    ck_assert(!rig_ack(s, &l, 0, 0, "item 1", -1)); /* once more */
    ck_assert_uint_eq(rig_lease(s, &l, 1), 1);
    ck_assert(!rig_ack(s, &l, 0, 0, "", -1));
    ck_assert_int_eq(soon_due(s), 0);
    cluster_store_ask_again(s); /* a new worker */
    while (cluster_store_pending(s) > 0)
        cluster_store_turn(s, NS_PER_S);
    ck_assert_int_eq(soon_due(s), 0);
    set_host(s, CLUSTER_HOST_LIMIT, 3);
    ck_assert_uint_eq(rig_lease(s, &l, 1), 1);
    ck_assert(!rig_ack(s, &l, 0, 500000, "", -1));
    set_host(s, CLUSTER_HOST_LIMIT, -1); /* its pause holds */
    ck_assert_int_eq(soon_due(s), 0);
    ck_assert_int_gt(waits_for(s), 400000);
    ck_assert_uint_eq(rig_count(s).done, 3);
    cluster_store_close(s);
}

/* A new worker makes due what was given up; a pause that runs is not over. */
TEST(a_host_at_its_limit_keeps_its_pause_when_it_is_asked_again)
{
    struct cluster_store *s;
    struct rig_leases l;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert_uint_eq(rig_put(s, 0, 6, 1), 6);
    set_host(s, CLUSTER_HOST_LIMIT, 1);
    ck_assert_uint_eq(rig_lease(s, &l, 1), 1);
    ck_assert(!rig_ack(s, &l, 0, 300, "", -1));
    while (waits_for(s) < 1000)
        ck_assert_int_eq(soon_due(s), 0); /* until it is found at its limit */
    set_host(s, CLUSTER_HOST_DELAY, 500000);
    cluster_store_ask_again(s);
    while (cluster_store_pending(s) > 0)
        cluster_store_turn(s, NS_PER_S);
    set_host(s, CLUSTER_HOST_LIMIT, -1);
    ck_assert_int_gt(waits_for(s), 400000);
    ck_assert_int_eq(soon_due(s), 0);
    cluster_store_close(s);
}
