/* SPDX-License-Identifier: MIT */
/* test_frontier_refresh.c - done URLs are fetched again at their dates. */
#include "frontier/refresh/refresh_rule.h"
#include "tests/unit/frontier/engine_rig.h"

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
    struct engine_lease l;
    size_t n = 0;

    ck_assert_int_eq(r->e->ops->lease(r->e, 1, r->now, rig_wall(r), &l, &n),
                     STATUS_OK);
    return n > 0 ? l.id : 0;
}

static void ack_body(struct rig *r, uint64_t id, struct outcome o,
                     uint64_t body, bool transient)
{
    struct engine_done d = {
        .id = id,
        .outcome = o,
        .transient = transient,
        .row = {.at_ms = rig_wall(r), .body_digest = {body, body}},
        .host = {.ended = r->now, .crawl_delay_ms = -2, .retry_after_ms = -1},
    };

    ck_assert_int_eq(r->e->ops->ack(r->e, &d, 1, r->now, rig_wall(r)),
                     STATUS_OK);
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

START_TEST(a_url_is_due_again_exactly_at_its_date)
{
    struct engine_stats s;
    struct rig r;
    uint64_t id;

    begin(&r);
    rig_seed(&r, "http://a.test/");
    id = fetch(&r, page, 1);
    for (unsigned i = 0; i < 5; i++) {
        s = rig_stats(&r);
        ck_assert_uint_eq(s.queued, 0);
        ck_assert_uint_eq(s.dated, 1);
        ck_assert_uint_eq(s.fetched, 1); /* as the URL stands now */
        ck_assert_uint_eq(s.refreshed, i);
        advance(&r, EVERY - 1);
        ck_assert_uint_eq(lease_at(&r), 0);
        ck_assert_uint_eq(rig_stats(&r).due, 0);
        ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, NULL),
                         r.now + NS_PER_MS);
        advance(&r, 1);
        ck_assert_uint_eq(fetch(&r, page, 1), id);
        ck_assert_uint_eq(lease_at(&r), 0); /* once for a date */
    }
    ck_assert_uint_eq(rig_stats(&r).changed, 0);
    advance(&r, EVERY);
    (void)fetch(&r, page, 2);
    ck_assert_uint_eq(rig_stats(&r).changed, 1);
    end(&r);
}
END_TEST

START_TEST(a_missing_page_is_asked_twice_more_then_gone)
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
END_TEST

START_TEST(a_refresh_that_fails_for_now_is_tried_again_soon)
{
    struct rig r;

    rig_init(&r);
    r.o.refresh = (struct refresh_rules){.every_ms = EVERY, .share = 0.5};
    r.o.tries = 2;
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    advance(&r, EVERY);
    ack_body(&r, lease_at(&r), late, 0, true);
    ck_assert_uint_eq(rig_stats(&r).fetched, 1); /* still */
    advance(&r, 100);                            /* retry_delay is 1 ms */
    ack_body(&r, lease_at(&r), late, 0, true);
    ck_assert_uint_eq(rig_stats(&r).failed, 1); /* that was its last try */
    advance(&r, EVERY - 1);
    ck_assert_uint_eq(lease_at(&r), 0);
    advance(&r, 1);
    (void)fetch(&r, page, 1);
    ck_assert_uint_eq(rig_stats(&r).failed, 0);
    end(&r);
}
END_TEST

START_TEST(a_refresh_given_back_stays_due)
{
    struct rig r;
    uint64_t id;

    begin(&r);
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    advance(&r, EVERY);
    id = lease_at(&r);
    ck_assert_int_eq(r.e->ops->release(r.e, id, 0, NULL, r.now, rig_wall(&r)),
                     STATUS_OK);
    ck_assert_uint_eq(lease_at(&r), id);
    ck_assert_int_eq(r.e->ops->release(r.e, id, r.now + NS_PER_S, NULL, r.now,
                                       rig_wall(&r)),
                     STATUS_OK);
    ck_assert_uint_eq(lease_at(&r), 0);
    advance(&r, 1001);
    ck_assert_uint_eq(fetch(&r, page, 1), id);
    end(&r);
}
END_TEST

/* A robots.txt redirected to another host: the URL goes out once more, for that
 * host, and keeps its date until it is settled. */
