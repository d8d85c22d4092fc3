/* SPDX-License-Identifier: MIT */
/* test_frontier_refresh.c - done URLs are fetched again at their dates. */
#include "frontier/crawl/refresh_rule.h"
#include "tests/unit/frontier/crawl/judge_rig.h"

#define EVERY 10000 /* ms */

static const struct outcome page = {OUTCOME_FETCHED, REASON_NONE, 200};
static const struct outcome missing = {OUTCOME_FAILED, REASON_HTTP, 404};
static const struct outcome late = {OUTCOME_FAILED, REASON_TIMEOUT, 0};

static void begin(struct rig *r)
{
    rig_init(r);
    r->o.refresh = (struct refresh_rules){.every_ms = EVERY,
                                          .min_ms = EVERY,
                                          .share = 0.5};
    rig_create(r);
}

static void advance(struct rig *r, int64_t ms)
{
    r->now += ms * NS_PER_MS;
}

/* 0: none is due at this moment. */
static uint64_t lease_at(struct rig *r)
{
    struct url_lease l;
    size_t n = 0;

    ck_ok(frontier_lease(r->e, 1, r->now, rig_wall(r), &l, &n));
    return n > 0 ? l.id : 0;
}

static int64_t fresh_ms; /* as the server says, of all responses */

static void ack_body(struct rig *r, uint64_t id, struct outcome o,
                     uint64_t body, bool transient)
{
    struct url_done d = {
        .id = id,
        .outcome = o,
        .transient = transient,
        .fresh_ms = fresh_ms,
        .row = {.at_ms = rig_wall(r),
                .body_digest = {body, body},
                .body_print = body,
                .body_bytes = 100},
        .host = {.ended = r->now, .retry_after_ms = -1},
    };

    ck_ok(frontier_ack(r->e, &d, 1, r->now, rig_wall(r)));
}

static uint64_t fetch(struct rig *r, struct outcome o, uint64_t body)
{
    uint64_t id = lease_at(r);

    ck_assert_uint_ne(id, 0);
    ack_body(r, id, o, body, false);
    rig_turn(r);
    return id;
}

static void end(struct rig *r)
{
    rig_stop(r);
    rig_verify(r);
    rig_fini(r);
}

TIMEOUT(120);

TEST(a_missing_page_is_asked_twice_more_then_gone)
{
    struct rig r;

    begin(&r);
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    advance(&r, EVERY);
    (void)fetch(&r, missing, 0);
    ck_assert_uint_eq(rig_stats(&r).failed, 1);
    ck_assert_uint_eq(rig_stats(&r).fetched, 0);
    ck_assert_uint_eq(rig_stats(&r).seeds_failed, 1);
    advance(&r, EVERY);
    (void)fetch(&r, missing, 0);
    advance(&r, 2 * EVERY - 1);
    ck_assert_uint_eq(lease_at(&r), 0);
    advance(&r, 1);
    (void)fetch(&r, missing, 0);
    ck_assert_uint_eq(rig_stats(&r).dated, 0);
    ck_assert_uint_eq(rig_stats(&r).gone, 1);
    advance(&r, 100 * EVERY);
    ck_assert_uint_eq(lease_at(&r), 0);
    end(&r);
}

/* Promise (Commands and options): the numbers of overdue URLs, the age of the
 * oldest, and the estimate of how many are up to date survive kills and agree
 * with the calendar. See also `make sim`. */
TEST(overdue_urls_are_counted_again_after_a_restart)
{
    struct rig r;

    begin(&r);
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    ck_assert_uint_eq(rig_stats(&r).overdue, 0);
    advance(&r, EVERY + 300000);
    (void)fetch(&r, late, 0);
    ck_assert_uint_eq(rig_stats(&r).overdue, 0); /* it has its next date */
    advance(&r, EVERY + 300000);
    for (int run = 0; run < 2; run++) {
        (void)lease_at(&r);
        ck_assert_uint_eq(rig_stats(&r).overdue, 1);
        ck_assert_uint_ge(rig_stats(&r).overdue_for, 300);
        ck_assert_uint_lt(rig_stats(&r).overdue_for, 361);
        rig_reopen(&r);
        rig_turn(&r);
    }
    end(&r);
}

