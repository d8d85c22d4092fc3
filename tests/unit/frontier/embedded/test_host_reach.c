/* SPDX-License-Identifier: MIT */
/* URLs that fail, hosts that fail, hosts that do not respond: what each one
 * delays, by how much, and what is left at the end. */
#include "tests/unit/frontier/engine_rig.h"

#define S        NS_PER_S
#define URLS     200
#define NO_ERROR ((struct outcome){OUTCOME_FETCHED, REASON_NONE, 200})
#define BUSY     ((struct outcome){OUTCOME_FAILED, REASON_HTTP, 503})
#define REFUSED  ((struct outcome){OUTCOME_FAILED, REASON_CONNECT, 0})
#define BAD_CERT ((struct outcome){OUTCOME_FAILED, REASON_TLS, 0})

/* Starts a crawl with the default settings. */
static void start(struct rig *r)
{
    rig_init(r);
    r->o.schedule = (struct schedule_options){.delay = S,
                                              .adaptive = true,
                                              .max_delay = 30 * S,
                                              .max_crawl_delay = 300 * S,
                                              .retry_delay = S,
                                              .give_up = 300 * S};
    r->o.tries = 3;
    r->o.conns_per_host = 1;
    rig_create(r);
}

static void put_many(struct rig *r, const char *host, unsigned n)
{
    char url[64];

    for (unsigned i = 0; i < n; i++) {
        snprintf(url, sizeof url, "http://%s/%u", host, i);
        rig_seed(r, url);
    }
}

static size_t lease(struct rig *r, struct engine_lease *l, size_t most)
{
    size_t n;

    ck_ok(r->e->ops->lease(r->e, most, r->now, rig_wall(r), l, &n));
    return n;
}

static void ack(struct rig *r, uint64_t id, struct outcome o)
{
    struct engine_done d = {
        .id = id,
        .outcome = o,
        .transient = o.status == OUTCOME_FAILED && o.reason != REASON_TLS,
        .row = {.at_ms = rig_wall(r)},
        .host = {.ended = r->now,
                 .crawl_delay_ms = -2,
                 .retry_after_ms = -1,
                 .unreachable =
                     o.status == OUTCOME_FAILED && o.http_status == 0,
                 .silent = o.reason == REASON_CONNECT},
    };

    ck_ok(r->e->ops->ack(r->e, &d, 1, r->now, rig_wall(r)));
}

/* Answers each URL by `answer` until nothing is due for an hour; returns how
 * long that took. */
struct web {
    struct outcome (*answer)(const struct web *w, struct bytes url,
                             int64_t now);
    int64_t from, to; /* when the server is down */
    unsigned asked;
};

static int64_t crawl(struct rig *r, struct web *w)
{
    int64_t began = r->now, last = r->now;

    while (r->now - last < 3600 * S) {
        struct engine_lease l;

        if (lease(r, &l, 1) == 0) {
            r->now += 10 * NS_PER_MS;
            continue;
        }
        w->asked++;
        r->now += NS_PER_MS;
        ack(r, l.id, w->answer(w, l.url, r->now));
        rig_turn(r);
        last = r->now;
    }
    return last - began;
}

static struct outcome two_are_broken(const struct web *w, struct bytes url,
                                     int64_t now)
{
    (void)w, (void)now;
    return url.at[url.len - 2] == '/' && url.at[url.len - 1] < '2' ? BUSY
                                                                   : NO_ERROR;
}

TIMEOUT(30);

TEST(two_urls_that_always_fail_hold_up_no_other)
{
    struct web w = {.answer = two_are_broken};
    struct rig r;

    start(&r);
    put_many(&r, "a.test", URLS);
    /* each one a second after the one before, with tries in between */
    ck_assert_int_lt(crawl(&r, &w), (URLS + 4 + 5) * (S + 20 * NS_PER_MS));
    ck_assert_uint_eq(w.asked, URLS - 2 + 2 * 3);
    ck_assert_uint_eq(rig_stats(&r).failed, 2);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    rig_fini(&r);
}

