/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_budget.c - what is over the budget of its host or registrable
 * domain waits, over crashes and until the budget is raised.
 */
#include "frontier/url/host.h"
#include "tests/unit/frontier/engine_rig.h"

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};
static const struct outcome moved = {OUTCOME_FAILED, REASON_TIMEOUT, 0};

static void seeds(struct rig *r, const char *host, int n)
{
    char url[64];

    for (int i = 0; i < n; i++) {
        snprintf(url, sizeof url, "http://%s/%d", host, i);
        rig_seed(r, url);
    }
}

static size_t lease(struct rig *r, size_t most, struct engine_lease *out)
{
    size_t n = 0;

    r->now += 10 * NS_PER_S;
    ck_ok(r->e->ops->lease(r->e, most, r->now, rig_wall(r), out, &n));
    return n;
}

/* The name of the budget that the host is over; "": none. */
static const char *why(struct rig *r, const char *host)
{
    struct engine_host_row rows[16];
    bool all;
    size_t n =
        r->e->ops->hosts(r->e, ENGINE_HOSTS_BIGGEST, 16, r->now, rows, &all);

    for (size_t i = 0; i < n; i++)
        if (bytes_is(rows[i].host, host))
            return rows[i].why;
    return "no such host";
}

/* A crash after a commit loses nothing that was acknowledged. */
static void crash(struct rig *r)
{
    rig_turn(r);
    rig_crash(r);
}

TEST(a_domain_has_one_budget_for_all_its_hosts)
{
    struct engine_lease l[16];
    struct rig r;

    rig_init(&r);
    r.o.budgets.domain_pages = 3;
    rig_create(&r);
    seeds(&r, "a.one.test", 4);
    seeds(&r, "b.one.test", 4);
    seeds(&r, "two.test", 2);
    ck_assert_uint_eq(lease(&r, 16, l), 5); /* three of one.test */
    for (int i = 0; i < 5; i++)
        rig_ack(&r, l[i].id, fetched, NULL, 0);
    ck_assert_uint_eq(lease(&r, 16, l), 0);
    ck_assert_uint_eq(rig_stats(&r).withheld, 5);
    ck_assert_str_eq(why(&r, "a.one.test"), "per-domain");
    crash(&r);
    ck_assert_uint_eq(lease(&r, 16, l), 0);
    ck_assert_uint_eq(rig_stats(&r).withheld, 5);
    r.o.budgets.domain_pages = 5;
    r.e->ops->set_limits(r.e, 0, &r.o.budgets);
    ck_assert_uint_eq(lease(&r, 16, l), 2);
    r.o.budgets.domain_pages = 0;
    crash(&r);
    ck_assert_uint_eq(lease(&r, 16, l), 5);
    ck_assert_uint_eq(rig_stats(&r).withheld, 0);
    rig_fini(&r);
}

/* What was leased and became no page is left for another host of the domain,
 * also where its own host has nothing left to spend. */
TEST(what_becomes_no_page_is_left_for_the_other_hosts)
{
    struct engine_done d = {
        .outcome = moved,
        .row = {.at_ms = RIG_WALL, .wire_bytes = 100},
        .host = {.ended = 1, .crawl_delay_ms = -2, .retry_after_ms = -1},
    };
    struct engine_lease l[16];
    struct rig r;

    rig_init(&r);
    r.o.budgets = (struct budgets){.domain_pages = 1, .host_octets = 100};
    rig_create(&r);
    seeds(&r, "a.one.test", 2);
    seeds(&r, "b.one.test", 2);
    ck_assert_uint_eq(lease(&r, 16, l), 1);
    ck_assert(bytes_is(l[0].key, "a.one.test"));
    d.id = l[0].id;
    ck_ok(r.e->ops->ack(r.e, &d, 1, r.now, RIG_WALL));
    ck_assert_str_eq(why(&r, "a.one.test"), "per-host-bytes");
    ck_assert_uint_eq(lease(&r, 16, l), 1);
    ck_assert(bytes_is(l[0].key, "b.one.test"));
    rig_fini(&r);
}

