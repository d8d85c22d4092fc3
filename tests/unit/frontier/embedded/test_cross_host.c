/* SPDX-License-Identifier: MIT */
/*
 * test_cross_host.c - a URL whose request goes to another host, as happens when
 * its robots.txt redirects there: the other host must not be asked sooner, more
 * often or twice at once because of it.
 */

#include "frontier/embedded/removal.h"
#include "tests/unit/frontier/engine_rig.h"
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
    ck_assert_int_eq(rig_put(r, rig_item(r, url)), ENGINE_NEW);
}

/* Leases what is due now; id 0: nothing is. */
static struct engine_lease lease(struct rig *r)
{
    struct engine_lease l = {.id = 0};
    size_t n = 0;

    ck_ok(r->e->ops->lease(r->e, 1, r->now, RIG_WALL, &l, &n));
    return n > 0 ? l : (struct engine_lease){.id = 0};
}

/* Gives the lease back. With `asked`, its request has just ended there; its
 * next request goes to `robots_host`, "" for its own host. */
static void give_back(struct rig *r, uint64_t id, bool asked,
                      const char *robots_host)
{
    const struct engine_host_news news = {.ended = asked ? r->now : 0,
                                          .crawl_delay_ms = -2,
                                          .retry_after_ms = -1,
                                          .robots_host =
                                              bytes_of_str(robots_host)};

    ck_ok(r->e->ops->release(r->e, id, 0, &news, r->now, RIG_WALL));
}

static void done(struct rig *r, uint64_t id)
{
    rig_ack(r, id, (struct outcome){OUTCOME_FETCHED, REASON_NONE, 200}, NULL,
            0);
}

/* A URL of a.test needs b.test, and both were asked just now. */
static struct engine_lease both_were_asked(struct rig *r)
{
    struct engine_lease a, b, none;

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

TEST(a_cross_host_request_waits_for_the_delay_of_its_host_and_starts_it)
{
    struct rig r;
    struct engine_lease a, v;

    start(&r, DELAY, QUEUE_KEY_HOST);
    put(&r, "http://a.test/1");
    a = lease(&r);
    r.now += DELAY / 2;
    put(&r, "http://b.test/1");
    done(&r, lease(&r).id);
    give_back(&r, a.id, true, "b.test");
    r.now += DELAY - 1;
    ck_assert_uint_eq(lease(&r).id, 0);
    r.now++;
    v = lease(&r);
    ck_assert_uint_eq(v.id, a.id);
    ck_assert(bytes_is(v.robots_host, "b.test"));
    ck_assert(bytes_is(v.key, "a.test"));
    put(&r, "http://b.test/2");
    r.now += 5 * DELAY; /* while it is leased, nothing of b.test is due */
    ck_assert_uint_eq(lease(&r).id, 0);
    give_back(&r, v.id, true, "");
    ck_assert_uint_eq(lease(&r).id, a.id); /* its own host was not asked */
    r.now += DELAY - 1;
    ck_assert_uint_eq(lease(&r).id, 0);
    r.now++;
    ck_assert_uint_eq(lease(&r).id, 3);
    rig_fini(&r);
}

/* Before its robots.txt was read, the host was asked for it by --delay. */
TEST(a_crawl_delay_that_stands_at_another_host_holds_at_once)
{
    struct engine_host_news news = {.crawl_delay_ms = 7 * DELAY / NS_PER_MS,
                                    .retry_after_ms = -1};
    struct rig r;
    struct engine_lease a, v;

    start(&r, DELAY, QUEUE_KEY_HOST);
    put(&r, "http://a.test/1");
    a = lease(&r);
    give_back(&r, a.id, true, "b.test");
    r.now += DELAY;
    v = lease(&r);
    ck_assert(bytes_is(v.robots_host, "b.test"));
    news.ended = r.now;
    ck_ok(r.e->ops->release(r.e, v.id, 0, &news, r.now, RIG_WALL));
    r.now += 6 * DELAY - 1; /* and one that has passed */
    ck_assert_uint_eq(lease(&r).id, 0);
    r.now += DELAY + 1;
    ck_assert_uint_eq(lease(&r).id, a.id);
    rig_fini(&r);
}

TEST(a_host_that_nobody_has_a_url_of_keeps_its_delay_between_requests)
{
    struct rig r;
    struct engine_lease a, c;

    start(&r, DELAY, QUEUE_KEY_HOST);
    put(&r, "http://a.test/1");
    put(&r, "http://c.test/1");
    a = lease(&r);
    c = lease(&r);
    give_back(&r, a.id, false, "robots.test");
    give_back(&r, c.id, false, "robots.test");
    r.now += DELAY; /* of their own */
    a = lease(&r);
    ck_assert(bytes_is(a.robots_host, "robots.test"));
    ck_assert_uint_eq(lease(&r).id, 0);
    r.now += NS_PER_S;
    give_back(&r, a.id, true, "");
    r.now += DELAY - 1;
    c = lease(&r); /* a.test was not asked */
    ck_assert_uint_eq(c.id, a.id);
    ck_assert_uint_eq(c.robots_host.len, 0);
    ck_assert_uint_eq(lease(&r).id, 0);
    r.now++;
    c = lease(&r);
    ck_assert_uint_ne(c.id, a.id);
    ck_assert(bytes_is(c.robots_host, "robots.test"));
    rig_fini(&r);
}

TEST(nothing_of_a_host_goes_out_while_one_of_its_urls_waits_for_another_host)
{
    struct rig r;
    struct engine_lease a;

    start(&r, DELAY, QUEUE_KEY_HOST);
    a = both_were_asked(&r);
    put(&r, "http://a.test/2");
    ck_ok(r.e->ops->block(r.e, r.o.crawl, bytes_of_str("b.test"),
                          r.now + 100 * DELAY, r.now, RIG_WALL));
    r.now += DELAY;
    ck_assert_uint_eq(lease(&r).id, 0);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, NULL), r.now + 99 * DELAY);
    /* Lifting the block of b.test lets it go on. */
    ck_ok(r.e->ops->block(r.e, r.o.crawl, bytes_of_str("b.test"), 0, r.now,
                          RIG_WALL));
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
    ck_ok(r.e->ops->block(r.e, r.o.crawl, bytes_of_str("b.test"),
                          r.now + 100 * DELAY, r.now, RIG_WALL));
    r.now += DELAY;
    ck_assert_uint_eq(lease(&r).id, 0);
    ck_ok(
        r.e->ops->removal_begin(r.e, bytes_of_str("a.test"), INT64_MAX, &gone));
    while (!over)
        ck_ok(r.e->ops->removal_step(r.e, &gone, 100, r.now, RIG_WALL, &over));
    ck_assert_uint_eq(gone.gone, 1);
    put(&r, "http://a.test/2");
    ck_assert_uint_eq(lease(&r).id, 3);
    rig_fini(&r);
}