static struct outcome is_broken(const struct web *w, struct bytes url,
                                int64_t now)
{
    (void)url;
    return now >= w->from && now < w->to ? BUSY : NO_ERROR;
}

TEST(a_host_whose_urls_all_fail_is_slowed_and_a_success_ends_that)
{
    struct web w = {.answer = is_broken, .from = 0, .to = INT64_MAX};
    struct engine_lease l;
    struct rig r;
    int64_t took;

    start(&r);
    put_many(&r, "a.test", 12);
    took = crawl(&r, &w);
    ck_assert_uint_eq(w.asked, 12 * 3);
    ck_assert_int_gt(took, 300 * S); /* 36 s at the usual pace */
    ck_assert_int_lt(took, 36 * 30 * S);
    put_many(&r, "b.test", 12);
    for (int i = 0; i < 16; i++) { /* the tries of five URLs and of a sixth */
        r.now += 40 * S;
        ck_assert_uint_eq(lease(&r, &l, 1), 1);
        ack(&r, l.id, BUSY);
    }
    r.now += S + S / 2;
    ck_assert_uint_eq(lease(&r, &l, 1), 0); /* it is slowed */
    r.now += 40 * S;
    ck_assert_uint_eq(lease(&r, &l, 1), 1);
    ack(&r, l.id, NO_ERROR);
    r.now += S;
    ck_assert_uint_eq(lease(&r, &l, 1), 1);
    rig_fini(&r);
}

static struct outcome is_down(const struct web *w, struct bytes url,
                              int64_t now)
{
    (void)url;
    return now >= w->from && now < w->to ? REFUSED : NO_ERROR;
}

TEST_LOOP(a_server_that_comes_back_has_lost_nothing, 0, 3)
{
    const int64_t lengths[] = {S, 20 * S, 280 * S};
    struct web w = {.answer = is_down};
    struct rig r;

    start(&r);
    put_many(&r, "a.test", URLS);
    w.from = r.now + 50 * S;
    w.to = w.from + lengths[_i];
    ck_assert_int_lt(crawl(&r, &w),
                     lengths[_i] + 31 * S + URLS * (S + 20 * NS_PER_MS));
    ck_assert_uint_eq(rig_stats(&r).fetched, URLS);
    ck_assert_uint_eq(rig_stats(&r).failed, 0);
    ck_assert_uint_lt(w.asked, URLS + 20);
    rig_fini(&r);
}

TEST(a_host_that_stays_away_is_given_up_with_its_urls)
{
    struct web w = {.answer = is_down, .to = INT64_MAX};
    struct engine_host_row row;
    struct engine_stats s;
    struct rig r;
    bool all;

    start(&r);
    put_many(&r, "a.test", URLS);
    ck_assert_int_eq(crawl(&r, &w) / S, 300); /* asked a last time at its end */
    ck_assert_uint_le(w.asked, 5 + 300 / 30 + 1);
    s = rig_stats(&r);
    ck_assert_uint_eq(s.queued, URLS);
    ck_assert_uint_eq(s.given_up, URLS);
    ck_assert_uint_eq(s.failed, 0);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, NULL), INT64_MAX);
    ck_assert_uint_eq(r.e->ops->hosts(r.e, ENGINE_HOSTS_BLOCKED, 1, r.now, &row,
                                      &all),
                      1);
    ck_assert_int_eq(row.state, ENGINE_HOST_DEAD);
    ck_assert_str_eq(row.why, "connect");
    ck_assert_uint_eq(row.queued, URLS);

    w.to = 0; /* the others go on, and a new run starts from zero */
    put_many(&r, "b.test", 3);
    crawl(&r, &w);
    ck_assert_uint_eq(rig_stats(&r).fetched, 3);
    rig_crash(&r);
    ck_assert_uint_eq(rig_stats(&r).given_up, 0);
    crawl(&r, &w);
    ck_assert_uint_eq(rig_stats(&r).fetched, URLS + 3);
    rig_fini(&r);
}