/* Fetches the page, which has this link and the first `n` drops: what is kept
 * for a setting that is widened, and rows of paths, from then on. */
static void fetch_links(struct rig *r, size_t n, uint64_t *kept, int64_t *paths)
{
    const struct url_drop drops[] = {
        judge_drop("http://a.test/deep", REASON_DEPTH),
        judge_drop("http://a.test/out", REASON_EXCLUDE),
        judge_drop("http://a.test/new", REASON_EXCLUDE),
    };
    struct url_item link = rig_item(r, "http://a.test/"); /* itself */
    struct reader reader;

    advance(r, EVERY);
    link.depth = 1;
    ck_ok(frontier_ack(r->e,
                       &(struct url_done){.id = lease_at(r),
                                          .outcome = page,
                                          .row = {.at_ms = rig_wall(r)},
                                          .outlinks = &link,
                                          .outlink_count = 1,
                                          .drops = drops,
                                          .drop_count = n,
                                          .host = {.ended = r->now,
                                                   .retry_after_ms = -1}},
                       1, r->now, rig_wall(r)));
    rig_commit(r);
    *kept = rig_counter(r, "drops_kept");
    ck_ok(reader_open(&reader, r->at.dir));
    ck_ok(db_number(reader.db, "SELECT count(*) FROM path", paths));
    reader_close(&reader);
}

/* Promise (Seen check and store): a page that is fetched again and again with
 * the same links adds nothing to what is kept of links; new ones are added. */
TEST(the_same_links_are_kept_once)
{
    uint64_t kept, before;
    int64_t paths, rows;
    struct rig r;

    judge_init(&r);
    r.o.refresh = (struct refresh_rules){.every_ms = EVERY,
                                         .min_ms = EVERY,
                                         .share = 0.5};
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    fetch_links(&r, 2, &kept, &paths);
    judge_terms(&r, 1, NULL);
    judge_again(&r, 0); /* from here on paths are kept */
    fetch_links(&r, 2, &before, &rows);
    for (int i = 0; i < 3; i++) {
        rig_reopen(&r);
        fetch_links(&r, 2, &kept, &paths);
        ck_assert_uint_eq(kept, before);
        ck_assert_int_eq(paths, rows);
    }
    fetch_links(&r, 3, &kept, &paths);
    ck_assert_uint_gt(kept, before);
    ck_assert_int_gt(paths, rows);
    rig_stop(&r);
    rig_verify(&r);
    judge_fini(&r);
}

/* --until-idle ends then: what was to be tried again is kept out since. */
TEST(a_page_that_a_setting_keeps_out_is_not_tried_again)
{
    struct rig r;

    judge_init(&r);
    r.o.tries = 3;
    r.o.refresh = (struct refresh_rules){.every_ms = EVERY, .min_ms = EVERY};
    rig_create(&r);
    judge_again(&r, 0);
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    advance(&r, EVERY);
    ack_body(&r, lease_at(&r), late, 0, true);
    ck_assert(rig_stats(&r).retrying);
    rig_stop(&r);
    judge_terms(&r, -1, "a.test");
    r.o.recheck = r.o.judge.scope;
    rig_reopen(&r);
    judge_again(&r, 0);
    advance(&r, EVERY);
    ck_assert_uint_eq(lease_at(&r), 0);
    ck_assert_uint_eq(rig_stats(&r).dated, 1);
    ck_assert(!rig_stats(&r).retrying);
    judge_fini(&r);
}

/* Leases the one URL, which is due, and gives it back: its robots.txt is
 * redirected to b.test. */
static uint64_t send_across(struct rig *r)
{
    const struct host_news news = {.retry_after_ms = -1,
                                   .robots_host = bytes_of_str("b.test")};
    uint64_t id = lease_at(r);

    ck_assert_uint_ne(id, 0);
    ck_ok(frontier_release(r->e, id, 0, &news, r->now, rig_wall(r)));
    rig_turn(r);
    ck_assert_uint_eq(rig_stats(r).due, 1); /* --until-idle waits for it */
    return id;
}

/* A robots.txt redirected to another host: the URL goes out once more, for that
 * host, and keeps its date until it is settled. As any refresh it is no page
 * that a budget counts. */
