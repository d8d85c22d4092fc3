/* SPDX-License-Identifier: MIT */
/* Removing URLs from their queues, as a person asks. */
#include "frontier/embedded/external.h"
#include "frontier/embedded/removal.h"
#include "tests/unit/frontier/engine_rig.h"

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};
static const struct outcome timeout = {OUTCOME_FAILED, REASON_TIMEOUT, 0};

/* One host at a time, with a delay of one second. */
static void polite(struct rig *r)
{
    rig_init(r);
    r->o.conns_per_host = 1;
    r->o.schedule.delay = NS_PER_S;
    r->o.tries = 3;
}

static uint64_t lease(struct rig *r)
{
    struct engine_lease l;
    size_t n = 0;

    ck_ok(r->e->ops->lease(r->e, 1, r->now, rig_wall(r), &l, &n));
    return n > 0 ? l.id : 0;
}

/* Puts "http://HOST/0" and so on. */
static void put(struct rig *r, const char *host, int from, int to)
{
    for (int i = from; i < to; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://%s/%d", host, i);
        ck_assert_int_eq(rig_put(r, rig_item(r, url)), ENGINE_NEW);
    }
}

static bool step(struct rig *r, struct removal *m, size_t most)
{
    bool over;

    ck_ok(r->e->ops->removal_step(r->e, m, most, r->now, rig_wall(r), &over));
    return over;
}

/* Removes everything that matches, in steps of `most`; returns how many. */
static uint64_t take_out(struct rig *r, const char *key, int64_t before_ms,
                         size_t most)
{
    struct removal m;

    ck_ok(r->e->ops->removal_begin(r->e, bytes_of_str(key), before_ms, &m));
    while (!step(r, &m, most))
        rig_turn(r);
    rig_turn(r);
    return m.gone;
}

static uint64_t remove_queue(struct rig *r, const char *key)
{
    return take_out(r, key, INT64_MAX, 2000);
}

static void fail_for_now(struct rig *r, uint64_t id)
{
    struct engine_done d = {.id = id,
                            .outcome = timeout,
                            .transient = true,
                            .row = {.at_ms = rig_wall(r)},
                            .host = {.ended = r->now,
                                     .crawl_delay_ms = -2,
                                     .retry_after_ms = -1}};

    ck_ok(r->e->ops->ack(r->e, &d, 1, r->now, rig_wall(r)));
    rig_turn(r);
}

static void end(struct rig *r)
{
    if (r->e != NULL)
        rig_stop(r);
    rig_verify(r);
    rig_fini(r);
}

/* ---- what is removed ---- */

TEST(what_stands_in_a_queue_is_skipped_as_removed_and_no_other)
{
    struct rig r;

    polite(&r);
    rig_create(&r);
    put(&r, "a.test", 0, 20);
    put(&r, "b.test", 0, 3);
    rig_seed(&r, "http://a.test/seed");
    rig_turn(&r);
    ck_assert_uint_eq(remove_queue(&r, "nobody.test"), 0);
    ck_assert_uint_eq(remove_queue(&r, "a.test"), 21);
    ck_assert_uint_eq(remove_queue(&r, "a.test"), 0);
    ck_assert_uint_eq(rig_stats(&r).queued, 3);
    ck_assert_uint_eq(rig_stats(&r).queues_active, 1);
    ck_assert_uint_eq(rig_stats(&r).skipped, 21);
    ck_assert_uint_eq(rig_stats(&r).pages, 0);
    ck_assert_uint_eq(rig_stats(&r).seeds_failed, 0);
    ck_assert_uint_eq(rig_counter(&r, "skipped.removed"), 21);
    for (int i = 0; i < 3; i++) {
        uint64_t id = lease(&r);

        ck_assert_uint_ge(id, 21); /* of b.test */
        rig_ack(&r, id, fetched, NULL, 0);
        r.now += NS_PER_S;
    }
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    end(&r);
}