static struct outcome port_is_closed(const struct web *w, struct bytes url,
                                     int64_t now)
{
    (void)w, (void)now;
    return bytes_starts_with(url, "http://a.test:81/") ? REFUSED : NO_ERROR;
}

/* A queue belongs to a host, whatever the port. */
/* While an older copy of its robots.txt is good, each hour or so a URL is given
 * back for a robots.txt that did not come: that is no response. */
TEST(a_robots_txt_that_does_not_come_is_no_response_either)
{
    struct engine_lease l;
    struct rig r;

    start(&r);
    put_many(&r, "a.test", 3);
    for (unsigned asked = 0; r.now < 3600 * S && rig_stats(&r).given_up == 0;) {
        const struct engine_host_news news = {.ended = r.now,
                                              .crawl_delay_ms = -2,
                                              .retry_after_ms = -1,
                                              .unreachable = true,
                                              .silent = true};

        r.now += 10 * NS_PER_MS;
        if (lease(&r, &l, 1) == 0)
            continue;
        if (++asked % 4 == 3)
            ck_ok(r.e->ops->release(r.e, l.id, 0, &news, r.now, rig_wall(&r)));
        else
            ack(&r, l.id, REFUSED);
        rig_turn(&r);
    }
    ck_assert_uint_eq(rig_stats(&r).given_up, 3);
    rig_fini(&r);
}

TEST(a_closed_port_of_a_host_that_responds_holds_up_no_other)
{
    struct web w = {.answer = port_is_closed};
    struct rig r;

    start(&r);
    for (int i = 0; i < 2; i++) {
        static const char *const urls[] = {"http://a.test:81/1",
                                           "http://a.test:81/2"};
        struct engine_item item = rig_item(&r, urls[i]);

        item.key = bytes_of_str("a.test");
        item.digest = digest_url(r.e->ops->digest_key(r.e), r.o.crawl, item.key,
                                 item.url);
        ck_assert_int_eq(rig_put(&r, item), ENGINE_NEW);
    }
    put_many(&r, "a.test", URLS);
    ck_assert_int_lt(crawl(&r, &w), (URLS + 60) * (S + 20 * NS_PER_MS));
    ck_assert_uint_eq(rig_stats(&r).fetched, URLS);
    ck_assert_uint_eq(rig_counter(&r, "failed.connect"), 2);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    rig_fini(&r);
}

static void keep_reason(void *ctx, uint32_t queue, const struct queue_state *s)
{
    (void)queue;
    snprintf(ctx, 64, "%s %u", s->reason, s->failures);
}

static void reason_on_disk(struct rig *r, char out[64])
{
    strcpy(out, "none");
    ck_ok(frontier_store_each_queue_state(frontier_store_of(r->e), keep_reason,
                                          out));
}

TEST(readers_of_the_store_find_why_a_host_is_not_asked)
{
    struct web w = {.answer = is_down, .to = INT64_MAX};
    struct engine_lease l;
    char reason[64];
    struct rig r;

    start(&r);
    put_many(&r, "a.test", 2);
    ck_assert_uint_eq(lease(&r, &l, 1), 1);
    ack(&r, l.id, REFUSED);
    reason_on_disk(&r, reason);
    ck_assert_str_eq(reason, "no_response:connect 1");
    crawl(&r, &w);
    reason_on_disk(&r, reason);
    ck_assert(strncmp(reason, "given_up:connect ", 17) == 0);
    rig_crash(&r);
    r.now += S;
    ck_assert_uint_eq(lease(&r, &l, 1), 1);
    ck_assert_uint_eq(l.tries, 0);
    ack(&r, l.id, NO_ERROR);
    rig_turn(&r);
    rig_fini(&r);
}