START_TEST(a_refresh_may_wait_for_the_robots_txt_of_another_host)
{
    struct engine_host_news news = {.crawl_delay_ms = -2,
                                    .retry_after_ms = -1,
                                    .robots_host = bytes_of_str("b.test")};
    struct engine_lease l;
    struct rig r;
    uint64_t id;
    size_t n = 0;

    begin(&r);
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    for (int crash = 0; crash < 2; crash++) {
        advance(&r, EVERY);
        id = lease_at(&r);
        ck_assert_uint_ne(id, 0);
        ck_assert_int_eq(r.e->ops->release(r.e, id, 0, &news, r.now,
                                           rig_wall(&r)),
                         STATUS_OK);
        rig_turn(&r);
        if (crash)
            rig_crash(&r);
        ck_assert_int_eq(r.e->ops->lease(r.e, 9, r.now, rig_wall(&r), &l, &n),
                         STATUS_OK);
        ck_assert_uint_eq(n, 1);
        ck_assert_uint_eq(l.id, id);
        ck_assert_int_eq(bytes_is(l.robots_host, "b.test"), !crash);
        ack_body(&r, id, page, 1, false);
        ck_assert_uint_eq(lease_at(&r), 0);
    }
    ck_assert_uint_eq(rig_stats(&r).refreshed, 2);
    end(&r);
}
END_TEST

START_TEST(new_urls_and_due_ones_of_a_host_share_its_requests)
{
    struct rig r;
    char url[64];
    unsigned again = 0;

    rig_init(&r);
    r.o.refresh = (struct refresh_rules){.every_ms = EVERY, .share = 0.25};
    r.o.conns_per_host = 1;
    rig_create(&r);
    for (int i = 0; i < 100; i++) {
        snprintf(url, sizeof url, "http://a.test/old%d", i);
        rig_seed(&r, url);
        (void)fetch(&r, page, 1);
    }
    for (int i = 0; i < 100; i++) {
        snprintf(url, sizeof url, "http://a.test/new%d", i);
        rig_seed(&r, url);
    }
    advance(&r, EVERY);
    for (int i = 0; i < 100; i++)
        again += fetch(&r, page, 1) <= 100;
    ck_assert_uint_eq(again, 25);
    for (int i = 0; i < 100; i++)
        (void)fetch(&r, page, 1);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    ck_assert_uint_eq(rig_stats(&r).refreshed, 100);
    end(&r);
}
END_TEST

START_TEST(a_host_that_is_given_up_is_asked_again_later)
{
    struct rig r;
    struct engine_done d = {
        .outcome = {OUTCOME_FAILED, REASON_CONNECT, 0},
        .transient = true,
        .host = {.crawl_delay_ms = -2,
                 .retry_after_ms = -1,
                 .unreachable = true,
                 .silent = true},
    };

    rig_init(&r);
    r.o.refresh = (struct refresh_rules){.every_ms = EVERY,
                                         .min_ms = 100000,
                                         .share = 0.5};
    r.o.schedule.give_up = 3 * NS_PER_S;
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    (void)fetch(&r, page, 1);
    advance(&r, EVERY);
    for (int i = 0; i < 100 && (d.id = lease_at(&r)) != 0; i++) {
        d.row.at_ms = rig_wall(&r);
        d.host.ended = r.now;
        ck_assert_int_eq(r.e->ops->ack(r.e, &d, 1, r.now, rig_wall(&r)),
                         STATUS_OK);
        advance(&r, 2000);
    }
    ck_assert_uint_eq(d.id, 0);
    ck_assert_uint_eq(rig_stats(&r).dated, 1);
    advance(&r, 50000);
    ck_assert_uint_eq(lease_at(&r), 0);
    advance(&r, 60000);
    (void)fetch(&r, page, 1);
    end(&r);
}
END_TEST

/* ---- against a model, with crashes ---- */

#define URLS 60

struct model {
    int64_t due_ms[URLS + 1]; /* 0: none */
    bool queued[URLS + 1];
    uint32_t absent[URLS + 1];
    unsigned put;
};

struct play {
    struct rig r;
    struct model now, durable;
    bool out[URLS + 1];
    uint64_t leased[URLS];
    size_t leased_count;
    unsigned refreshes;
};

static unsigned pick(unsigned n)
{
    return (unsigned)rand() % n;
}

static void put_one(struct play *p)
{
    char url[64];
    unsigned id = ++p->now.put;

    snprintf(url, sizeof url, "http://h%u.test/%u", pick(5), id);
    rig_seed(&p->r, url);
    p->now.queued[id] = true;
}