TEST(what_the_other_host_says_holds_for_it_also_across_a_restart)
{
    struct engine_host_news busy = {.crawl_delay_ms = -2,
                                    .slow_down = true,
                                    .retry_after_ms = 3600000};
    struct rig r;
    struct engine_lease a, v;

    start(&r, DELAY, QUEUE_KEY_HOST);
    a = both_were_asked(&r);
    put(&r, "http://b.test/2");
    put(&r, "http://a.test/2");
    do {
        r.now += NS_PER_S;
        v = lease(&r);
        if (v.id == 3) /* a URL of b.test, which was due just as long */
            done(&r, v.id);
    } while (v.id != a.id);
    ck_assert(bytes_is(v.robots_host, "b.test"));
    busy.ended = r.now;
    ck_ok(r.e->ops->release(r.e, v.id, 0, &busy, r.now, RIG_WALL));
    put(&r, "http://b.test/3");
    rig_commit(&r);
    rig_reopen(&r);
    r.now += DELAY;
    for (int i = 0; i < 2; i++) { /* a.test goes on */
        v = lease(&r);
        ck_assert(bytes_is(v.key, "a.test"));
        done(&r, v.id);
        ck_assert_uint_eq(lease(&r).id, 0);
        r.now += DELAY;
    }
    r.now += 4000 * NS_PER_S;
    ck_assert(bytes_is(lease(&r).key, "b.test"));
    rig_fini(&r);
}

/* A host without delay is never idle by itself. */
TEST(a_host_without_delay_makes_room_for_a_cross_host_request)
{
    enum { URLS = 1000 };
    static const enum queue_key_mode groups[] = {QUEUE_KEY_HOST,
                                                 QUEUE_KEY_DOMAIN};

    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        struct rig r;
        struct engine_lease a, l, next;
        unsigned others = 0;
        char url[64];

        start(&r, 0, groups[g]);
        put(&r, "http://a.test/1");
        a = lease(&r);
        for (int i = 0; i < URLS; i++) {
            snprintf(url, sizeof url, "http://www%d.b.test/%d", i % 2, i);
            put(&r, url);
        }
        l = lease(&r);
        give_back(&r, a.id, true, "www0.b.test");
        do { /* as soon as one ends, the next one starts */
            r.now += NS_PER_MS;
            next = lease(&r);
            if (l.id != 0) {
                done(&r, l.id);
                others++;
            }
            l = next.id != 0 ? next : lease(&r);
        } while (l.id != a.id && others < URLS);
        ck_assert_uint_eq(l.id, a.id);
        ck_assert(bytes_is(l.robots_host, "www0.b.test"));
        ck_assert_uint_lt(others, URLS);
        rig_fini(&r);
    }
}

