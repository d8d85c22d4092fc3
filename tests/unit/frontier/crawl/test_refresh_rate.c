/* SPDX-License-Identifier: MIT */
/* test_refresh_rate.c - how often a page changes, and when it is worth it. */
/* Promise (Commands and options): --refresh adaptive learns from irregular
 * fetches how often pages change, and keeps at least 1.5 times as many up to
 * date as a fixed interval with the same requests where these are scarce; what
 * it learned survives kills. See also `refresh_web`, `make bench-refresh`,
 * `make sim`. */
#include "frontier/crawl/refresh_rule.h"

#include <math.h>

#include "tests/unit/unit.h"

#define HOUR  3600000.0
#define FIRST (1 / (48 * HOUR))

static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

/* Checks at irregular times, most of them after more than one change or none:
 * what is estimated after 200 of them, over many pages, as a geometric mean;
 * the naive estimate of the same checks in *naive. */
static double estimate(double rate, double gap, double *naive)
{
    const int pages = 200, checks = 200;
    double sum = 0;
    uint64_t state = 42;

    *naive = 0;
    for (int i = 0; i < pages; i++) {
        double time = 0, changes = 0;
        uint64_t known = 0;

        for (int k = 0; k < checks; k++) {
            double ms = gap * pow(4, 2 * draw(&state) - 1);
            bool changed = draw(&state) < -expm1(-rate * ms);

            known = refresh_rate_note(known, FIRST, (int64_t)ms, changed);
            time += ms;
            changes += changed;
        }
        sum += log(refresh_rate(known, FIRST));
        *naive += log(changes / time);
    }
    *naive = exp(*naive / pages);
    return exp(sum / pages);
}

TEST(finds_the_rate_from_irregular_checks_where_the_naive_one_is_low)
{
    const double rates[] = {1 / HOUR, 0.1 / HOUR, 0.001 / HOUR};

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        for (double changes = 0.3; changes < 2; changes *= 2) {
            double naive;
            double is = estimate(rates[i], changes / rates[i], &naive);

            ck_assert_msg(is > 0.85 * rates[i] && is < 1.15 * rates[i],
                          "%g of %g at %g", is, rates[i], changes);
            if (changes > 1)
                ck_assert_double_lt(naive, 0.7 * rates[i]);
        }
    }
}

TEST(takes_any_numbers)
{
    const uint64_t known[] = {0, 1, UINT32_MAX, (uint64_t)1 << 32, INT64_MAX};
    const int64_t gaps[] = {1, 1000, INT64_MAX};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
            for (int changed = 0; changed <= 1; changed++) {
                uint64_t next =
                    refresh_rate_note(known[i], 1e-300, gaps[g], changed != 0);

                ck_assert_uint_ne(next, 0);
                ck_assert_uint_le(next, INT64_MAX);
                ck_assert_double_gt(refresh_rate(next, FIRST), 0);
                ck_assert(isfinite(refresh_rate(next, FIRST)));
            }
        }
    }
}

TEST(a_page_that_changes_its_habits_is_followed)
{
    const double gap = HOUR;
    uint64_t known = 0;

    for (int i = 0; i < 1000; i++)
        known = refresh_rate_note(known, FIRST, (int64_t)gap, false);
    ck_assert_double_lt(refresh_rate(known, FIRST), 0.05 / HOUR);
    for (int i = 0; i < 40; i++)
        known = refresh_rate_note(known, FIRST, (int64_t)gap, true);
    ck_assert_double_gt(refresh_rate(known, FIRST), 1 / HOUR);
}

/* Cho and Garcia-Molina (2003), section 4: with the best intervals no request
 * can be moved from one page to another to gain. */
