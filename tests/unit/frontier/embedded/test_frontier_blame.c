/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_blame.c - URLs over whose responses an earlier process ended.
 */
#include "tests/unit/frontier/engine_rig.h"

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
    ck_ok(r->e->ops->blame(r->e, id, stuck ? BLAME_STUCK : BLAME_DIED, r->now,
                           RIG_WALL));
    rig_commit(r);
}

/* The tries that the next lease of `id` says were used. */
static uint32_t tries_used(struct rig *r, uint64_t id)
{
    struct engine_lease l[2];
    size_t n = 0;

    ck_ok(r->e->ops->lease(r->e, 2, r->now, RIG_WALL, l, &n));
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

TEST(a_url_known_to_have_hung_the_process_fails_at_once)
{
    struct rig r;

    begin(&r, 9);
    blame(&r, 2, true);
    ck_assert_uint_eq(rig_stats(&r).failed, 1);
    ck_assert_uint_eq(rig_stats(&r).queued, 1);
    rig_fini(&r);
}

TEST(a_url_that_is_done_or_does_not_exist_is_not_blamed)
{
    struct rig r;

    begin(&r, 1);
    (void)rig_page(&r, NULL, 0);
    rig_commit(&r);
    blame(&r, 1, true);
    blame(&r, 0, true);
    blame(&r, 3, true);
    blame(&r, UINT64_MAX, true);
    ck_assert_uint_eq(rig_stats(&r).failed, 0);
    ck_assert_uint_eq(rig_stats(&r).queued, 1);
    rig_fini(&r);
}

struct told {
    unsigned n, tries;
    char detail[128];
};

static bool take_try(void *ctx, const struct fetch_row *row)
{
    struct told *t = ctx;

    ck_assert_uint_eq(row->status, OUTCOME_FAILED);
    ck_assert_uint_eq(row->reason, REASON_STUCK);
    ck_assert_int_eq(row->at_ms, RIG_WALL);
    ck_assert(row->final == (t->n == 1));
    t->n++;
    t->tries = row->tries;
    snprintf(t->detail, sizeof t->detail, "%.*s", (int)row->detail.len,
             row->detail.at);
    return true;
}

TEST(its_history_says_why)
{
    struct told t = {.n = 0};
    struct reader reader;
    struct rig r;

    begin(&r, 2);
    blame(&r, 1, false);
    blame(&r, 1, true);
    rig_stop(&r);
    ck_ok(reader_open(&reader, r.at.dir));
    ck_ok(page_store_each(reader.pages, 0, take_try, &t));
    ck_assert_uint_eq(t.n, 2);
    ck_assert_uint_eq(t.tries, 2);
    ck_assert_str_eq(t.detail, "its response was still being read when the "
                               "process was ended");
    reader_close(&reader);
    rig_fini(&r);
}