TEST(two_hosts_whose_robots_are_at_each_other_do_not_wait_for_ever)
{
    struct rig r;
    struct engine_lease a, b;
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
        struct engine_lease l = {.id = 0};

        while (l.id == 0) {
            due = r.e->ops->next_due(r.e, r.now, NULL);
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

struct model {
    struct rig r;
    uint32_t random;
    struct {
        struct engine_lease lease;
        unsigned asks; /* the host that receives its request */
    } out[HOSTS * EACH];
    size_t out_count;
    bool busy[HOSTS];
    int64_t ended[HOSTS]; /* per host, or per domain */
    unsigned crossings, finished;
    bool by_domain;
};

static unsigned chance(struct model *m, unsigned n)
{
    m->random = m->random * 1664525u + 1013904223u;
    return (m->random >> 16) % n;
}

/* Hosts 0, 2 and 4 belong to one domain, 1, 3 and 5 to another. */
static void name_of(char *out, size_t size, unsigned host)
{
    snprintf(out, size, "h%u.d%u.test", host, host % 2);
}

static unsigned host_of(struct bytes key)
{
    return (unsigned)(key.at[1] - '0');
}

static unsigned place_of(const struct model *m, unsigned host)
{
    return m->by_domain ? host % 2 : host;
}

static void take_leases(struct model *m)
{
    struct engine_lease l;

    while ((l = lease(&m->r)).id != 0) {
        unsigned own = host_of(l.key);
        unsigned asks = l.robots_host.len > 0 ? host_of(l.robots_host) : own;
        unsigned at = place_of(m, asks);

        ck_assert_msg(!m->busy[at], "host %u asked twice at once", asks);
        ck_assert_msg(m->ended[at] == 0 || m->r.now >= m->ended[at] + NS_PER_S,
                      "host %u asked too early", asks);
        m->busy[at] = true;
        m->crossings += l.robots_host.len > 0;
        m->out[m->out_count].lease = l;
        m->out[m->out_count++].asks = asks;
    }
}

static void end_one(struct model *m)
{
    size_t i = chance(m, (unsigned)m->out_count);
    struct engine_lease l = m->out[i].lease;
    unsigned at = place_of(m, m->out[i].asks);
    char next[32] = "";

    m->out[i] = m->out[--m->out_count];
    m->busy[at] = false;
    m->ended[at] = m->r.now;
    if (chance(m, 3) == 0)
        name_of(next, sizeof next, chance(m, HOSTS));
    if (l.robots_host.len > 0 || next[0] != '\0') {
        give_back(&m->r, l.id, true, next);
    } else {
        done(&m->r, l.id);
        m->finished++;
    }
}

static void agree(bool by_domain)
{
    static struct model m;
    char host[32], url[64];

    memset(&m, 0, sizeof m);
    m.random = 42;
    m.by_domain = by_domain;
    start(&m.r, NS_PER_S, by_domain ? QUEUE_KEY_DOMAIN : QUEUE_KEY_HOST);
    for (unsigned i = 0; i < HOSTS * EACH; i++) {
        name_of(host, sizeof host, i % HOSTS);
        snprintf(url, sizeof url, "http://%s/%u", host, i);
        put(&m.r, url);
    }
    for (int step = 0; step < STEPS && m.finished < HOSTS * EACH; step++) {
        m.r.now += chance(&m, 400) * NS_PER_MS;
        take_leases(&m);
        if (m.out_count > 0 && chance(&m, 2) == 0)
            end_one(&m);
    }
    ck_assert_uint_eq(m.finished, HOSTS * EACH);
    ck_assert_uint_gt(m.crossings, HOSTS);
    rig_fini(&m.r);
}

TEST(no_host_is_asked_twice_at_once_or_too_early_as_a_plain_model_says)
{
    agree(false);
}

TEST(nor_is_a_domain_where_politeness_goes_by_it)
{
    agree(true);
}
