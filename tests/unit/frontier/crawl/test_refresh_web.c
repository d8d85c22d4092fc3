/* SPDX-License-Identifier: MIT */
/* test_refresh_web.c - pages that change at known rates are kept up to date. */
#include "bench/support/refresh_web.h"

#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

static struct refresh_run run_of(const struct refresh_web *w,
                                 const struct refresh_rules *rules)
{
    struct scratch at = scratch_make();
    struct refresh_run run;

    ck_ok(refresh_web_run(w, rules, at.dir, &run));
    scratch_remove(&at);
    return run;
}

static struct refresh_rules fixed_at(const struct refresh_web *w)
{
    return (struct refresh_rules){.every_ms =
                                      (int64_t)(w->interval * REFRESH_WEB_DAY),
                                  .min_ms = 1000,
                                  .share = 1};
}

static const struct refresh_rules adaptive = {
    .every_ms = REFRESH_ADAPTIVE,
    .min_ms = (int64_t)REFRESH_WEB_HOUR,
    .max_ms = (int64_t)(90 * REFRESH_WEB_DAY),
    .share = 1};

/* Rates over 3.5 decades, and a request for a page in as long as the slowest
 * changes. */
TEST(adaptive_keeps_half_as_many_again_up_to_date_with_scarce_requests)
{
    const struct refresh_web w = {.pages = 200,
                                  .slowest = 1 / 3.0,
                                  .fastest = 960,
                                  .interval = 3,
                                  .rounds = 60,
                                  .seed = 1};
    const struct refresh_rules every = fixed_at(&w);
    const struct refresh_run a = run_of(&w, &adaptive), b = run_of(&w, &every);

    ck_assert_double_eq_tol(b.freshness, refresh_web_fixed(&w),
                            0.05 * refresh_web_fixed(&w));
    ck_assert_uint_le(a.requests, b.requests + w.pages);
    ck_assert_msg(a.freshness >= 1.5 * b.freshness, "%.3f to %.3f", a.freshness,
                  b.freshness);
    ck_assert_double_lt(a.freshness, 1.05 * refresh_web_best(&w));
}

/* With requests to spare, no more of them are made than the changes need. */
TEST(adaptive_asks_no_more_than_changes_need)
{
    const struct refresh_web w = {.pages = 100,
                                  .slowest = 0.01,
                                  .fastest = 1,
                                  .interval = 0.2,
                                  .rounds = 1000,
                                  .seed = 1};
    const struct refresh_run a = run_of(&w, &adaptive);

    ck_assert_double_gt(a.freshness, 0.85);
    ck_assert_uint_lt(a.requests, (uint64_t)w.pages * w.rounds / 2 / 4);
}