TEST(at_one_price_each_page_gains_as_much_by_a_request)
{
    const double price = 3 * HOUR;

    for (double rate = 0.001 / HOUR; rate < 0.3 / HOUR; rate *= 1.7) {
        double ms = refresh_worth(rate, price);
        double more = 1 / ms + 1e-6 / ms;
        double gain =
            refresh_freshness(rate, 1 / more) - refresh_freshness(rate, ms);

        ck_assert_double_eq_tol(gain / (more - 1 / ms) / price, 1, 1e-3);
    }
    ck_assert(isinf(refresh_worth(0.4 / HOUR, price)));
    ck_assert_double_eq(refresh_worth(1 / HOUR, 0), 0);
}

static int64_t after(const struct refresh_rules *r, uint64_t known, double lag)
{
    const struct refresh_past past = {.known = known, .lag_ms = (int64_t)lag};

    return refresh_after(r, &past, 0);
}

TEST(an_interval_is_by_the_rate_within_bounds)
{
    const struct refresh_rules r = {.every_ms = REFRESH_ADAPTIVE,
                                    .min_ms = (int64_t)HOUR,
                                    .max_ms = (int64_t)(100 * HOUR)};
    uint64_t never = 0, always = 0, some = 0;

    ck_assert_int_eq(after(&r, 0, 0), (int64_t)(10 * HOUR));
    for (int i = 0; i < 200; i++) {
        never = refresh_learn(&r, never, (int64_t)(20 * HOUR), false);
        always = refresh_learn(&r, always, (int64_t)HOUR, true);
        some = refresh_learn(&r, some, (int64_t)(10 * HOUR), i % 10 == 0);
    }
    ck_assert_int_eq(after(&r, never, 0), r.max_ms);
    ck_assert_int_eq(after(&r, always, 0), r.min_ms);
    /* a change in about 100 hours */
    ck_assert_int_gt(after(&r, some, 0), (int64_t)(10 * HOUR));
    ck_assert_int_lt(after(&r, some, 0), (int64_t)(30 * HOUR));
    ck_assert_uint_eq(refresh_learn(&r, some, 0, true), some);
}

TEST(lists_of_urls_are_asked_once_a_day_at_least)
{
    struct refresh_rules r = {.every_ms = (int64_t)(100 * HOUR), .lists = 2};
    struct refresh_past past = {.kind = 1};

    ck_assert_int_eq(refresh_after(&r, &past, 0), (int64_t)(24 * HOUR));
    past.kind = 0;
    ck_assert_int_eq(refresh_after(&r, &past, 0), (int64_t)(100 * HOUR));
    r.every_ms = REFRESH_ADAPTIVE;
    r.min_ms = (int64_t)(30 * HOUR);
    r.max_ms = (int64_t)(1000 * HOUR);
    past.kind = 1;
    ck_assert_int_eq(refresh_after(&r, &past, 0), r.min_ms);
    r.min_ms = (int64_t)HOUR;
    r.max_ms = (int64_t)(10000 * HOUR);
    ck_assert_int_eq(refresh_after(&r, &past, 0), (int64_t)(24 * HOUR));
}

/* Where requests are scarce, the pages that cannot be followed give way. */
TEST(a_lag_makes_fast_pages_wait_more_than_slow_ones)
{
    const struct refresh_rules r = {.every_ms = REFRESH_ADAPTIVE,
                                    .min_ms = 1000,
                                    .max_ms = (int64_t)(10000 * HOUR)};
    const double lag = 4 * HOUR;
    uint64_t fast = 0, slow = 0;

    for (int i = 0; i < 100; i++) {
        fast = refresh_learn(&r, fast, (int64_t)(HOUR / 10), i % 10 != 0);
        slow = refresh_learn(&r, slow, (int64_t)(24 * HOUR), i % 2 == 0);
    }
    ck_assert_int_lt(after(&r, fast, 0), after(&r, slow, 0));
    ck_assert_int_gt(after(&r, fast, lag), after(&r, slow, lag));
    /* 20 lags, less the one to come */
    ck_assert_int_le(after(&r, fast, lag), (int64_t)(19 * lag));
}
