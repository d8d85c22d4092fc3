/* SPDX-License-Identifier: MIT */
/* The life of one URL: its tries, its host's delay, the limits that end it. */
#include "frontier/embedded/frontier_ops.h"
#include "tests/unit/frontier/embedded/crawl_sim.h"

static struct engine_done failure(struct sim *s, uint64_t id,
                                  enum outcome_reason reason, uint16_t http)
{
    return (struct engine_done){
        .id = id,
        .outcome = {OUTCOME_FAILED, reason, http},
        .transient = true,
        .row = {.at_ms = wall(s)},
        .host = {.ended = s->now, .crawl_delay_ms = -2, .retry_after_ms = -1},
    };
}

static void ack(struct sim *s, struct engine_done *d)
{
    ck_ok(s->e->ops->ack(s->e, d, 1, s->now, wall(s)));
}

TIMEOUT(30);
FIXTURE(make_dir, remove_dir);

TEST(a_failing_url_gets_its_tries_and_then_its_last_word)
{
    static struct sim s;
    struct engine_stats st;

    start(&s, NS_PER_S);
    for (unsigned try = 0; try < 3; try++) {
        struct engine_lease l = lease_one(&s);
        struct engine_done d;

        ck_assert_uint_eq(l.id, 1);
        ck_assert_uint_eq(l.tries, try);
        d = failure(&s, l.id, REASON_HTTP, 500);
        ack(&s, &d);
        ck_assert_uint_eq(lease_one(&s).id, 0); /* not at once */
        s.now += 60 * NS_PER_S;
        if (try == 1) { /* tries outlive the process */
            ck_ok(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL));
            s.e->ops->close(s.e);
            reopen(&s);
            s.now += 60 * NS_PER_S;
        }
    }
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.failed, 1);
    ck_assert_uint_eq(st.seeds_failed, 1);
    s.e->ops->close(s.e);
}

TEST(retry_after_blocks_the_host_also_across_a_restart)
{
    static struct sim s;
    struct engine_lease l;
    struct engine_done d;

    start(&s, NS_PER_S);
    l = lease_one(&s);
    d = failure(&s, l.id, REASON_HTTP, 429);
    d.host.slow_down = true;
    d.host.retry_after_ms = 120000;
    ack(&s, &d);
    s.now += 119 * NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 0);
    ck_ok(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL));
    s.e->ops->close(s.e);
    reopen(&s);
    s.now += NS_PER_S / 2;
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += 2 * NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 1);
    s.e->ops->close(s.e);
}

#define DAY (INT64_C(86400) * NS_PER_S)

/* Blocks the first host and ends the process. */
static void block_and_end(struct sim *s, int64_t retry_after_ms)
{
    struct engine_done d;

    start(s, NS_PER_S);
    d = failure(s, lease_one(s).id, REASON_HTTP, 429);
    d.host.slow_down = true;
    d.host.retry_after_ms = retry_after_ms;
    ack(s, &d);
    ck_ok(s->e->ops->checkpoint_now(s->e, "stopped", true, s->now, wall(s)));
    s->e->ops->close(s->e);
}

TEST(a_clock_set_back_ten_days_leaves_a_wait_of_five_seconds_as_it_is)
{
    static struct sim s;

    block_and_end(&s, 5000);
    ck_ok(
        frontier_open(&s.e, dir, &s.o, s.now, wall(&s) - 10 * DAY / NS_PER_MS));
    s.now += 4 * NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += 2 * NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 1);
    s.e->ops->close(s.e);
}