TEST(it_stays_known_and_what_is_found_later_is_new)
{
    struct rig r;
    uint64_t id;

    polite(&r);
    rig_create(&r);
    put(&r, "a.test", 0, 5);
    ck_assert_uint_eq(remove_queue(&r, "a.test"), 5);
    ck_assert_int_eq(rig_put(&r, rig_item(&r, "http://a.test/2")), ENGINE_SEEN);
    put(&r, "a.test", 5, 6);
    rig_crash(&r); /* the last step was not committed */
    ck_assert_int_eq(rig_put(&r, rig_item(&r, "http://a.test/2")), ENGINE_SEEN);
    put(&r, "a.test", 5, 7);
    for (uint64_t want = 6; want <= 7; want++) {
        r.now += NS_PER_S;
        id = lease(&r);
        ck_assert_uint_eq(id, want);
        rig_ack(&r, id, fetched, NULL, 0);
    }
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    end(&r);
}

TEST(what_was_read_ahead_or_waits_for_another_try_goes_too)
{
    struct rig r;
    uint64_t id;

    polite(&r);
    r.o.tries = 9;
    rig_create(&r);
    put(&r, "a.test", 0, 40);
    for (int i = 0; i < 3; i++) {
        r.now += NS_PER_S;
        id = lease(&r);
        ck_assert_uint_ne(id, 0);
        fail_for_now(&r, id);
    }
    ck_assert_uint_eq(remove_queue(&r, "a.test"), 40);
    r.now += 3600 * NS_PER_S;
    ck_assert_uint_eq(lease(&r), 0);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, NULL), INT64_MAX);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    put(&r, "a.test", 40, 41);
    ck_assert_uint_eq(lease(&r), 41);
    rig_ack(&r, 41, fetched, NULL, 0);
    end(&r);
}

/* ---- leased URLs ---- */

TEST(what_is_out_is_finished_and_its_links_are_taken)
{
    struct rig r;
    struct engine_item found;
    uint64_t id;

    polite(&r);
    rig_create(&r);
    put(&r, "a.test", 0, 5);
    id = lease(&r);
    ck_assert_uint_eq(remove_queue(&r, "a.test"), 4);
    ck_assert_uint_eq(rig_stats(&r).queued, 1);
    found = rig_item(&r, "http://a.test/found");
    rig_ack(&r, id, fetched, &found, 1);
    ck_assert_uint_eq(rig_stats(&r).fetched, 1);
    ck_assert_uint_eq(rig_stats(&r).queued, 1);
    r.now += NS_PER_S;
    ck_assert_uint_eq(lease(&r), 6);
    rig_ack(&r, 6, fetched, NULL, 0);
    end(&r);
}

TEST(what_is_out_is_tried_no_second_time)
{
    struct rig r;
    uint64_t failed, released;

    polite(&r);
    rig_create(&r);
    put(&r, "a.test", 0, 1);
    put(&r, "b.test", 0, 1);
    failed = lease(&r);
    released = lease(&r);
    ck_assert_uint_ne(released, 0);
    ck_assert_uint_eq(take_out(&r, "", INT64_MAX, 2000), 0);
    fail_for_now(&r, failed);
    ck_assert_uint_eq(rig_counter(&r, "failed.timeout"), 1);
    ck_ok(r.e->ops->release(r.e, released, r.now + 60 * NS_PER_S, NULL, r.now,
                            rig_wall(&r)));
    r.now += NS_PER_S;
    ck_assert_uint_eq(lease(&r), 0);
    ck_assert_uint_eq(rig_counter(&r, "skipped.removed"), 1);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    end(&r);
}

TEST(a_leased_url_is_finished_or_gone_when_it_comes_back)
{
    const struct external_request ask = {.most = 10, .length = 30 * NS_PER_S};
    struct external_report later = {.due_ms = 0}, done = {.final = true};
    struct rig r;
    struct external_url u[10];
    enum external_result said;
    size_t n = 0;

    polite(&r);
    rig_create(&r);
    put(&r, "a.test", 0, 2);
    put(&r, "b.test", 0, 2);
    put(&r, "c.test", 0, 2);
    ck_ok(r.e->ops->external_grant(r.e, &ask, r.now, rig_wall(&r), u, &n));
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(take_out(&r, "", INT64_MAX, 2000), 3);
    rig_crash(&r);
    ck_assert_uint_eq(rig_stats(&r).leased, 3);
    ck_ok(r.e->ops->external_settle(r.e, u[0].lease.id, &done, r.now,
                                    rig_wall(&r), &said));
    later.due_ms = rig_wall(&r) + 3600000;
    ck_ok(r.e->ops->external_settle(r.e, u[1].lease.id, &later, r.now,
                                    rig_wall(&r), &said));
    r.now += 31 * NS_PER_S; /* the third one's lease has run out */
    rig_turn(&r);
    r.now += 2 * NS_PER_S;
    ck_assert_uint_eq(lease(&r), 0);
    ck_assert_uint_eq(rig_counter(&r, "skipped.removed"), 5);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    ck_assert_uint_eq(rig_stats(&r).fetched, 1);
    end(&r);
}

