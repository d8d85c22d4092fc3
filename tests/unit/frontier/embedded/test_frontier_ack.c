/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_ack.c - what an acknowledgement writes and counts: tries,
 * redirects, links, and what it says of the host.
 */
#include "tests/unit/frontier/engine_rig.h"

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};
static const struct outcome redirect = {OUTCOME_REDIRECT, REASON_NONE, 301};

static struct engine_done done_of(struct rig *r, uint64_t id, struct outcome o)
{
    return (struct engine_done){
        .id = id,
        .outcome = o,
        .row = {.at_ms = RIG_WALL},
        .host = {.ended = r->now, .crawl_delay_ms = -2, .retry_after_ms = -1},
    };
}

static void ack(struct rig *r, struct engine_done *d)
{
    ck_ok(r->e->ops->ack(r->e, d, 1, r->now, RIG_WALL));
}

/* ---- the rows of a URL's tries ---- */

struct tries {
    struct fetch_row rows[16];
    unsigned n;
};

static bool take_try(void *ctx, const struct fetch_row *row)
{
    struct tries *t = ctx;

    ck_assert_uint_lt(t->n, 16);
    t->rows[t->n++] = *row;
    return true;
}

/* All tries so far. */
static struct tries tries_of(struct rig *r)
{
    struct tries t = {.n = 0};
    struct reader reader;

    rig_commit(r);
    ck_ok(reader_open(&reader, r->at.dir));
    ck_ok(page_store_each(reader.pages, 0, take_try, &t));
    reader_close(&reader);
    return t;
}

TEST(each_try_has_a_row_and_only_the_last_is_final)
{
    struct engine_done d;
    struct tries t;
    struct rig r;

    rig_init(&r);
    r.o.tries = 3;
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    for (int i = 0; i < 3; i++) {
        d = done_of(&r, rig_lease(&r),
                    (struct outcome){OUTCOME_FAILED, REASON_HTTP, 503});
        d.transient = true;
        ack(&r, &d);
        r.now += 60 * NS_PER_S;
    }
    t = tries_of(&r);
    ck_assert_uint_eq(t.n, 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(t.rows[i].url, 1);
        ck_assert_uint_eq(t.rows[i].tries, i + 1);
        ck_assert_uint_eq(t.rows[i].status, OUTCOME_FAILED);
        ck_assert_uint_eq(t.rows[i].reason, REASON_HTTP);
        ck_assert_uint_eq(t.rows[i].http_status, 503);
        ck_assert(t.rows[i].final == (i == 2));
    }
    ck_assert_uint_eq(rig_counter(&r, "retries"), 2);
    rig_fini(&r);
}

/* Requests that nobody answered cost no try; of many, few have a row. */
TEST(requests_that_found_nobody_have_rows_one_two_four_eight)
{
    struct tries t;
    struct rig r;

    rig_init(&r);
    r.o.tries = 3;
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    for (int i = 0; i < 9; i++) {
        struct engine_done d =
            done_of(&r, rig_lease(&r),
                    (struct outcome){OUTCOME_FAILED, REASON_CONNECT, 0});

        ck_assert_uint_eq(d.id, 1);
        d.transient = true;
        d.host.unreachable = d.host.silent = true;
        ack(&r, &d);
        r.now += 60 * NS_PER_S;
    }
    t = tries_of(&r);
    ck_assert_uint_eq(t.n, 4);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(t.rows[i].url, 1);
        ck_assert_uint_eq(t.rows[i].tries, 1);
        ck_assert_uint_eq(t.rows[i].reason, REASON_CONNECT);
        ck_assert(!t.rows[i].final);
    }
    ck_assert_uint_eq(rig_counter(&r, "retries"), 4);
    ck_assert_uint_eq(rig_stats(&r).queued, 1);
    rig_fini(&r);
}

TEST(what_was_not_leased_is_not_acknowledged)
{
    struct engine_done d;
    struct rig r;

    scratch_quiet();
    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    d = done_of(&r, 1, fetched);
    ack(&r, &d);
    d.id = 77;
    ack(&r, &d);
    ck_assert_int_eq(r.e->ops->release(r.e, 1, 0, NULL, r.now, RIG_WALL),
                     STATUS_NOT_FOUND);
    ck_assert_uint_eq(rig_stats(&r).queued, 1);
    ck_assert_uint_eq(rig_stats(&r).fetched, 0);
    ck_assert_uint_eq(rig_lease(&r), 1);
    rig_fini(&r);
}

