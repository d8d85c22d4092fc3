/* SPDX-License-Identifier: MIT */
/* Removing URLs from their queues, as a person asks. */
#include "tests/unit/frontier/frontier_rig.h"

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};

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
    struct url_lease l;
    size_t n = 0;

    ck_ok(frontier_lease(r->e, 1, r->now, rig_wall(r), &l, &n));
    return n > 0 ? l.id : 0;
}

/* Puts "http://HOST/0" and so on. */
static void put(struct rig *r, const char *host, int from, int to)
{
    for (int i = from; i < to; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://%s/%d", host, i);
        ck_assert_int_eq(rig_put(r, rig_item(r, url)), PUT_NEW);
    }
}

static bool step(struct rig *r, struct removal *m, size_t most)
{
    bool over;

    ck_ok(removal_step(r->e, m, most, r->now, rig_wall(r), &over));
    return over;
}

/* Removes everything that matches, in steps of `most`; returns how many. */
static uint64_t take_out(struct rig *r, const char *key, int64_t before_ms,
                         size_t most)
{
    struct removal m;

    ck_ok(removal_begin(r->e, bytes_of_str(key), before_ms, &m));
    while (!step(r, &m, most))
        rig_turn(r);
    rig_turn(r);
    return m.gone;
}

static uint64_t remove_queue(struct rig *r, const char *key)
{
    return take_out(r, key, INT64_MAX, 2000);
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
        ck_ok(removal_begin(r.e, bytes_of_str("a.test"), INT64_MAX, &m));
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
        ck_ok(removal_count(r.e, 1, &id));
        ck_assert_uint_eq(id, steps == 0 ? 0 : 2000);
        end(&r);
    }
}