TEST(a_refresh_may_wait_for_the_robots_txt_of_another_host)
{
    struct url_lease l;
    struct rig r;
    uint64_t id;
    size_t n = 0;

    begin(&r);
    frontier_set_limits(r.e, 0, &(struct budgets){.host_pages = 1});
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    for (int crash = 0; crash < 2; crash++) {
        advance(&r, EVERY);
        id = send_across(&r);
        if (crash)
            rig_crash(&r);
        ck_ok(frontier_lease(r.e, 9, r.now, rig_wall(&r), &l, &n));
        ck_assert_uint_eq(n, 1);
        ck_assert_uint_eq(l.id, id);
        ck_assert_int_eq(bytes_is(l.robots_host, "b.test"), !crash);
        ack_body(&r, id, page, 1, false);
        ck_assert_uint_eq(lease_at(&r), 0);
    }
    ck_assert_uint_eq(rig_stats(&r).refreshed, 2);
    end(&r);
}

/* Of a host that is over its limit nothing is due, whatever else it waits for. */
TEST(a_limit_puts_off_a_refresh_that_waits_for_another_host)
{
    struct rig r;

    begin(&r);
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    advance(&r, EVERY);
    (void)send_across(&r);
    ck_ok(frontier_block(r.e, bytes_of_str("b.test"), INT64_MAX, r.now,
                         rig_wall(&r)));
    ck_assert_uint_eq(lease_at(&r), 0);
    ck_assert_uint_eq(rig_stats(&r).due, 1);
    ck_ok(frontier_limit_queue(r.e, 1, 1, 1, r.now));
    for (int i = 0; i < 2; i++)
        ck_assert_uint_eq(lease_at(&r), 0);
    ck_assert_uint_eq(rig_stats(&r).due, 0);
    ck_ok(frontier_limit_queue(r.e, 1, 0, 0, r.now));
    (void)fetch(&r, page, 1);
    end(&r);
}

/* The host of the one URL does not respond, until it is given up. */
static void give_up(struct rig *r)
{
    struct url_done d = {
        .outcome = {OUTCOME_FAILED, REASON_CONNECT, 0},
        .transient = true,
        .host = {.retry_after_ms = -1, .unreachable = true, .silent = true},
    };

    for (int i = 0; i < 100 && (d.id = lease_at(r)) != 0; i++) {
        ck_assert(!rig_stats(r).dates_given_up);
        d.row.at_ms = rig_wall(r);
        d.host.ended = r->now;
        ck_ok(frontier_ack(r->e, &d, 1, r->now, rig_wall(r)));
        ck_assert_uint_eq(rig_stats(r).due, 1); /* until it is given up */
        advance(r, 2000);
    }
    ck_assert_uint_eq(d.id, 0);
    ck_assert_uint_eq(rig_stats(r).dated, 1);
}

TEST(a_host_that_is_given_up_is_asked_again_later)
{
    struct rig r;

    rig_init(&r);
    r.o.refresh = (struct refresh_rules){.every_ms = EVERY,
                                         .min_ms = 100000,
                                         .share = 0.5};
    r.o.schedule.give_up = 3 * NS_PER_S;
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    advance(&r, EVERY);
    ck_assert(!rig_stats(&r).due_given_up);
    give_up(&r);
    ck_assert(!rig_stats(&r).dates_given_up);
    ck_assert(rig_stats(&r).due_given_up);
    advance(&r, 50000);
    ck_assert_uint_eq(lease_at(&r), 0);
    advance(&r, 60000);
    (void)fetch(&r, page, 1);
    ck_assert(!rig_stats(&r).due_given_up);
    end(&r);
}

/* ---- a person asks ---- */

static const char *const done[] = {"http://a.test/1", "http://a.test/22",
                                   "http://b.test/1", "http://b.test/22"};
#define DONE (sizeof done / sizeof *done)

/* Some pages, of a crawl without dates or of one with far ones; ids from 1. */
static void begin_done(struct rig *r, int64_t every_ms)
{
    rig_init(r);
    r->o.refresh = (struct refresh_rules){.every_ms = every_ms,
                                          .min_ms = EVERY,
                                          .share = 0.5};
    rig_create(r);
    for (size_t i = 0; i < DONE; i++) {
        rig_seed(r, done[i]);
        ck_assert_uint_eq(fetch(r, page, 1), i + 1);
    }
    ck_assert_uint_eq(rig_stats(r).dated, every_ms != 0 ? DONE : 0);
    advance(r, 10);
    ck_assert_uint_eq(lease_at(r), 0);
}