TEST(a_response_is_the_end_of_no_response_on_disk_too)
{
    struct engine_lease l;
    char reason[64];
    struct rig r;

    start(&r);
    put_many(&r, "a.test", 2);
    ck_assert_uint_eq(lease(&r, &l, 1), 1);
    ack(&r, l.id, REFUSED);
    r.now += 2 * S;
    ck_assert_uint_eq(lease(&r, &l, 1), 1);
    ack(&r, l.id, NO_ERROR);
    reason_on_disk(&r, reason);
    ck_assert_str_eq(reason, " 0");
    rig_fini(&r);
}

TEST(a_service_waits_without_end)
{
    struct engine_lease l;
    struct rig r;

    start(&r);
    r.o.schedule.give_up = 0;
    frontier_set_schedule(r.e, &r.o.schedule, r.now);
    put_many(&r, "a.test", 1);
    for (int i = 0; i < 1000; i++) {
        r.now += 31 * S;
        ck_assert_uint_eq(lease(&r, &l, 1), 1);
        ack(&r, l.id, REFUSED);
        rig_turn(&r);
    }
    ck_assert_uint_eq(rig_stats(&r).given_up, 0);
    ck_assert_uint_le(page_store_last_seq(frontier_pages_of(r.e)), 10);
    rig_fini(&r);
}

TEST(requests_that_were_out_together_count_once)
{
    struct engine_lease l[4];
    struct rig r;

    start(&r);
    r.o.conns_per_host = 4;
    r.e->ops->close(r.e);
    r.e = NULL;
    rig_reopen(&r);
    r.o.schedule.delay = 0;
    frontier_set_schedule(r.e, &r.o.schedule, r.now);
    put_many(&r, "a.test", 8);
    r.now += S;
    ck_assert_uint_eq(lease(&r, l, 4), 4);
    for (int i = 0; i < 4; i++)
        ack(&r, l[i].id, REFUSED);
    r.now += S + S / 4;
    ck_assert_uint_ge(lease(&r, l, 4), 1); /* not after eight seconds */
    rig_fini(&r);
}

/* The host responds, but no URL of it can be fetched: every further one would
 * fail in the same way. */
TEST(a_certificate_that_is_not_trusted_ends_its_urls_after_three)
{
    struct engine_lease l;
    unsigned asked = 0;
    struct rig r;

    start(&r);
    put_many(&r, "a.test", 20);
    for (int i = 0; i < 100; i++) {
        r.now += S;
        if (lease(&r, &l, 1) == 0)
            continue;
        ack(&r, l.id, BAD_CERT);
        asked++;
    }
    ck_assert_uint_eq(asked, 3);
    ck_assert_uint_eq(rig_counter(&r, "failed.tls"), 20);
    rig_fini(&r);
}

/* That an origin cannot be fetched says nothing of another one of its host, be
 * there URLs of both at first or later. */
TEST_LOOP(an_origin_that_cannot_be_fetched_ends_its_own_urls_alone, 0, 2)
{
    const struct outcome no_rules = {OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE,
                                     500};
    unsigned asked[2] = {0};
    struct engine_lease l;
    struct rig r;

    start(&r);
    for (unsigned i = 0; i < 40; i++) {
        char url[64];

        snprintf(url, sizeof url, "%s://a.test/%u",
                 (_i == 0 ? i % 2 : i < 20) ? "https" : "http", i);
        rig_seed(&r, url);
    }
    for (int i = 0; i < 1000 && rig_stats(&r).queued > 0; i++) {
        struct engine_done d = {
            .row = {.at_ms = rig_wall(&r)},
            .host = {.crawl_delay_ms = -2, .retry_after_ms = -1},
        };
        bool https;

        r.now += S;
        if (lease(&r, &l, 1) == 0)
            continue;
        https = l.url.at[4] == 's';
        asked[https]++;
        d.id = l.id;
        d.outcome = https ? no_rules : NO_ERROR;
        d.transient = d.host.unreachable = https;
        d.host.ended = r.now;
        ck_ok(r.e->ops->ack(r.e, &d, 1, r.now, rig_wall(&r)));
    }
    ck_assert_uint_eq(rig_stats(&r).fetched, 20);
    ck_assert_uint_eq(rig_counter(&r, "denied.robots_unreachable"), 20);
    ck_assert_uint_eq(asked[0], 20);
    ck_assert_uint_eq(asked[1], 3);
    rig_fini(&r);
}

