/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_blame.c - URLs over whose responses an earlier process ended.
 */
#include "tests/unit/frontier/frontier_rig.h"

static void begin(struct rig *r, uint32_t tries)
{
    rig_init(r);
    r->o.tries = tries;
    r->o.schedule.delay = 0;
    rig_create(r);
    rig_seed(r, "http://a.test/1");
    rig_seed(r, "http://a.test/2");
    rig_commit(r);
}

static void blame(struct rig *r, uint64_t id, bool stuck)
{
    ck_ok(frontier_blame(r->e, id, stuck ? BLAME_STUCK : BLAME_DIED, r->now,
                         RIG_WALL));
    rig_commit(r);
}

/* The tries that the next lease of `id` says were used. */
static uint32_t tries_used(struct rig *r, uint64_t id)
{
    struct url_lease l[2];
    size_t n = 0;

    ck_ok(frontier_lease(r->e, 2, r->now, RIG_WALL, l, &n));
    for (size_t i = 0; i < n; i++)
        if (l[i].id == id)
            return l[i].tries;
    ck_abort_msg("not leased");
    return 0;
}

TEST(each_death_costs_the_url_a_try_and_the_last_one_fails_it)
{
    struct rig r;

    begin(&r, 3);
    for (uint32_t died = 1; died < 3; died++) {
        blame(&r, 1, false);
        ck_assert_uint_eq(tries_used(&r, 1), died); /* at once */
        rig_crash(&r);
    }
    ck_assert_uint_eq(rig_counter(&r, "retries"), 2);
    ck_assert_uint_eq(tries_used(&r, 1), 2); /* is kept */
    rig_crash(&r);
    ck_assert_uint_eq(rig_stats(&r).failed, 0);
    blame(&r, 1, false);
    ck_assert_uint_eq(rig_stats(&r).failed, 1);
    ck_assert_uint_eq(rig_stats(&r).seeds_failed, 1);
    ck_assert_uint_eq(rig_stats(&r).queued, 1);
    ck_assert_uint_eq(rig_counter(&r, "failed.stuck"), 1);
    ck_assert_uint_eq(rig_counter(&r, "retries"), 2);
    ck_assert_uint_eq(rig_lease(&r), 2);
    rig_ack(&r, 2, (struct outcome){OUTCOME_FETCHED, REASON_NONE, 200}, NULL,
            0);
    ck_assert_uint_eq(rig_lease(&r), 0);
    rig_stop(&r);
    rig_verify(&r);
    rig_fini(&r);
}

TEST(one_death_is_no_proof_even_where_urls_have_one_try)
{
    struct rig r;

    begin(&r, 1);
    blame(&r, 2, false);
    ck_assert_uint_eq(rig_stats(&r).failed, 0);
    blame(&r, 2, false);
    ck_assert_uint_eq(rig_stats(&r).failed, 1);
    rig_fini(&r);
}
