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

/* Is something due at `r->now`? */
static bool is_due(struct rig *r)
{
    return r->e->ops->next_due(r->e, r->now, NULL) <= r->now;
}

static void set_delay(struct rig *r, int64_t delay)
{
    struct schedule_options o = r->o.schedule;

    o.delay = delay;
    r->e->ops->set_schedule(r->e, &o, r->now);
}

TEST(a_changed_delay_moves_the_hosts_that_wait)
{
    struct rig r;
    int64_t asked;

    begin(&r, 10 * NS_PER_S);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://a.test/2");
    rig_seed(&r, "http://a.test/3");
    (void)rig_page(&r, NULL, 0);
    asked = r.now;
    r.now = asked + 4 * NS_PER_S;
    set_delay(&r, 5 * NS_PER_S);
    ck_assert(!is_due(&r));
    r.now = asked + 5 * NS_PER_S;
    ck_assert(is_due(&r));
    set_delay(&r, 20 * NS_PER_S);
    ck_assert(!is_due(&r));
    r.now = asked + 20 * NS_PER_S;
    ck_assert(is_due(&r));
    set_delay(&r, 0);
    ck_assert(is_due(&r));
    r.now -= NS_PER_S; /* rig_lease moved it forward */
    (void)rig_page(&r, NULL, 0);
    ck_assert(is_due(&r)); /* no delay from now on */
    rig_fini(&r);
}

TEST(a_url_that_is_out_holds_the_new_delay_when_it_comes_back)
{
    struct rig r;
    uint64_t id;

    begin(&r, NS_PER_S);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://a.test/2");
    id = rig_lease(&r);
    set_delay(&r, 30 * NS_PER_S);
    rig_ack(&r, id, fetched, NULL, 0);
    r.now += 29 * NS_PER_S;
    ck_assert(!is_due(&r));
    r.now += NS_PER_S;
    ck_assert(is_due(&r));
    rig_fini(&r);
}

TEST(hosts_of_one_machine_wait_together_by_the_new_delay)
{
    struct rig r;
    int64_t asked;

    rig_init(&r);
    r.o.conns_per_host = 1;
    r.o.schedule.delay = 10 * NS_PER_S;
    r.o.schedule.max_delay = 3600 * NS_PER_S;
    r.o.group = QUEUE_KEY_DOMAIN;
    rig_create(&r);
    rig_seed(&r, "http://a.example.org/");
    rig_seed(&r, "http://b.example.org/");
    (void)rig_page(&r, NULL, 0);
    asked = r.now;
    set_delay(&r, 2 * NS_PER_S);
    ck_assert(!is_due(&r));
    r.now = asked + 2 * NS_PER_S;
    ck_assert(is_due(&r));
    set_delay(&r, 7 * NS_PER_S);
    ck_assert(!is_due(&r));
    r.now = asked + 7 * NS_PER_S;
    ck_assert(is_due(&r));
    rig_fini(&r);
}

TEST(limits_are_raised_and_lowered)
{
    const struct budgets none = {.host_pages = 0};
    const struct budgets one = {.host_pages = 1};
    struct engine_stats s;
    struct rig r;

    begin(&r, 0);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://a.test/2");
    rig_seed(&r, "http://a.test/3");
    r.e->ops->set_limits(r.e, 1, &none);
    (void)rig_page(&r, NULL, 0);
    ck_assert_uint_eq(rig_lease(&r), 0);
    r.e->ops->set_limits(r.e, 2, &none);
    (void)rig_page(&r, NULL, 0);
    ck_assert_uint_eq(rig_lease(&r), 0);
    /* Counting starts only when there is such a limit. */
    r.e->ops->set_limits(r.e, 0, &one);
    rig_seed(&r, "http://a.test/4");
    (void)rig_page(&r, NULL, 0);
    ck_assert_uint_eq(rig_lease(&r), 0); /* the rest waits */
    r.e->ops->stats(r.e, &s);
    ck_assert_uint_eq(s.pages, 3);
    ck_assert_uint_eq(s.withheld, 1);
    r.e->ops->set_limits(r.e, 0, &none);
    (void)rig_page(&r, NULL, 0);
    rig_fini(&r);
}

TEST(queued_urls_are_asked_again_by_another_scope)
{
    const struct scope_options o = {.mode = SCOPE_ANY,
                                    .depth = -1,
                                    .max_url_length = 2048,
                                    .exclude = (const char *[]){"/no"},
                                    .exclude_count = 1};
    struct scope *scope = NULL;
    struct engine_stats s;
    struct rig r;

    begin(&r, 0);
    rig_seed(&r, "http://a.test/no");
    rig_seed(&r, "http://a.test/yes");
    ck_ok(scope_new(&scope, &o, NULL));
    r.e->ops->recheck(r.e, scope);
    (void)rig_page(&r, NULL, 0);
    ck_assert_uint_eq(rig_lease(&r), 0);
    r.e->ops->stats(r.e, &s);
    ck_assert_uint_eq(s.skipped, 1);
    ck_assert_uint_eq(s.fetched, 1);
    rig_fini(&r);
    scope_free(scope);
}

/* The redirect was found under the old scope; when it is acknowledged, its
 * target opens the scope in force now. */
TEST(what_a_seed_redirects_to_opens_a_scope_that_came_in_between)
{
    const struct scope_options o = {.mode = SCOPE_HOST,
                                    .depth = -1,
                                    .max_url_length = 2048};
    struct scope *scope = NULL;
    struct engine_item target;
    struct url u;
    struct rig r;
    uint64_t id;

    begin(&r, 0);
    rig_seed(&r, "http://a.test/");
    id = rig_lease(&r);
    ck_ok(scope_new(&scope, &o, NULL));
    r.e->ops->recheck(r.e, scope);
    target = rig_item(&r, "http://b.test/");
    target.depth = 0;
    rig_ack(&r, id, (struct outcome){OUTCOME_REDIRECT, REASON_NONE, 301},
            &target, 1);
    url_init(&u);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str("http://b.test/x"), NULL,
                                   NULL),
                     URL_OK);
    ck_assert(scope_check(scope, &u, 1).in);
    url_fini(&u);
    rig_fini(&r);
    scope_free(scope);
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
