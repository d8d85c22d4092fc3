/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_lease.c - which URL goes out, which is settled without a
 * request, and when there is something to lease.
 */
#include "tests/unit/frontier/embedded/judge_rig.h"

static size_t lease(struct rig *r, size_t most, struct engine_lease *out)
{
    size_t n = 0;

    ck_ok(r->e->ops->lease(r->e, most, r->now, RIG_WALL, out, &n));
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

TEST(a_lease_says_all_that_is_known_of_its_url)
{
    struct engine_item link;
    struct engine_lease l[4];
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    link = rig_item(&r, "http://a.test/x");
    link.kind = LINK_IFRAME;
    link.depth = 3;
    link.hops = 2;
    (void)rig_page(&r, &link, 1);
    ck_assert_uint_eq(lease(&r, 4, l), 1);
    ck_assert_uint_eq(l[0].id, 2);
    ck_assert_uint_eq(l[0].via, 1);
    ck_assert_uint_eq(l[0].queue, 1);
    ck_assert_uint_eq(l[0].depth, 3);
    ck_assert_uint_eq(l[0].hops, 2);
    ck_assert_uint_eq(l[0].kind, LINK_IFRAME);
    ck_assert_uint_eq(l[0].tries, 0);
    ck_assert(!l[0].seed);
    ck_assert(!l[0].first);
    ck_assert(bytes_equal(l[0].url, link.url));
    ck_assert(bytes_equal(l[0].key, bytes_of_str("a.test")));
    ck_assert(
        bytes_equal(r.e->ops->leased_url(r.e, 2), bytes_of_str("http://a.test/"
                                                               "x")));
    ck_assert_uint_eq(r.e->ops->leased_url(r.e, 1).len, 0);
    rig_seed(&r, "http://b.test/");
    ck_assert_uint_eq(lease(&r, 4, l), 1);
    ck_assert(l[0].seed);
    ck_assert(l[0].first);
    rig_fini(&r);
}

TEST(hosts_that_are_due_take_turns)
{
    struct engine_lease l[12];
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

TEST(no_more_than_may_be_in_flight_or_fetched_go_out)
{
    struct engine_lease l[12];
    struct rig r;

    rig_init(&r);
    r.o.in_flight = 5;
    r.o.limit_pages = 7;
    rig_create(&r);
    seed_many(&r, "a.test", 12);
    ck_assert_uint_eq(lease(&r, 3, l), 3);
    ck_assert_uint_eq(lease(&r, 12, l + 3), 2);
    ck_assert_uint_eq(lease(&r, 12, l + 5), 0);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, NULL), INT64_MAX);
    judge_ack(&r, l[0].id, NULL, 0);
    judge_ack(&r, l[1].id, NULL, 0);
    ck_assert_uint_eq(lease(&r, 12, l + 5), 0); /* not durable yet */
    rig_commit(&r);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, NULL), r.now);
    ck_assert_uint_eq(lease(&r, 12, l + 5), 2);
    for (int i = 2; i < 7; i++)
        judge_ack(&r, l[i].id, NULL, 0);
    rig_commit(&r);
    ck_assert_uint_eq(lease(&r, 12, l), 0); /* seven pages */
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, NULL), INT64_MAX);
    r.e->ops->set_limits(r.e, 8, &r.o.budgets);
    ck_assert_uint_eq(lease(&r, 12, l), 1);
    rig_fini(&r);
}

TEST(no_more_of_a_host_go_out_than_it_may_have)
{
    struct engine_lease l[12];
    struct rig r;

    rig_init(&r);
    r.o.conns_per_host = 4;
    r.o.budgets.host_pages = 6;
    rig_create(&r);
    seed_many(&r, "a.test", 12);
    ck_assert_uint_eq(lease(&r, 12, l), 4); /* connections */
    for (int i = 0; i < 4; i++)
        judge_ack(&r, l[i].id, NULL, 0);
    ck_assert_uint_eq(lease(&r, 12, l), 2); /* pages */
    ck_assert_uint_eq(lease(&r, 12, l + 2), 0);
    ck_assert_uint_eq(rig_stats(&r).skipped, 0);
    judge_ack(&r, l[0].id, NULL, 0);
    judge_ack(&r, l[1].id, NULL, 0);
    ck_assert_uint_eq(lease(&r, 12, l), 0);
    ck_assert_uint_eq(rig_stats(&r).skipped, 0);
    ck_assert_uint_eq(rig_stats(&r).withheld, 6);
    rig_fini(&r);
}

/* Each host's share of `n` leases, in order of hosts a, b, c. */
static void count_hosts(const struct engine_lease *l, size_t n, unsigned *of)
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