static bool is_22(const void *ctx, struct bytes url)
{
    (void)ctx;
    return url.len > 2 && memcmp(url.at + url.len - 2, "22", 2) == 0;
}

static bool ask_step(struct rig *r, struct refresh_request *q, size_t most)
{
    bool over = false;

    ck_ok(frontier_refresh_urls(r->e, q, most, r->now, rig_wall(r), &over));
    return over;
}

/* In steps of `most`; returns how many URLs it made due. */
static uint64_t ask(struct rig *r, struct refresh_request q, size_t most)
{
    for (unsigned steps = 0; !ask_step(r, &q, most); steps++)
        ck_assert_uint_lt(steps, 100);
    free(q.walk.seen);
    rig_turn(r);
    return q.dated;
}

/* What is due is what `ids` has a bit for, each once. */
static void fetch_exactly(struct rig *r, unsigned ids)
{
    while (ids != 0) {
        unsigned bit = 1U << fetch(r, page, 1);

        ck_assert_uint_ne(ids & bit, 0);
        ids &= ~bit;
    }
    ck_assert_uint_eq(lease_at(r), 0);
}

/* A crawl that gives no dates itself would go on for ever. */
TEST(what_a_person_asked_of_a_host_that_is_given_up_is_for_the_next_run)
{
    struct rig r;

    rig_init(&r);
    r.o.refresh = (struct refresh_rules){.min_ms = EVERY, .share = 0.5};
    r.o.schedule.give_up = 3 * NS_PER_S;
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    ck_assert_uint_eq(ask(&r, (struct refresh_request){.now = true}, 10), 1);
    give_up(&r);
    ck_assert(rig_stats(&r).dates_given_up);
    advance(&r, 86400000);
    ck_assert_uint_eq(lease_at(&r), 0);
    ck_assert(rig_stats(&r).dates_given_up);
    rig_crash(&r);
    ck_assert(!rig_stats(&r).dates_given_up);
    (void)fetch(&r, page, 1);
    ck_assert_uint_eq(rig_stats(&r).dated, 0);
    end(&r);
}

static const int64_t everies[] = {0, 100 * (int64_t)EVERY};

/* Promise (Commands and options): refresh makes URLs due again, by host and
 * pattern, in a crawl with or without --refresh, while it runs and after; each
 * is fetched once for that; a kill at any step leaves each done or due. See
 * also `tests/cli/refresh.sh`, `make sim`. */
TEST_LOOP(a_person_makes_urls_due_by_host_and_by_pattern, 0, 2)
{
    const struct bytes b = bytes_of_str("b.test"), c = bytes_of_str("c.test");
    struct rig r;

    for (size_t most = 1; most < 2 * DONE; most++) {
        begin_done(&r, everies[_i]);
        ck_assert_uint_eq(
            ask(&r, (struct refresh_request){.host = c, .now = true}, most), 0);
        fetch_exactly(&r, 0);
        ck_assert_uint_eq(
            ask(&r, (struct refresh_request){.host = b, .now = true}, most), 2);
        ck_assert_uint_eq(rig_stats(&r).dated, everies[_i] != 0 ? DONE : 2);
        fetch_exactly(&r, 1U << 3 | 1U << 4);
        ck_assert_uint_eq(
            ask(&r, (struct refresh_request){.wants = is_22, .now = true},
                most),
            2);
        fetch_exactly(&r, 1U << 2 | 1U << 4);
        ck_assert_uint_eq(ask(&r,
                              (struct refresh_request){.host = b,
                                                       .wants = is_22,
                                                       .now = true},
                              most),
                          1);
        fetch_exactly(&r, 1U << 4);
        ck_assert_uint_eq(ask(&r, (struct refresh_request){.now = true}, most),
                          DONE);
        ck_assert_uint_eq(ask(&r, (struct refresh_request){.now = true}, most),
                          0); /* they are due */
        fetch_exactly(&r, 0x1e);
        ck_assert_uint_eq(rig_stats(&r).refreshed, 9);
        ck_assert_uint_eq(rig_stats(&r).dated, everies[_i] != 0 ? DONE : 0);
        end(&r);
    }
}