static void lease_one(struct play *p)
{
    uint64_t id = lease_at(&p->r);

    if (id == 0) { /* then nothing may be due */
        for (unsigned i = 1; i <= p->now.put; i++)
            ck_assert(p->out[i] || (!p->now.queued[i] &&
                                    (p->now.due_ms[i] == 0 ||
                                     p->now.due_ms[i] > rig_wall(&p->r))));
        return;
    }
    ck_assert(!p->out[id]); /* never twice */
    if (!p->now.queued[id]) {
        ck_assert_int_ne(p->now.due_ms[id], 0);
        ck_assert_int_le(p->now.due_ms[id], rig_wall(&p->r));
        p->refreshes++;
    }
    p->out[id] = true;
    p->leased[p->leased_count++] = id;
}

static void end_lease(struct play *p)
{
    size_t at = p->leased_count > 0 ? pick((unsigned)p->leased_count) : 0;
    uint64_t id;
    bool absent = pick(4) == 0;

    if (p->leased_count == 0)
        return;
    id = p->leased[at];
    p->leased[at] = p->leased[--p->leased_count];
    p->out[id] = false;
    if (pick(5) == 0) {
        ck_assert_int_eq(p->r.e->ops->release(p->r.e, id, 0, NULL, p->r.now,
                                              rig_wall(&p->r)),
                         STATUS_OK);
        return;
    }
    ack_body(&p->r, id, absent ? missing : page, pick(3), false);
    p->now.queued[id] = false;
    p->now.absent[id] = absent ? p->now.absent[id] + 1 : 0;
    p->now.due_ms[id] = rig_wall(&p->r) + EVERY;
    if (p->now.absent[id] == 2)
        p->now.due_ms[id] += EVERY;
    if (p->now.absent[id] == 3)
        p->now.due_ms[id] = 0;
}

static void crash(struct play *p)
{
    rig_crash(&p->r);
    p->now = p->durable;
    memset(p->out, 0, sizeof p->out);
    p->leased_count = 0;
}

static void commit(struct play *p)
{
    rig_turn(&p->r);
    p->durable = p->now;
}

static void check_dates(struct play *p)
{
    uint64_t dated = 0;

    for (unsigned i = 1; i <= p->now.put; i++)
        dated += p->now.due_ms[i] != 0;
    ck_assert_uint_eq(rig_stats(&p->r).dated, dated);
}

START_TEST(no_url_is_lost_early_or_asked_twice_over_crashes)
{
    struct play p = {.refreshes = 0};

    srand((unsigned)_i);
    rig_init(&p.r);
    p.r.o.refresh = (struct refresh_rules){.every_ms = EVERY, .share = 0.5};
    p.r.o.conns_per_host = 5000;
    p.r.o.in_flight = 5000;
    rig_create(&p.r);
    for (int step = 0; step < 4000; step++) {
        unsigned what = pick(100);

        advance(&p.r, pick(200));
        if (what < 4 && p.now.put < URLS)
            put_one(&p);
        else if (what < 45)
            lease_one(&p);
        else if (what < 90)
            end_lease(&p);
        else if (what < 98)
            commit(&p);
        else if (pick(3) == 0)
            crash(&p);
        check_dates(&p);
    }
    commit(&p);
    ck_assert_uint_gt(p.refreshes, 100);
    rig_stop(&p.r);
    rig_verify(&p.r);
    rig_fini(&p.r);
}
END_TEST

Suite *suite_frontier_refresh(void)
{
    Suite *s = suite_create("frontier_refresh");
    TCase *t = tcase_create("frontier_refresh");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_url_is_due_again_exactly_at_its_date);
    tcase_add_test(t, a_missing_page_is_asked_twice_more_then_gone);
    tcase_add_test(t, a_refresh_that_fails_for_now_is_tried_again_soon);
    tcase_add_test(t, a_refresh_given_back_stays_due);
    tcase_add_test(t, a_refresh_may_wait_for_the_robots_txt_of_another_host);
    tcase_add_test(t, new_urls_and_due_ones_of_a_host_share_its_requests);
    tcase_add_test(t, a_host_that_is_given_up_is_asked_again_later);
    tcase_add_loop_test(t, no_url_is_lost_early_or_asked_twice_over_crashes, 0,
                        20);
    suite_add_tcase(s, t);
    return s;
}