/* ---- redirects ---- */

/* Leases the next URL and redirects it to `url`, `hops` from a real link. */
static struct outcome redirect_to(struct rig *r, const char *url, uint16_t hops)
{
    struct engine_item to = rig_item(r, url);
    struct engine_done d = done_of(r, rig_lease(r), redirect);

    to.hops = hops;
    to.kind = LINK_REDIRECT;
    d.outlinks = &to;
    d.outlink_count = 1;
    ack(r, &d);
    return d.outcome;
}

TEST(a_redirect_back_to_any_url_of_its_chain_is_a_loop)
{
    struct tries t;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    ck_assert_int_eq(redirect_to(&r, "http://a.test/2", 1).reason, REASON_NONE);
    ck_assert_int_eq(redirect_to(&r, "http://a.test/3", 2).reason, REASON_NONE);
    ck_assert_int_eq(redirect_to(&r, "http://a.test/1", 3).reason,
                     REASON_REDIRECT_LOOP);
    ck_assert_uint_eq(rig_stats(&r).redirects, 3);
    ck_assert_uint_eq(rig_stats(&r).seeds_failed, 1); /* that of the chain */
    ck_assert_uint_eq(rig_counter(&r, "redirect.redirect_loop"), 1);
    t = tries_of(&r);
    ck_assert_uint_eq(t.n, 3);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(t.rows[i].redirect_to, i == 2 ? 1 : i + 2);
    rig_fini(&r);
}

TEST(a_redirect_to_itself_is_a_loop_and_counts_its_seed_once)
{
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    ck_assert_int_eq(redirect_to(&r, "http://a.test/1", 1).reason,
                     REASON_REDIRECT_LOOP);
    ck_assert_uint_eq(rig_stats(&r).seeds_failed, 1);
    rig_fini(&r);
}

/* The page a link stands on is no part of the chain. */
TEST(a_redirect_to_the_page_that_linked_to_it_is_no_loop)
{
    struct engine_item link;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/page");
    link = rig_item(&r, "http://a.test/link");
    (void)rig_page(&r, &link, 1);
    ck_assert_int_eq(redirect_to(&r, "http://a.test/page", 1).reason,
                     REASON_NONE);
    ck_assert_uint_eq(rig_stats(&r).seeds_failed, 0);
    rig_fini(&r);
}

/* A loop that no seed leads into fails none. */
TEST(a_loop_behind_a_link_fails_no_seed)
{
    struct engine_item link;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/page");
    link = rig_item(&r, "http://a.test/1");
    (void)rig_page(&r, &link, 1);
    (void)redirect_to(&r, "http://a.test/2", 1);
    ck_assert_int_eq(redirect_to(&r, "http://a.test/1", 2).reason,
                     REASON_REDIRECT_LOOP);
    ck_assert_uint_eq(rig_stats(&r).seeds_failed, 0);
    rig_fini(&r);
}

TEST(a_redirect_without_a_target_that_was_admitted_names_none)
{
    struct engine_done d;
    struct tries t;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    d = done_of(&r, rig_lease(&r),
                (struct outcome){OUTCOME_REDIRECT, REASON_REDIRECT_SCOPE, 301});
    d.row.redirect_url = bytes_of_str("http://b.test/");
    ack(&r, &d);
    ck_assert_int_eq(d.outcome.reason, REASON_REDIRECT_SCOPE);
    t = tries_of(&r);
    ck_assert_uint_eq(t.n, 1);
    ck_assert_uint_eq(t.rows[0].redirect_to, 0);
    rig_fini(&r);
}

/* ---- links ---- */

TEST(each_link_is_new_a_duplicate_or_a_drop)
{
    struct engine_drop drop = {.reason = REASON_SCOPE,
                               .host = bytes_of_str("x.test"),
                               .url = bytes_of_str("http://x.test/")};
    struct engine_item links[3];
    struct engine_done d;
    struct engine_stats s;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    links[0] = rig_item(&r, "http://a.test/1");
    links[1] = rig_item(&r, "http://a.test/");
    links[2] = rig_item(&r, "http://a.test/1");
    d = done_of(&r, rig_lease(&r), fetched);
    d.outlinks = links;
    d.outlink_count = 3;
    d.drops = &drop;
    d.drop_count = 1;
    d.repeats = 5;
    d.over = 7;
    ack(&r, &d);
    s = rig_stats(&r);
    ck_assert_uint_eq(s.links, 3 + 1 + 5 + 7);
    ck_assert_uint_eq(s.duplicates, 2 + 5);
    ck_assert_uint_eq(s.dropped, 1 + 7);
    ck_assert_uint_eq(s.urls, 2);
    ck_assert_uint_eq(rig_counter(&r, "dropped.link_count"), 7);
    ck_assert_uint_eq(rig_counter(&r, "dropped.scope"), 1);
    rig_fini(&r);
}