static void change_store(const char *sql)
{
    char path[512];
    sqlite3 *h = NULL;

    snprintf(path, sizeof path, "%s/frontier.db", dir);
    ck_assert_int_eq(sqlite3_open(path, &h), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(h, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(h), SQLITE_OK);
}

/* A block that a server asked for lasts a day at most; one that a person set
 * lasts as long as it says. */
TEST(a_block_from_the_store_lasts_a_day_unless_a_person_set_it)
{
    static const char *const reasons[] = {"retry_after", "back_off", "blocked"};
    static struct sim s;
    char sql[256];

    block_and_end(&s, 5000);
    snprintf(sql, sizeof sql,
             "UPDATE queue_state SET reason = '%s', blocked_until = %lld;"
             "UPDATE retry SET due = due + 86400000000",
             reasons[_i], (long long)(wall(&s) + 1000 * (DAY / NS_PER_MS)));
    change_store(sql);
    reopen(&s);
    s.now += DAY - NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += 2 * NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, _i < 2 ? 1 : 0);
    s.e->ops->close(s.e);
}

/* All URLs of the host may have been done when the process ended. */
TEST(after_a_crash_a_host_without_urls_left_waits_out_its_delay_too)
{
    static struct sim s;
    struct engine_done d;
    struct engine_item item;
    char key[64], url[64];

    start(&s, NS_PER_S);
    d = failure(&s, lease_one(&s).id, REASON_HTTP, 404);
    d.transient = false;
    ack(&s, &d);
    ck_ok(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL));
    crash(&s);
    item = item_of(&s, HOSTS, key, url, sizeof key, 1); /* of the same host */
    ck_ok(s.e->ops->put(s.e, s.o.crawl, 1, &item, 1, wall(&s), NULL));
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 2);
    s.e->ops->close(s.e);
}

/* A request for robots.txt has no row. */
TEST(a_host_asked_for_its_robots_txt_alone_waits_after_a_restart_too)
{
    static struct sim s;
    struct engine_done d = {.host = {.crawl_delay_ms = -1}};

    start(&s, NS_PER_S);
    d.id = lease_one(&s).id;
    d.host.ended = s.now;
    ck_ok(s.e->ops->release(s.e, d.id, 0, &d.host, s.now, wall(&s)));
    ck_ok(s.e->ops->checkpoint_now(s.e, "stopped", true, s.now, wall(&s)));
    s.e->ops->close(s.e);
    reopen(&s);
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, d.id);
    s.e->ops->close(s.e);
}

/* The manifest of the clean stop before says nothing of this run's requests. */
TEST(after_a_kill_before_its_first_commit_a_run_has_asked_its_hosts)
{
    static struct sim s;
    struct engine_done d;
    struct engine_item item;
    char key[64], url[64];

    start(&s, NS_PER_S);
    d = failure(&s, lease_one(&s).id, REASON_HTTP, 404);
    d.transient = false;
    ack(&s, &d);
    item = item_of(&s, HOSTS, key, url, sizeof key, 1); /* of the same host */
    ck_ok(s.e->ops->put(s.e, s.o.crawl, 1, &item, 1, wall(&s), NULL));
    ck_ok(s.e->ops->checkpoint_now(s.e, "stopped", true, s.now, wall(&s)));
    s.e->ops->close(s.e);
    s.now += 60 * NS_PER_S;
    reopen(&s);
    ck_assert_uint_eq(lease_one(&s).id, 2);
    crash(&s);
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 2);
    s.e->ops->close(s.e);
}

TEST(a_crawl_delay_holds_from_its_first_reading_on)
{
    static struct sim s;
    struct engine_host_news news = {.crawl_delay_ms = 5000,
                                    .retry_after_ms = -1};
    struct engine_lease l;

    start(&s, NS_PER_S);
    l = lease_one(&s);
    news.ended = s.now;
    ck_ok(s.e->ops->release(s.e, l.id, 0, &news, s.now, wall(&s)));
    s.now += 4999 * NS_PER_MS;
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += NS_PER_MS;
    ck_assert_uint_eq(lease_one(&s).id, l.id);
    s.e->ops->close(s.e);
}