TEST(a_host_gets_another_connection_only_if_no_other_is_due)
{
    struct engine_lease l[16];
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

/* A call settles a thousand URLs without a request at most, so that a turn ends
 * in time. */
TEST(urls_that_are_not_wanted_are_settled_in_parts)
{
    struct engine_done d = {
        .outcome = {OUTCOME_FAILED, REASON_TLS, 0},
        .row = {.at_ms = RIG_WALL},
        .host = {.ended = 1,
                 .crawl_delay_ms = -2,
                 .retry_after_ms = -1,
                 .unreachable = true},
    };
    struct engine_lease l[4];
    struct rig r;

    rig_init(&r);
    r.o.conns_per_host = 1;
    rig_create(&r);
    seed_many(&r, "a.test", 2003);
    ck_assert_uint_eq(lease(&r, 4, l), 1);
    d.id = l[0].id; /* a host that cannot be reached is drained */
    ck_ok(r.e->ops->ack(r.e, &d, 1, r.now, RIG_WALL));
    ck_assert_uint_eq(lease(&r, 4, l), 0);
    ck_assert_uint_eq(rig_stats(&r).failed, 1001);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, NULL), r.now);
    ck_assert_uint_eq(lease(&r, 4, l), 0);
    ck_assert_uint_eq(lease(&r, 4, l), 0);
    ck_assert_uint_eq(rig_stats(&r).failed, 2003);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, NULL), INT64_MAX);
    rig_fini(&r);
}

TEST(the_next_moment_is_that_of_the_first_host_and_names_it)
{
    struct bytes why = bytes_of("", 0);
    struct engine_lease l[4];
    struct rig r;

    rig_init(&r);
    r.o.conns_per_host = 1;
    r.o.schedule.delay = 3 * NS_PER_S;
    rig_create(&r);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, &why), INT64_MAX);
    ck_assert_uint_eq(why.len, 0);
    seed_many(&r, "a.test", 2);
    seed_many(&r, "b.test", 2);
    ck_assert_uint_eq(lease(&r, 4, l), 2);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, &why), INT64_MAX);
    judge_ack(&r, l[1].id, NULL, 0);
    r.now += NS_PER_S;
    judge_ack(&r, l[0].id, NULL, 0);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, &why),
                     r.now + 2 * NS_PER_S);
    ck_assert(bytes_equal(why, bytes_of_str("b.test")));
    r.now += 2 * NS_PER_S - 1;
    ck_assert_uint_eq(lease(&r, 4, l), 0);
    r.now += 1;
    ck_assert_uint_eq(lease(&r, 4, l), 1);
    ck_assert_uint_eq(l[0].queue, 2);
    rig_fini(&r);
}

/* ---- rules that changed while a URL was queued ---- */

TEST(a_queued_url_goes_out_in_the_form_that_it_has_now)
{
    struct url_form *form = judge_form_without("sid");
    struct engine_item link, same, map;
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
    (void)rig_page(&r, (struct engine_item[]){link, same}, 2);
    map = rig_item(&r, "http://a.test/?c=1&sid=2");
    map.seed = true;
    map.depth = 0;
    ck_assert_int_eq(rig_put(&r, map), ENGINE_NEW);
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

TEST(a_queued_list_is_checked_as_a_list)
{
    const char *include[] = {"/page"};
    struct scope_options o = {.mode = SCOPE_ANY,
                              .depth = -1,
                              .max_url_length = 2048,
                              .include = include,
                              .include_count = 1,
                              .listings = LINK_BIT(LINK_SITEMAP)};
    struct scope *s = NULL;
    struct engine_item map;
    struct rig r;

    judge_init(&r);
    rig_create(&r);
    map = rig_item(&r, "http://a.test/map.xml");
    map.kind = LINK_SITEMAP;
    ck_assert_int_eq(rig_put(&r, map), ENGINE_NEW);
    map = rig_item(&r, "http://a.test/other");
    ck_assert_int_eq(rig_put(&r, map), ENGINE_NEW);
    ck_assert_int_eq(rig_put(&r, rig_item(&r, "http://a.test/page")),
                     ENGINE_NEW);
    ck_ok(scope_new(&s, &o, NULL));
    scope_become(r.o.judge.scope, s);
    r.e->ops->recheck(r.e, r.o.judge.scope);
    ck_assert_uint_eq(rig_lease(&r), 1);
    ck_assert_uint_eq(rig_lease(&r), 3);
    ck_assert_uint_eq(rig_lease(&r), 0);
    ck_assert_uint_eq(rig_counter(&r, "skipped.include"), 1);
    judge_fini(&r);
}

/* ---- hosts without delay ---- */

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
        struct engine_lease l;

        r.now += NS_PER_S;
        ck_assert_uint_eq(lease(&r, 1, &l), 1);
        ck_assert_uint_eq(l.queue, 1 + i / 8 % 2);
        judge_ack(&r, l.id, NULL, 0);
    }
    rig_fini(&r);
}