/* Of pages with one body, in one call or in two, the first one's links are
 * taken; a body whose links nobody read is no such page. */
TEST(links_of_a_body_seen_before_are_dropped_once_they_were_read)
{
    const struct outcome failed = {OUTCOME_FAILED, REASON_HTTP, 404};
    const struct outcome noindex = {OUTCOME_SKIPPED, REASON_NOINDEX, 200};
    const struct {
        struct outcome first, second;
        bool together, dropped;
    } all[] = {
        {fetched, fetched, true, true},  {fetched, fetched, false, true},
        {failed, fetched, true, false},  {failed, fetched, false, false},
        {noindex, fetched, true, true},  {noindex, fetched, false, true},
        {fetched, failed, false, false},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct engine_item links[2];
        struct engine_done d[2];
        struct rig r;

        rig_init(&r);
        r.o.skip_same_content = true;
        rig_create(&r);
        rig_seed(&r, "http://a.test/1");
        rig_seed(&r, "http://a.test/2");
        d[0] = done_of(&r, rig_lease(&r), all[i].first);
        d[1] = done_of(&r, rig_lease(&r), all[i].second);
        links[0] = rig_item(&r, "http://a.test/x");
        links[1] = rig_item(&r, "http://a.test/y");
        for (size_t k = 0; k < 2; k++) {
            d[k].row.body_digest = (struct digest){7, 8};
            d[k].outlinks = &links[k];
            d[k].outlink_count = 1;
        }
        if (all[i].together)
            ck_ok(r.e->ops->ack(r.e, d, 2, r.now, RIG_WALL));
        else
            for (size_t k = 0; k < 2; k++)
                ack(&r, &d[k]);
        ck_assert_msg(rig_counter(&r, "dropped.same_content") ==
                          (all[i].dropped ? 1 : 0),
                      "case %zu", i);
        ck_assert_uint_eq(rig_stats(&r).urls, all[i].dropped ? 3 : 4);
        rig_fini(&r);
    }
}

/* The same of texts that differ in up to three bits of their fingerprints; of a
 * page that was cut, nobody knows the text. */
TEST(links_of_a_text_nearly_seen_before_are_dropped_once_it_was_read)
{
    const struct outcome failed = {OUTCOME_FAILED, REASON_HTTP, 404};
    const struct outcome cut = {OUTCOME_FETCHED, REASON_TRUNCATED_LENGTH, 200};
    const struct {
        struct outcome first;
        uint64_t apart; /* bits */
        bool together, dropped;
    } all[] = {
        {fetched, 7, true, true},   {fetched, 7, false, true},
        {fetched, 15, true, false}, {fetched, 15, false, false},
        {failed, 7, true, false},   {failed, 7, false, false},
        {cut, 7, true, false},      {cut, 7, false, false},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct engine_item links[2];
        struct engine_done d[2];
        struct rig r;

        rig_init(&r);
        r.o.watch_near = r.o.skip_near_dup = true;
        rig_create(&r);
        rig_seed(&r, "http://a.test/1");
        rig_seed(&r, "http://a.test/2");
        d[0] = done_of(&r, rig_lease(&r), all[i].first);
        d[1] = done_of(&r, rig_lease(&r), fetched);
        links[0] = rig_item(&r, "http://a.test/x");
        links[1] = rig_item(&r, "http://a.test/y");
        for (size_t k = 0; k < 2; k++) {
            d[k].row.simhash = UINT64_C(0x5a5a0000a5a50000);
            d[k].outlinks = &links[k];
            d[k].outlink_count = 1;
        }
        d[1].row.simhash ^= all[i].apart;
        if (all[i].together)
            ck_ok(r.e->ops->ack(r.e, d, 2, r.now, RIG_WALL));
        else
            for (size_t k = 0; k < 2; k++)
                ack(&r, &d[k]);
        ck_assert_msg(rig_counter(&r, "dropped.near_dup") ==
                          (all[i].dropped ? 1 : 0),
                      "case %zu", i);
        ck_assert_uint_eq(rig_stats(&r).urls, all[i].dropped ? 3 : 4);
        rig_fini(&r);
    }
}