TEST(a_host_is_asked_for_no_more_once_so_many_octets_have_come)
{
    struct engine_done d = {
        .outcome = fetched,
        .row = {.at_ms = RIG_WALL, .wire_bytes = 60},
        .host = {.ended = 1, .crawl_delay_ms = -2, .retry_after_ms = -1},
    };
    struct rig r;

    rig_init(&r);
    r.o.budgets.host_octets = 100;
    r.o.conns_per_host = 1;
    rig_create(&r);
    seeds(&r, "a.test", 5);
    for (int i = 0; i < 2; i++) {
        crash(&r);
        d.id = rig_lease(&r);
        ck_assert_uint_ne(d.id, 0);
        ck_ok(r.e->ops->ack(r.e, &d, 1, r.now, RIG_WALL));
    }
    ck_assert_uint_eq(rig_lease(&r), 0);
    ck_assert_uint_eq(rig_stats(&r).withheld, 3);
    ck_assert_str_eq(why(&r, "a.test"), "per-host-bytes");
    r.o.budgets.host_octets = 121;
    r.e->ops->set_limits(r.e, 0, &r.o.budgets);
    ck_assert_uint_ne(rig_lease(&r), 0);
    rig_fini(&r);
}

/* A page that is to be fetched once more is no page until then. */
TEST(a_page_that_is_tried_again_is_not_counted_twice_over_a_kill)
{
    static const struct outcome gone = {OUTCOME_FAILED, REASON_HTTP, 404};
    struct failed_retry retry = {.reason_count = 0};
    bool over = false;
    struct rig r;

    rig_init(&r);
    r.o.budgets.host_pages = 2;
    rig_create(&r);
    seeds(&r, "a.test", 3);
    rig_ack(&r, rig_lease(&r), gone, NULL, 0);
    rig_ack(&r, rig_lease(&r), fetched, NULL, 0);
    ck_assert_uint_eq(rig_lease(&r), 0);
    crash(&r);
    while (!over)
        ck_ok(r.e->ops->retry_failed(r.e, &retry, 10, r.now, RIG_WALL, &over));
    ck_assert_uint_eq(retry.queued, 1);
    crash(&r);
    ck_assert_uint_ne(rig_lease(&r), 0);
    ck_assert_uint_eq(rig_lease(&r), 0);
    rig_fini(&r);
}

/* Fetches all that may be, as pages that link to `to`; returns their number. */
static unsigned pages_that_link(struct rig *r, const char *to)
{
    struct engine_item item = rig_item(r, to);
    unsigned n = 0;

    for (uint64_t id; (id = rig_lease(r)) != 0; n++)
        rig_ack(r, id, fetched, &item, 1);
    return n;
}

TEST(a_share_grows_with_the_domains_that_link_to_the_host)
{
    static const char big[] = "http://www.big.test/0";
    struct rig r;

    rig_init(&r);
    r.o.budgets = (struct budgets){.host_pages = 2, .inlinks = true};
    rig_create(&r);
    seeds(&r, "www.big.test", 9);
    seeds(&r, "img.big.test", 1);
    /* Links of its own domain say nothing. */
    ck_assert_uint_eq(pages_that_link(&r, big), 2 + 1);
    ck_assert_str_eq(why(&r, "www.big.test"), "per-host");
    seeds(&r, "a.one.test", 1);
    ck_assert_uint_eq(pages_that_link(&r, big), 1 + 2);
    crash(&r);
    seeds(&r, "b.one.test", 1); /* nor does another host of one.test */
    ck_assert_uint_eq(pages_that_link(&r, big), 1);
    crash(&r);
    seeds(&r, "two.test", 1);
    ck_assert_uint_eq(pages_that_link(&r, big), 1 + 2);
    ck_assert_uint_eq(rig_stats(&r).withheld, 3);
    r.o.budgets.inlinks = false; /* the known domains count no longer */
    r.e->ops->set_limits(r.e, 0, &r.o.budgets);
    ck_assert_uint_eq(pages_that_link(&r, big), 0);
    r.o.budgets = (struct budgets){.domain_pages = 2, .inlinks = true};
    crash(&r); /* a domain has the sources of its hosts: 3 x 2, and spent 7 */
    ck_assert_uint_eq(pages_that_link(&r, big), 0);
    r.o.budgets.domain_pages = 3;
    crash(&r);
    ck_assert_uint_eq(pages_that_link(&r, big), 2);
    rig_fini(&r);
}