/* ---- adaptive ---- */

static const struct refresh_rules adaptive = {.every_ms = REFRESH_ADAPTIVE,
                                              .min_ms = EVERY,
                                              .max_ms = 100 * EVERY,
                                              .share = 0.5};

/* Waits for the next date, fetches the URL, and returns how long that was. */
static int64_t fetch_at_date(struct rig *r, struct outcome o, uint64_t body)
{
    int64_t began = r->now;
    uint64_t id = lease_at(r);

    while (id == 0) {
        r->now = frontier_next_due(r->e, r->now, NULL);
        ck_assert_int_ne(r->now, INT64_MAX);
        id = lease_at(r);
    }
    ack_body(r, id, o, body, false);
    rig_turn(r);
    return (r->now - began) / NS_PER_MS;
}

static void begin_adaptive(struct rig *r)
{
    rig_init(r);
    r->o.refresh = adaptive;
    rig_create(r);
    rig_seed(r, "http://a.test/");
    (void)fetch(r, page, 1);
}

TEST(other_bounds_move_the_dates_and_an_error_teaches_nothing)
{
    struct refresh_rules wider = adaptive;
    struct rig r;

    begin_adaptive(&r);
    (void)fetch_at_date(&r, late, 0);
    ck_assert_int_eq(fetch_at_date(&r, page, 2), 10 * EVERY);
    wider.max_ms = 400 * EVERY; /* it is still a stranger */
    frontier_set_refresh(r.e, &wider);
    rig_turn(&r);
    rig_turn(&r);
    ck_assert_int_eq(fetch_at_date(&r, page, 2), 20 * EVERY);
    end(&r);
}

/* ---- the same text ---- */

static void fetch_text(struct rig *r, uint64_t body, uint64_t text)
{
    struct url_done d = {
        .id = lease_at(r),
        .outcome = page,
        .row = {.at_ms = rig_wall(r),
                .body_digest = {body, body},
                .body_print = body,
                .text_digest = {text, text}},
        .host = {.ended = r->now, .retry_after_ms = -1},
    };

    ck_assert_uint_ne(d.id, 0);
    ck_ok(frontier_ack(r->e, &d, 1, r->now, rig_wall(r)));
    rig_turn(r);
    advance(r, EVERY);
}

/* Promise (Commands and options): a page that comes again with the same text is
 * unchanged, in outcome, counters and estimate. */
TEST_LOOP(a_page_with_the_same_text_is_unchanged_as_was_asked_for, 0, 2)
{
    struct rig r;
    bool by_text = _i == 0;

    rig_init(&r);
    r.o.refresh = (struct refresh_rules){.every_ms = EVERY, .share = 0.5};
    r.o.changed_by = by_text ? CHANGED_BY_TEXT : CHANGED_BY_BODY;
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    fetch_text(&r, 1, 1);
    fetch_text(&r, 2, 1); /* a token */
    ck_assert_uint_eq(rig_stats(&r).changed, by_text ? 0 : 1);
    ck_assert_uint_eq(rig_counter(&r, "fetched.unchanged"), by_text);
    fetch_text(&r, 3, 2);
    ck_assert_uint_eq(rig_stats(&r).changed, by_text ? 1 : 2);
    ck_assert_uint_eq(rig_counter(&r, "fetched.unchanged"), 0);
    ck_assert_uint_eq(rig_stats(&r).fetched, 1);
    end(&r);
}

/* ---- hints of sitemaps ---- */

#define HOUR INT64_C(3600000)

static void hint(struct rig *r, const char *url, struct url_hint h)
{
    struct url_item item = rig_item(r, url);

    item.hint = &h;
    (void)rig_put(r, item);
}

static const struct refresh_rules hourly = {.every_ms = REFRESH_ADAPTIVE,
                                            .min_ms = HOUR,
                                            .max_ms = 10000 * HOUR,
                                            .share = 0.5};