TEST(a_host_whose_robots_txt_fails_costs_its_tries_and_no_more)
{
    static struct sim s;
    struct engine_item items[200];
    static char keys[200][64], urls[200][64];
    struct engine_stats st;
    unsigned asked = 0;
    size_t host_urls = 0;

    start(&s, NS_PER_MS);
    for (unsigned i = 0; host_urls < 50; i++)
        if (host_of_page(i + 1) == host_of_page(0)) {
            items[host_urls] =
                item_of(&s, i + 1, keys[host_urls], urls[host_urls], 64, 1);
            host_urls++;
        }
    ck_ok(s.e->ops->put(s.e, s.o.crawl, 1, items, host_urls, wall(&s), NULL));
    for (int i = 0; i < 1000; i++) {
        struct engine_lease l = lease_one(&s);

        if (l.id != 0) {
            struct engine_done d = failure(&s, l.id, REASON_NONE, 0);

            d.outcome =
                (struct outcome){OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE, 0};
            d.host.unreachable = true;
            ack(&s, &d);
            asked++;
        }
        s.now += NS_PER_S;
    }
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(asked, 3);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.denied, host_urls + 1);
    s.e->ops->close(s.e);
}

TEST(a_redirect_back_to_its_own_chain_is_a_loop)
{
    static struct sim s;
    char key[64], url[64];
    struct engine_item to;
    struct engine_done d;
    struct engine_lease l;
    struct engine_stats st;

    start(&s, NS_PER_MS);
    l = lease_one(&s);
    to = item_of(&s, 1, key, url, sizeof key, 0);
    to.seed = false;
    to.hops = 1;
    d = (struct engine_done){.id = l.id,
                             .outcome = {OUTCOME_REDIRECT, REASON_NONE, 302},
                             .outlinks = &to,
                             .outlink_count = 1,
                             .host = {.ended = s.now,
                                      .crawl_delay_ms = -2,
                                      .retry_after_ms = -1}};
    ack(&s, &d);
    s.now += NS_PER_S;
    l = lease_one(&s);
    ck_assert_uint_eq(l.id, 2);
    ck_assert_uint_eq(l.hops, 1);
    to = item_of(&s, 0, key, url, sizeof key, 0);
    to.seed = false;
    to.hops = 2;
    d.id = l.id;
    ack(&s, &d);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.redirects, 2);
    ck_assert_uint_eq(st.seeds_failed, 1);
    ck_assert_uint_eq(frontier_store_counter(frontier_store_of(s.e),
                                             "redirect.redirect_loop"),
                      1);
    s.e->ops->close(s.e);
}

/* A wall sets a cookie on the way: 1 leads to 2, and 2 back to it. */
TEST(a_way_back_with_other_cookies_is_another_request_and_ends)
{
    static struct sim s;
    char key[64], url[64];
    struct engine_item to;
    struct engine_done d;
    struct engine_lease l;
    struct engine_stats st;

    start(&s, NS_PER_MS);
    for (unsigned step = 0; step < 3; step++) {
        l = lease_one(&s);
        ck_assert_uint_eq(l.id, step + 1);
        ck_assert_uint_eq(l.hops, step);
        ck_assert(l.seed == (step != 1));
        to = item_of(&s, step == 1 ? 0 : 1, key, url, sizeof key, 0);
        to.seed = false;
        to.hops = (uint16_t)(step + 1);
        d = (struct engine_done){.id = l.id,
                                 .outcome = {OUTCOME_REDIRECT, REASON_NONE,
                                             302},
                                 .anew = step < 2,
                                 .outlinks = &to,
                                 .outlink_count = 1,
                                 .host = {.ended = s.now,
                                          .crawl_delay_ms = -2,
                                          .retry_after_ms = -1}};
        ack(&s, &d);
        s.now += NS_PER_S;
    }
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.redirects, 2); /* the first counts once */
    ck_assert_uint_eq(st.seeds_failed, 1);
    ck_assert_uint_eq(frontier_store_counter(frontier_store_of(s.e),
                                             "redirect.redirect_loop"),
                      1);
    s.e->ops->close(s.e);
}

