/* SPDX-License-Identifier: MIT */
/* URLs that fail, hosts that fail, hosts that do not respond: what each one
 * delays, by how much, and what is left at the end. */
#include "tests/unit/frontier/frontier_rig.h"

#define S        NS_PER_S
#define URLS     200
#define NO_ERROR ((struct outcome){OUTCOME_FETCHED, REASON_NONE, 200})
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

static size_t lease(struct rig *r, struct url_lease *l, size_t most)
{
    size_t n;

    ck_ok(frontier_lease(r->e, most, r->now, rig_wall(r), l, &n));
    return n;
}

static void ack(struct rig *r, uint64_t id, struct outcome o)
{
    struct url_done d = {
        .id = id,
        .outcome = o,
        .transient = o.status == OUTCOME_FAILED && o.reason != REASON_TLS,
        .row = {.at_ms = rig_wall(r)},
        .host = {.ended = r->now,
                 .retry_after_ms = -1,
                 .unreachable =
                     o.status == OUTCOME_FAILED && o.http_status == 0,
                 .silent = o.reason == REASON_CONNECT},
    };

    ck_ok(frontier_ack(r->e, &d, 1, r->now, rig_wall(r)));
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
        struct url_lease l;

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

TIMEOUT(30);

static struct outcome is_down(const struct web *w, struct bytes url,
                              int64_t now)
{
    (void)url;
    return now >= w->from && now < w->to ? REFUSED : NO_ERROR;
}

/* Promise (Politeness): a host that does not respond keeps its URLs and their
 * tries, and is waited for until --give-up; the end and status name it; if a
 * host responds but nothing can be fetched, each origin ends only its own URLs.
 * See also `make sim`. */
TEST(a_host_that_stays_away_is_given_up_with_its_urls)
{
    struct web w = {.answer = is_down, .to = INT64_MAX};
    struct host_report row;
    struct frontier_counts s;
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
    ck_assert_int_eq(frontier_next_due(r.e, r.now, NULL), INT64_MAX);
    ck_assert_uint_eq(frontier_hosts(r.e, HOSTS_BLOCKED, 1, r.now, &row, &all),
                      1);
    ck_assert_int_eq(row.state, HOST_DEAD);
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

/* A queue belongs to a host, whatever the port. */

/* The host responds, but no URL of it can be fetched: every further one would
 * fail in the same way. */
TEST(a_certificate_that_is_not_trusted_ends_its_urls_after_three)
{
    struct url_lease l;
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

/* Promise (Politeness): --adaptive gives a slow host a longer delay while it is
 * slow. See also `schedule/the_pause_grows_as_the_table_says`. */
/* The last eight of ten responses weigh most; an old slow one is forgotten. */
TEST(a_slow_host_is_asked_less_while_it_is_slow)
{
    struct rig r;

    start(&r);
    put_many(&r, "a.test", 60);
    for (int i = 0; i < 60; i++) {
        struct url_done d = {.outcome = NO_ERROR,
                             .row = {.elapsed_ms = 60000,
                                     .first_byte_ms = i < 20 ? 3000 : 10},
                             .host = {.retry_after_ms = -1}};
        struct url_lease l;
        int64_t waited = 0;

        for (; lease(&r, &l, 1) == 0; waited += S / 10)
            r.now += S / 10;
        if (i > 0 && i <= 20)
            ck_assert_int_eq(waited / S, 6);
        if (i > 50)
            ck_assert_int_le(waited, S + S / 10);
        d.id = l.id;
        d.host.ended = r.now;
        ck_ok(frontier_ack(r.e, &d, 1, r.now, rig_wall(&r)));
    }
    rig_fini(&r);
}