TEST(a_page_without_a_body_is_like_no_other)
{
    struct engine_item links[2];
    struct engine_done d[2];
    struct rig r;

    rig_init(&r);
    r.o.skip_same_content = true;
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://a.test/2");
    for (size_t k = 0; k < 2; k++) {
        links[k] = rig_item(&r, k == 0 ? "http://a.test/x" : "http://a.test/y");
        d[k] = done_of(&r, rig_lease(&r), fetched);
        d[k].outlinks = &links[k];
        d[k].outlink_count = 1;
    }
    ck_ok(r.e->ops->ack(r.e, d, 2, r.now, RIG_WALL));
    ck_assert_uint_eq(rig_stats(&r).urls, 4);
    rig_fini(&r);
}

/* ---- what is counted, by kind and outcome ---- */

TEST(lists_of_urls_are_counted_apart_from_pages)
{
    struct engine_item map;
    struct engine_done d;
    struct rig r;

    rig_init(&r);
    r.o.listings = LINK_BIT(LINK_SITEMAP);
    r.o.budgets.host_pages = 1;
    rig_create(&r);
    map = rig_item(&r, "http://a.test/map.xml");
    map.kind = LINK_SITEMAP;
    ck_assert_int_eq(rig_put(&r, map), ENGINE_NEW);
    rig_seed(&r, "http://a.test/1");
    d = done_of(&r, rig_lease(&r), fetched);
    d.row.wire_bytes = 100;
    ack(&r, &d);
    ck_assert_uint_eq(rig_stats(&r).sitemaps, 1);
    ck_assert_uint_eq(rig_stats(&r).pages, 0);
    d = done_of(&r, rig_lease(&r), fetched); /* within the limit of pages */
    d.row.wire_bytes = 20;
    ack(&r, &d);
    ck_assert_uint_eq(rig_stats(&r).pages, 1);
    ck_assert_uint_eq(rig_stats(&r).fetched, 2);
    ck_assert_uint_eq(rig_stats(&r).bytes, 120);
    rig_fini(&r);
}

/* ---- what a response says of its host ---- */

static struct engine_host_row host_row(struct rig *r)
{
    struct engine_host_row row;
    bool all = false;

    ck_assert_uint_eq(r->e->ops->hosts(r->e, ENGINE_HOSTS_BIGGEST, 1, r->now,
                                       &row, &all),
                      1);
    return row;
}

/* Ten URLs of one host. */
static void begin_host(struct rig *r)
{
    char url[32];

    rig_init(r);
    r->o.conns_per_host = 1;
    r->o.schedule.max_delay = 100 * NS_PER_S;
    rig_create(r);
    for (int i = 0; i < 10; i++) {
        snprintf(url, sizeof url, "http://a.test/%d", i);
        rig_seed(r, url);
    }
}

/* A host's first connection is mostly the one for robots.txt, which has no row
 * of its own. */
TEST(a_row_says_whether_it_or_a_robots_txt_before_it_took_a_connection)
{
    const unsigned opened = FETCH_ROW_CONNECTED | FETCH_ROW_HANDSHAKE;
    struct engine_host_news robots = {.crawl_delay_ms = -1,
                                      .retry_after_ms = -1,
                                      .connections = 1,
                                      .handshake = true};
    struct engine_done d;
    struct tries t;
    struct rig r;

    begin_host(&r);
    robots.ended = r.now;
    ck_ok(r.e->ops->release(r.e, rig_lease(&r), 0, &robots, r.now, RIG_WALL));
    for (unsigned i = 0; i < 3; i++) { /* open, open, closed meanwhile */
        d = done_of(&r, rig_lease(&r), fetched);
        d.host.connections = i == 2 ? 2 : 0;
        ack(&r, &d);
    }
    d = done_of(&r, rig_lease(&r),
                (struct outcome){OUTCOME_FAILED, REASON_CONNECT, 0});
    ack(&r, &d);
    t = tries_of(&r);
    ck_assert_uint_eq(t.n, 4);
    ck_assert_uint_eq(t.rows[0].flags, opened | FETCH_ROW_KEPT);
    ck_assert_uint_eq(t.rows[1].flags, FETCH_ROW_KEPT);
    ck_assert_uint_eq(t.rows[2].flags, FETCH_ROW_CONNECTED);
    ck_assert_uint_eq(t.rows[3].flags, 0);
    ck_assert_uint_eq(host_row(&r).requests, 5);
    ck_assert_uint_eq(host_row(&r).connections, 3);
    ck_assert_uint_eq(host_row(&r).handshakes, 1);
    rig_fini(&r);
}