static void block(struct rig *r, const char *host, int64_t until)
{
    ck_ok(r->e->ops->block(r->e, r->o.crawl, bytes_of_str(host), until, r->now,
                           rig_wall(r)));
}

TEST(what_a_person_blocks_is_counted_and_given_up_by_nobody)
{
    struct engine_lease l;
    struct rig r;

    start(&r);
    put_many(&r, "a.test", 5);
    block(&r, "a.test", r.now + 10000 * S);
    ck_assert_uint_eq(rig_stats(&r).blocked, 5);
    rig_turn(&r);
    rig_crash(&r);
    ck_assert_uint_eq(rig_stats(&r).blocked, 5);
    r.now += 10001 * S; /* it ends by itself */
    ck_assert_uint_eq(lease(&r, &l, 1), 1);
    ack(&r, l.id, NO_ERROR);
    ck_assert_uint_eq(rig_stats(&r).blocked, 0);
    block(&r, "a.test", r.now + 10000 * S);
    block(&r, "a.test", 0);
    ck_assert_uint_eq(rig_stats(&r).blocked, 0);
    rig_fini(&r);
}

TEST(a_block_outlasts_a_shorter_retry_after)
{
    struct engine_done d;
    struct engine_lease l;
    struct rig r;

    start(&r);
    put_many(&r, "a.test", 2);
    ck_assert_uint_eq(lease(&r, &l, 1), 1);
    block(&r, "a.test", r.now + 10000 * S);
    d = (struct engine_done){.id = l.id,
                             .outcome = BUSY,
                             .transient = true,
                             .host = {.ended = r.now,
                                      .crawl_delay_ms = -2,
                                      .retry_after_ms = 5000}};
    ck_ok(r.e->ops->ack(r.e, &d, 1, r.now, rig_wall(&r)));
    ck_assert_uint_eq(rig_stats(&r).blocked, 2);
    r.now += 10 * S;
    ck_assert_uint_eq(lease(&r, &l, 1), 0);
    rig_fini(&r);
}

TEST(unblocking_a_host_that_was_given_up_asks_it_again)
{
    struct web w = {.answer = is_down, .to = INT64_MAX};
    struct rig r;

    start(&r);
    put_many(&r, "a.test", 5);
    crawl(&r, &w);
    ck_assert_uint_eq(rig_stats(&r).given_up, 5);
    block(&r, "a.test", 0);
    w.to = 0;
    crawl(&r, &w);
    ck_assert_uint_eq(rig_stats(&r).fetched, 5);
    rig_fini(&r);
}

/* The last eight of ten responses weigh most; an old slow one is forgotten. */
TEST(a_slow_host_is_asked_less_while_it_is_slow)
{
    struct rig r;

    start(&r);
    put_many(&r, "a.test", 60);
    for (int i = 0; i < 60; i++) {
        struct engine_done d = {.outcome = NO_ERROR,
                                .row = {.elapsed_ms = 60000,
                                        .first_byte_ms = i < 20 ? 3000 : 10},
                                .host = {.crawl_delay_ms = -2,
                                         .retry_after_ms = -1}};
        struct engine_lease l;
        int64_t waited = 0;

        for (; lease(&r, &l, 1) == 0; waited += S / 10)
            r.now += S / 10;
        if (i > 0 && i <= 20)
            ck_assert_int_eq(waited / S, 6);
        if (i > 50)
            ck_assert_int_le(waited, S + S / 10);
        d.id = l.id;
        d.host.ended = r.now;
        ck_ok(r.e->ops->ack(r.e, &d, 1, r.now, rig_wall(&r)));
    }
    rig_fini(&r);
}
