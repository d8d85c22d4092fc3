/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_budget.c - what is over the budget of its host or registrable
 * domain waits, over crashes and until the budget is raised.
 */
#include "frontier/url/host.h"
#include "tests/unit/frontier/frontier_rig.h"

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};

static void seeds(struct rig *r, const char *host, int n)
{
    char url[64];

    for (int i = 0; i < n; i++) {
        snprintf(url, sizeof url, "http://%s/%d", host, i);
        rig_seed(r, url);
    }
}

/* The name of the budget that the host is over; "": none. */
static const char *why(struct rig *r, const char *host)
{
    struct host_report rows[16];
    bool all;
    size_t n = frontier_hosts(r->e, HOSTS_BIGGEST, 16, r->now, rows, &all);

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

TEST(a_host_is_asked_for_no_more_once_so_many_octets_have_come)
{
    struct url_done d = {
        .outcome = fetched,
        .row = {.at_ms = RIG_WALL, .wire_bytes = 60},
        .host = {.ended = 1, .retry_after_ms = -1},
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
        ck_ok(frontier_ack(r.e, &d, 1, r.now, RIG_WALL));
    }
    ck_assert_uint_eq(rig_lease(&r), 0);
    ck_assert_uint_eq(rig_stats(&r).withheld, 3);
    ck_assert_str_eq(why(&r, "a.test"), "per-host-bytes");
    r.o.budgets.host_octets = 121;
    frontier_set_limits(r.e, 0, &r.o.budgets);
    ck_assert_uint_ne(rig_lease(&r), 0);
    rig_fini(&r);
}

/* Fetches all that may be, as pages that link to `to`; returns their number. */
static unsigned pages_that_link(struct rig *r, const char *to)
{
    struct url_item item = rig_item(r, to);
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
    frontier_set_limits(r.e, 0, &r.o.budgets);
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