/* Promise (Commands and options): a sitemap's lastmod after the last fetch
 * makes a URL due, not sooner than refresh-min; its changefreq, or else how
 * long the response stays fresh, counts until fetches say more; lists of URLs
 * are fetched daily. See also
 * `frontier_refresh/changefreq_counts_until_fetches_say_more`,
 * `frontier_refresh/so_does_how_long_a_response_stays_fresh_within_bounds`,
 * `fetcher/a_page_is_fetched_with_all_that_is_told_of_it`,
 * `refresh_rate/lists_of_urls_are_asked_once_a_day_at_least`. */
TEST(a_lastmod_after_the_last_fetch_makes_a_url_due)
{
    struct url_hint h = {.priority = HINT_NO_PRIORITY};
    struct rig r;
    int64_t now;

    rig_init(&r);
    r.o.refresh = hourly;
    rig_create(&r);
    for (unsigned i = 0; i < 600; i++) { /* more than a step */
        char url[48];

        snprintf(url, sizeof url, "http://a.test/%u", i);
        rig_seed(&r, url);
        (void)fetch(&r, page, 1);
    }
    now = rig_wall(&r);
    advance(&r, 5 * HOUR);
    h.lastmod_ms = now - HOUR; /* known */
    hint(&r, "http://a.test/1", h);
    h.lastmod_ms = now + 100 * HOUR; /* to come */
    hint(&r, "http://a.test/2", h);
    h.lastmod_ms = now + HOUR;
    hint(&r, "http://a.test/590", h);
    for (unsigned i = 0; i < 4; i++)
        rig_turn(&r);
    ck_assert_uint_eq(fetch(&r, page, 2), 591);
    ck_assert_uint_eq(lease_at(&r), 0);
    hint(&r, "http://a.test/590", h); /* it has said so */
    for (unsigned i = 0; i < 4; i++)
        rig_turn(&r);
    ck_assert_uint_eq(lease_at(&r), 0);
    h.lastmod_ms = rig_wall(&r) + 1; /* not sooner than refresh-min */
    advance(&r, 1000);
    hint(&r, "http://a.test/590", h);
    for (unsigned i = 0; i < 4; i++)
        rig_turn(&r);
    ck_assert_uint_eq(lease_at(&r), 0);
    advance(&r, HOUR);
    ck_assert_uint_eq(fetch(&r, page, 2), 591);
    end(&r);
}

TEST(changefreq_counts_until_fetches_say_more)
{
    struct rig r;

    rig_init(&r);
    r.o.refresh = hourly;
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    hint(&r, "http://a.test/",
         (struct url_hint){.priority = HINT_NO_PRIORITY,
                           .lastmod_ms = HINT_NO_LASTMOD,
                           .changefreq = CHANGEFREQ_MONTHLY});
    (void)fetch(&r, page, 1);
    ck_assert_int_eq(fetch_at_date(&r, page, 2) / 1000, 6 * 24 * 3600);
    for (unsigned i = 3; i < 7; i++)
        (void)fetch_at_date(&r, page, i);
    ck_assert_int_lt(fetch_at_date(&r, page, 7), 2 * 24 * HOUR);
    end(&r);
}

/* RFC 9111 section 4.2.1. The interval without a hint is 100 hours. */
TEST(so_does_how_long_a_response_stays_fresh_within_bounds)
{
    const struct {
        int64_t says, is;
    } all[] = {
        {-1, 100 * HOUR},           {0, 100 * HOUR},
        {40 * HOUR, 40 * HOUR},     {300 * HOUR, 300 * HOUR},
        {HOUR / 60, 25 * HOUR / 2}, {INT64_MAX, 800 * HOUR},
    };
    struct rig r;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        rig_init(&r);
        r.o.refresh = hourly;
        rig_create(&r);
        rig_seed(&r, "http://a.test/");
        fresh_ms = all[i].says;
        (void)fetch(&r, page, 1);
        ck_assert_uint_eq(rig_stats(&r).rated, 0); /* only fetches tell */
        ck_assert_int_eq((fetch_at_date(&r, page, 2) + 500) / 1000,
                         all[i].is / 1000);
        ck_assert_uint_eq(rig_stats(&r).rated, 1);
        for (unsigned k = 3; k < 7; k++)
            (void)fetch_at_date(&r, page, k);
        ck_assert_int_lt(fetch_at_date(&r, page, 7), 30 * HOUR);
        fresh_ms = 0;
        end(&r);
    }
}