/* ---- age ---- */

TEST(older_ones_go_by_the_moment_at_which_they_were_found)
{
    struct rig r;
    struct engine_item item;
    uint64_t id;

    polite(&r);
    rig_create(&r);
    for (int i = 0; i < 60; i++) { /* one a second, from three hosts */
        char url[64];

        snprintf(url, sizeof url, "http://%c.test/%d", 'a' + i % 3, i);
        item = rig_item(&r, url);
        ck_ok(r.e->ops->put(r.e, r.o.crawl, 0, &item, 1, RIG_WALL + i * 1000,
                            NULL));
    }
    rig_turn(&r);
    ck_assert_uint_eq(take_out(&r, "a.test", RIG_WALL, 2000), 0);
    ck_assert_uint_eq(take_out(&r, "a.test", RIG_WALL + 30000, 2000), 10);
    ck_assert_uint_eq(take_out(&r, "", RIG_WALL + 45001, 3), 36);
    ck_assert_uint_eq(take_out(&r, "a.test", RIG_WALL + 30000, 2000), 0);
    rig_crash(&r);
    r.now += NS_PER_S;
    while ((id = lease(&r)) != 0) {
        ck_assert_uint_gt(id, 46);
        rig_ack(&r, id, fetched, NULL, 0);
        r.now += NS_PER_S;
    }
    ck_assert_uint_eq(rig_stats(&r).fetched, 14);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    end(&r);
}

/* ---- kill -9 ---- */

TEST(a_removal_that_was_cut_short_holds_from_its_first_step_on)
{
    for (int steps = 0; steps < 4; steps++) {
        struct rig r;
        struct removal m;
        uint64_t asked = 0, id;

        polite(&r);
        rig_create(&r);
        put(&r, "a.test", 0, 2000);
        put(&r, "b.test", 0, 2);
        rig_turn(&r);
        ck_ok(r.e->ops->removal_begin(r.e, bytes_of_str("a.test"), INT64_MAX,
                                      &m));
        for (int i = 0; i < steps; i++) {
            ck_assert(!step(&r, &m, 300));
            rig_turn(&r);
        }
        ck_assert(!step(&r, &m, 300)); /* lost with the process */
        rig_crash(&r);
        ck_assert_uint_eq(rig_stats(&r).queued,
                          2002 - rig_counter(&r, "skipped.removed"));
        put(&r, "a.test", 2000, 2001);
        for (int turn = 0; turn < 10; turn++) {
            r.now += NS_PER_S;
            while ((id = lease(&r)) != 0) {
                asked += id <= 2000;
                rig_ack(&r, id, fetched, NULL, 0);
            }
        }
        ck_assert_uint_eq(asked, steps == 0 ? 10 : 0);
        ck_assert_uint_eq(rig_stats(&r).queued, steps == 0 ? 1991 : 0);
        ck_assert_uint_eq(rig_stats(&r).fetched, steps == 0 ? 12 : 3);
        ck_assert_uint_eq(rig_counter(&r, "skipped.removed"),
                          steps == 0 ? 0 : 2000);
        ck_ok(r.e->ops->removal_count(r.e, 1, &id));
        ck_assert_uint_eq(id, steps == 0 ? 0 : 2000);
        end(&r);
    }
}

TEST(asked_again_after_a_crash_the_rest_goes_at_once)
{
    struct rig r;
    struct removal m;

    polite(&r);
    rig_create(&r);
    put(&r, "a.test", 0, 2000);
    rig_turn(&r);
    ck_ok(r.e->ops->removal_begin(r.e, bytes_of_str("a.test"), INT64_MAX, &m));
    ck_assert(!step(&r, &m, 300));
    rig_turn(&r);
    rig_crash(&r);
    ck_assert_uint_eq(remove_queue(&r, "a.test"), 2000 - m.gone);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    end(&r);
}