TEST(the_page_limit_is_never_overrun)
{
    static struct sim s;
    struct engine_stats st;

    start(&s, 0);
    s.e->ops->close(s.e);
    s.o.limit_pages = 100;
    reopen(&s);
    for (int i = 0; i < 5000; i++)
        step(&s);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.pages, 100);
    ck_assert_uint_gt(st.queued, 0);
    s.e->ops->close(s.e);
}

TEST(what_is_over_the_budget_of_its_host_waits_and_is_fetched_later)
{
    static struct sim s;
    struct engine_stats st;

    start(&s, 0);
    s.e->ops->close(s.e);
    s.o.budgets.host_pages = 3;
    reopen(&s);
    do {
        (void)step(&s);
        s.e->ops->stats(s.e, &st);
        if (rnd(&s) % 50 == 0)
            crash(&s);
    } while (st.withheld < st.queued || st.leased > 0);
    ck_assert_uint_gt(st.queued, 0);
    ck_assert_uint_eq(st.pages, 3 * HOSTS);
    ck_assert_uint_eq(st.pages + st.queued, st.urls);
    s.o.budgets.host_pages = 0;
    crash(&s);
    while (step(&s))
        ;
    check_all_fetched(&s);
    finish(&s);
}

TEST(links_of_a_body_seen_before_are_not_admitted_where_that_is_asked)
{
    static struct sim s;
    char keys[4][64], urls[4][64];
    struct engine_item found[4];
    struct engine_done d[1];
    struct engine_stats st;

    start(&s, 0);
    s.e->ops->close(s.e);
    s.o.skip_same_content = true;
    reopen(&s);
    for (unsigned i = 0; i < 4; i++)
        found[i] = item_of(&s, i + 1, keys[i], urls[i], sizeof keys[i], 1);
    d[0] = (struct engine_done){.id = lease_one(&s).id,
                                .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
                                .row = {.body_digest = {1, 2}, .links = 2},
                                .outlinks = found,
                                .outlink_count = 2,
                                .host = {.ended = s.now,
                                         .crawl_delay_ms = -2,
                                         .retry_after_ms = -1}};
    ack(&s, &d[0]);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.urls, 3);
    s.now += NS_PER_S;
    d[0].id = lease_one(&s).id; /* the same body, other links */
    d[0].outlinks = found + 2;
    ack(&s, &d[0]);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.urls, 3);
    ck_assert_uint_eq(frontier_store_counter(frontier_store_of(s.e),
                                             "same_content"),
                      1);
    s.now += NS_PER_S;
    d[0].id = lease_one(&s).id; /* another body */
    d[0].row.body_digest.lo++;
    ack(&s, &d[0]);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.urls, 5);
    s.e->ops->close(s.e);
}

TEST(a_robots_txt_that_came_with_a_url_is_kept_over_restarts)
{
    static struct sim s;
    const struct robots_row robots = {.origin = bytes_of_str("http://h0.test"),
                                      .fetched_at_ms = WALL,
                                      .expires_at_ms = WALL + 1000,
                                      .http_status = 200,
                                      .body = bytes_of_str(
                                          "User-agent: *\nDisallow: /x\n")};
    struct robots_row row;
    struct engine_done d;
    struct buf text;

    start(&s, NS_PER_S);
    d = failure(&s, lease_one(&s).id, REASON_HTTP, 500);
    d.host.robots = &robots;
    ack(&s, &d);
    ck_ok(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL));
    crash(&s);
    buf_init(&text, 4096);
    ck_ok(s.e->ops->robots(s.e, robots.origin, &row, &text));
    ck_assert(bytes_equal(row.body, robots.body));
    ck_assert_int_eq(row.expires_at_ms, robots.expires_at_ms);
    buf_fini(&text);
    s.e->ops->close(s.e);
}