TEST(the_latency_of_a_host_is_an_average_of_its_last_responses)
{
    struct engine_done d;
    struct rig r;

    begin_host(&r);
    ck_assert_uint_eq(host_row(&r).latency_us, 0);
    d = done_of(&r, rig_lease(&r), fetched);
    d.row.elapsed_ms = 80;
    ack(&r, &d);
    ck_assert_uint_eq(host_row(&r).latency_us, 80001);
    d = done_of(&r, rig_lease(&r), fetched);
    d.row.elapsed_ms = 0;
    ack(&r, &d);
    ck_assert_uint_eq(host_row(&r).latency_us, (7 * 80001 + 1) / 8);
    d = done_of(&r, rig_lease(&r),
                (struct outcome){OUTCOME_FAILED, REASON_TIMEOUT, 0});
    d.row.elapsed_ms = 9000; /* no response */
    ack(&r, &d);
    ck_assert_uint_eq(host_row(&r).latency_us, (7 * 80001 + 1) / 8);
    ck_assert_uint_eq(host_row(&r).fetched, 2);
    d = done_of(&r, rig_lease(&r), fetched);
    d.row.elapsed_ms = UINT32_MAX;
    ack(&r, &d);
    ck_assert_uint_eq(host_row(&r).latency_us, UINT32_MAX);
    rig_fini(&r);
}

TEST(errors_in_a_row_are_counted_and_end_with_a_response)
{
    static const struct {
        struct outcome o;
        uint32_t failures;
    } all[] = {
        {{OUTCOME_FAILED, REASON_HTTP, 500}, 1},
        {{OUTCOME_FAILED, REASON_TIMEOUT, 0}, 2},
        {{OUTCOME_FAILED, REASON_RESET, 0}, 3},
        {{OUTCOME_FAILED, REASON_HTTP, 599}, 4},
        {{OUTCOME_FAILED, REASON_HTTP, 499}, 0},
        {{OUTCOME_FAILED, REASON_HTTP, 503}, 1},
        {{OUTCOME_FAILED, REASON_PROTOCOL, 0}, 0},
        {{OUTCOME_FAILED, REASON_TIMEOUT, 0}, 1},
        {{OUTCOME_FETCHED, REASON_NONE, 200}, 0},
    };
    struct rig r;

    begin_host(&r);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct engine_done d;

        r.now += 200 * NS_PER_S;
        d = done_of(&r, rig_lease(&r), all[i].o);
        d.host.http_status = all[i].o.http_status;
        ack(&r, &d);
        ck_assert_msg(host_row(&r).failures == all[i].failures, "%zu: %u", i,
                      host_row(&r).failures);
        if (all[i].o.http_status != 0)
            ck_assert_uint_eq(host_row(&r).http_status, all[i].o.http_status);
    }
    rig_fini(&r);
}

/* A robots.txt that was read sets the delay, one without a delay takes it
 * away, and one that was not read changes nothing. */
TEST(the_delay_of_a_robots_file_holds_until_another_is_read)
{
    static const struct {
        int64_t told_ms, delay_ms;
    } all[] = {{-2, 0}, {3000, 3000}, {-2, 3000}, {5000, 5000}, {-1, 0}};
    struct rig r;

    rig_init(&r);
    r.o.schedule.max_crawl_delay = 60 * NS_PER_S;
    r.o.conns_per_host = 1;
    rig_create(&r);
    for (int i = 0; i < 6; i++) {
        char url[32];

        snprintf(url, sizeof url, "http://a.test/%d", i);
        rig_seed(&r, url);
    }
    rig_commit(&r);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct engine_done d;

        r.now += 60 * NS_PER_S;
        d = done_of(&r, rig_lease(&r), fetched);
        d.host.crawl_delay_ms = all[i].told_ms;
        ack(&r, &d);
        ck_assert_int_eq(host_row(&r).delay, all[i].delay_ms * NS_PER_MS);
        ck_assert_int_eq(host_row(&r).due, r.now + all[i].delay_ms * NS_PER_MS);
        /* at once: a crash must not lose it */
        ck_ok(r.e->ops->turn(r.e, false, r.now, RIG_WALL, NULL));
        rig_crash(&r);
        ck_assert_int_eq(host_row(&r).delay, all[i].delay_ms * NS_PER_MS);
    }
    rig_fini(&r);
}