/* ---- against a model ---- */

enum { HOSTS = 6, URLS = 12, STEPS = 400 };

static const char *const names[HOSTS] = {"a.one.test", "b.one.test",
                                         "c.one.test", "a.two.test",
                                         "b.two.test", "three.test"};

struct model {
    struct rig r;
    uint32_t random;
    unsigned pages[HOSTS]; /* of each host */
};

static unsigned below(struct model *m, unsigned n)
{
    m->random = m->random * 1664525 + 1013904223;
    return (m->random >> 8) % n;
}

static unsigned of_domain(const struct model *m, unsigned host)
{
    unsigned n = 0;

    for (unsigned i = 0; i < HOSTS; i++)
        if (bytes_equal(host_registrable(bytes_of_str(names[i])),
                        host_registrable(bytes_of_str(names[host]))))
            n += m->pages[i];
    return n;
}

static unsigned host_of(struct bytes key)
{
    for (unsigned i = 0; i < HOSTS; i++)
        if (bytes_is(key, names[i]))
            return i;
    ck_abort_msg("unknown host");
    return 0;
}

/* Leases some URLs, and ends each as a page or not; no budget is passed. */
static size_t spend(struct model *m)
{
    const struct budgets *b = &m->r.o.budgets;
    struct engine_lease l[16];
    size_t n = lease(&m->r, 1 + below(m, 16), l);
    unsigned leased[HOSTS] = {0};

    for (size_t i = 0; i < n; i++) {
        unsigned h = host_of(l[i].key);

        leased[h]++;
        m->pages[h]++; /* for of_domain */
    }
    for (unsigned h = 0; n > 0 && h < HOSTS; h++) {
        if (leased[h] == 0)
            continue;
        ck_assert(b->host_pages == 0 || m->pages[h] <= b->host_pages);
        ck_assert(b->domain_pages == 0 || of_domain(m, h) <= b->domain_pages);
    }
    for (size_t i = 0; i < n; i++) {
        unsigned h = host_of(l[i].key);
        bool page = below(m, 3) > 0;

        m->pages[h] -= !page;
        rig_ack(&m->r, l[i].id, page ? fetched : moved, NULL, 0);
    }
    return n;
}

TEST_LOOP(no_budget_is_passed_or_left_over_whatever_happens, 0, 20)
{
    struct model m = {.random = (uint32_t)_i + 1};
    struct budgets *b = &m.r.o.budgets;
    size_t idle = 0;

    rig_init(&m.r);
    *b = (struct budgets){.host_pages = 3, .domain_pages = 5};
    rig_create(&m.r);
    for (unsigned i = 0; i < HOSTS; i++)
        seeds(&m.r, names[i], URLS);
    for (int i = 0; i < STEPS; i++) {
        idle = spend(&m) == 0 ? idle + 1 : 0;
        if (below(&m, 9) == 0)
            crash(&m.r);
        if (idle < 3)
            continue;
        /* All that is left waits for a budget. */
        ck_assert_uint_eq(rig_stats(&m.r).withheld, rig_stats(&m.r).queued);
        b->host_pages = b->host_pages + below(&m, 3);
        b->domain_pages = b->domain_pages + below(&m, 4);
        m.r.e->ops->set_limits(m.r.e, 0, b);
    }
    *b = (struct budgets){0};
    m.r.e->ops->set_limits(m.r.e, 0, b);
    while (spend(&m) > 0)
        ;
    ck_assert_uint_eq(rig_stats(&m.r).queued, 0);
    ck_assert_uint_eq(rig_stats(&m.r).skipped, 0);
    rig_stop(&m.r);
    rig_verify(&m.r);
    rig_fini(&m.r);
}
