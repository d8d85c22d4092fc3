/* SPDX-License-Identifier: MIT */
/* test_retry_failed.c - failed URLs that a person wants tried again. */
#include "tests/unit/frontier/frontier_rig.h"

/* Queues what is asked for in steps of `most` tries, and returns how many steps
 * that took. */
static unsigned retry(struct rig *r, struct failed_retry *wanted, size_t most)
{
    unsigned steps = 0;
    bool over = false;

    for (; !over; steps++) {
        ck_assert_uint_lt(steps, 100);
        ck_ok(
            frontier_retry_failed(r->e, wanted, most, r->now, RIG_WALL, &over));
    }
    return steps;
}

/* Promise (Politeness): retry finds URLs by every reason for which a URL can
 * end, by their newest outcome. See also `tests/cli/retry.sh`. */
TEST(a_reason_names_urls_that_were_denied_or_skipped_too)
{
    static const struct outcome outcomes[] = {
        {OUTCOME_DENIED, REASON_ROBOTS, 0},
        {OUTCOME_SKIPPED, REASON_ADDRESS, 0},
        {OUTCOME_SKIPPED, REASON_MIME, 200},
        {OUTCOME_FETCHED, REASON_TRUNCATED_TIME, 200},
        {OUTCOME_REDIRECT, REASON_REDIRECT_LOOP, 301},
    };
    struct failed_retry all = {.reason_count = 0};
    struct removal gone;
    bool over = false;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        char url[32];

        snprintf(url, sizeof url, "http://a.test/%zu", i);
        rig_seed(&r, url);
        rig_ack(&r, rig_lease(&r), outcomes[i], NULL, 0);
    }
    rig_seed(&r, "http://b.test/");
    ck_ok(removal_begin(r.e, bytes_of_str("b.test"), INT64_MAX, &gone));
    while (!over)
        ck_ok(removal_step(r.e, &gone, 10, r.now, RIG_WALL, &over));
    ck_assert_uint_eq(rig_lease(&r), 0);
    rig_commit(&r);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    (void)retry(&r, &all, 100);
    ck_assert_uint_eq(all.queued, 0); /* none has failed */
    for (size_t i = 0; i <= sizeof outcomes / sizeof *outcomes; i++) {
        const bool removed = i == sizeof outcomes / sizeof *outcomes;
        const char *const reason =
            outcome_reason_name(removed ? REASON_REMOVED : outcomes[i].reason);
        struct failed_retry one = {.reasons = &reason, .reason_count = 1};

        (void)retry(&r, &one, 2);
        ck_assert_msg(one.queued == 1, "%s", reason);
        (void)rig_page(&r, NULL, 0);
    }
    ck_assert_uint_eq(rig_stats(&r).pages, 6);
    ck_assert_uint_eq(rig_stats(&r).seeds_failed, 0);
    rig_stop(&r);
    rig_verify(&r);
    rig_fini(&r);
}
