/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_lease.c - which URL goes out, which is settled without a
 * request, and when there is something to lease.
 */
#include "tests/unit/frontier/crawl/judge_rig.h"

static size_t lease(struct rig *r, size_t most, struct url_lease *out)
{
    size_t n = 0;

    ck_ok(frontier_lease(r->e, most, r->now, RIG_WALL, out, &n));
    return n;
}

static void seed_many(struct rig *r, const char *host, int n)
{
    char url[64];

    for (int i = 0; i < n; i++) {
        snprintf(url, sizeof url, "http://%s/%d", host, i);
        rig_seed(r, url);
    }
}

TEST(hosts_that_are_due_take_turns)
{
    struct url_lease l[12];
    struct rig r;

    rig_init(&r);
    r.o.conns_per_host = 1;
    rig_create(&r);
    seed_many(&r, "a.test", 3);
    seed_many(&r, "b.test", 3);
    seed_many(&r, "c.test", 3);
    ck_assert_uint_eq(lease(&r, 2, l), 2);
    ck_assert_uint_eq(lease(&r, 12, l + 2), 1);
    ck_assert_uint_eq(l[0].queue, 1);
    ck_assert_uint_eq(l[1].queue, 2);
    ck_assert_uint_eq(l[2].queue, 3);
    rig_fini(&r);
}

/* Each host's share of `n` leases, in order of hosts a, b, c. */
static void count_hosts(const struct url_lease *l, size_t n, unsigned *of)
{
    of[0] = of[1] = of[2] = 0;
    for (size_t i = 0; i < n; i++)
        of[l[i].key.at[0] - 'a']++;
}

static void check_hosts(const unsigned *of, unsigned a, unsigned b, unsigned c)
{
    ck_assert_uint_eq(of[0], a);
    ck_assert_uint_eq(of[1], b);
    ck_assert_uint_eq(of[2], c);
}

/* Promise (Fetching): a host that is due again soon is asked over its open
 * connection; idle connections use memory that the frontier does not, and
 * half of the file descriptors; the one needed last is closed first; with
 * --conns-per-host above 1 a host gets another connection only if no other
 * host is due. See also `tests/cli/connections.sh`, `connection_budget`,
 * `multi/the_connection_that_is_needed_last_is_closed_first`, `make
 * bench-tls`. */
TEST(a_host_gets_another_connection_only_if_no_other_is_due)
{
    struct url_lease l[16];
    unsigned of[3];
    struct rig r;

    rig_init(&r);
    r.o.conns_per_host = 4;
    rig_create(&r);
    seed_many(&r, "a.test", 12);
    seed_many(&r, "b.test", 12);
    seed_many(&r, "c.test", 12);
    ck_assert_uint_eq(lease(&r, 3, l), 3);
    count_hosts(l, 3, of);
    check_hosts(of, 1, 1, 1);
    ck_assert_uint_eq(lease(&r, 6, l + 3), 6);
    count_hosts(l, 9, of);
    check_hosts(of, 3, 3, 3);
    for (int i = 0; i < 9; i++) /* a has none in use now, b one less */
        if (l[i].key.at[0] == 'a' || i == 1)
            judge_ack(&r, l[i].id, NULL, 0);
    ck_assert_uint_eq(lease(&r, 4, l), 4);
    count_hosts(l, 1, of);
    check_hosts(of, 1, 0, 0);
    count_hosts(l, 4, of);
    check_hosts(of, 3, 1, 0);
    ck_assert_uint_eq(lease(&r, 12, l), 3); /* all that are allowed */
    rig_fini(&r);
}

/* ---- rules that changed while a URL was queued ---- */

TEST(a_queued_url_goes_out_in_the_form_that_it_has_now)
{
    struct url_form *form = judge_form_without("sid");
    struct url_item link, same, map;
    char text[256];
    struct url_row row;
    struct rig r;

    judge_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    link = rig_item(&r, "http://a.test/?a=1&sid=2");
    link.depth = 4;
    link.hops = 3;
    link.kind = LINK_IFRAME;
    same = rig_item(&r, "http://a.test/?b=1");
    (void)rig_page(&r, (struct url_item[]){link, same}, 2);
    map = rig_item(&r, "http://a.test/?c=1&sid=2");
    map.seed = true;
    map.depth = 0;
    ck_assert_int_eq(rig_put(&r, map), PUT_NEW);
    rig_stop(&r);
    r.o.judge.form = form;
    r.o.recheck = r.o.judge.scope;
    rig_reopen(&r);
    ck_assert_uint_eq(rig_lease(&r), 3);
    ck_assert_uint_eq(rig_lease(&r), 5);
    row = judge_row(&r, 5, text);
    ck_assert_str_eq(text, "http://a.test/?a=1");
    ck_assert_uint_eq(row.depth, 4);
    ck_assert_uint_eq(row.hops, 3);
    ck_assert_uint_eq(row.kind, LINK_IFRAME);
    ck_assert_uint_eq(row.via, 1);
    ck_assert_uint_eq(row.flags & URL_ROW_SEED, 0);
    ck_assert_uint_eq(rig_lease(&r), 6);
    row = judge_row(&r, 6, text);
    ck_assert_str_eq(text, "http://a.test/?c=1");
    ck_assert_uint_ne(row.flags & URL_ROW_SEED, 0);
    ck_assert_uint_eq(rig_lease(&r), 0);
    ck_assert_uint_eq(rig_counter(&r, "skipped.url_form"), 2);
    judge_fini(&r);
    url_form_free(form);
}

/* ---- hosts without delay ---- */

static bool is_asked_at_once(struct rig *r, const char *url)
{
    struct url_lease l;
    size_t n = 0;

    (void)rig_put(r, rig_item(r, url));
    ck_ok(frontier_lease(r->e, 1, r->now, RIG_WALL, &l, &n));
    return n > 0;
}

/* Who was killed may have asked hosts of which it had no row yet. */
TEST(new_hosts_wait_after_a_kill_and_not_after_a_stop)
{
    struct rig r;

    rig_init(&r);
    r.o.schedule.delay = 5 * NS_PER_S;
    r.o.schedule.max_delay = 60 * NS_PER_S;
    rig_create(&r);
    ck_assert(is_asked_at_once(&r, "http://a.test/"));
    rig_commit(&r);
    rig_crash(&r);
    ck_assert(!is_asked_at_once(&r, "http://b.test/"));
    r.now += 5 * NS_PER_S;
    ck_assert(is_asked_at_once(&r, "http://b.test/"));
    rig_stop(&r);
    rig_reopen(&r);
    ck_assert(is_asked_at_once(&r, "http://c.test/"));
    rig_fini(&r);
}

/* A connection that stays open is for several URLs, but not for all. */
TEST(hosts_without_delay_take_turns_after_eight_urls)
{
    struct rig r;

    rig_init(&r);
    r.o.conns_per_host = 1;
    r.o.in_flight = 1000;
    rig_create(&r);
    seed_many(&r, "a.test", 40);
    seed_many(&r, "b.test", 40);
    for (unsigned i = 0; i < 80; i++) {
        struct url_lease l;

        r.now += NS_PER_S;
        ck_assert_uint_eq(lease(&r, 1, &l), 1);
        ck_assert_uint_eq(l.queue, 1 + i / 8 % 2);
        judge_ack(&r, l.id, NULL, 0);
    }
    rig_fini(&r);
}
