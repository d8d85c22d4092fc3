/* SPDX-License-Identifier: MIT */

#include "base/clock.h"
#include "crawler/transfer/limits.h"
#include "tests/unit/unit.h"

#define T0 (1000 * NS_PER_S)

TEST(a_second_is_free_and_all_above_it_takes_its_time)
{
    struct rate_limit *l = rate_limit_new(1000);

    ck_assert_int_le(rate_limit_level_at(l), T0);
    ck_assert_int_eq(rate_limit_spend(l, 1000, T0), T0);
    ck_assert_int_eq(rate_limit_spend(l, 500, T0), T0 + NS_PER_S / 2);
    ck_assert_int_eq(rate_limit_level_at(l), T0 + NS_PER_S / 2);
    ck_assert_int_eq(rate_limit_spend(l, 250, T0 + NS_PER_S / 4),
                     T0 + NS_PER_S * 3 / 4);
    rate_limit_free(l);
}

TEST(no_more_than_a_second_is_saved_up)
{
    struct rate_limit *l = rate_limit_new(1000);
    const int64_t later = T0 + 100 * NS_PER_S;

    ck_assert_int_eq(rate_limit_spend(l, 1000, T0), T0);
    ck_assert_int_eq(rate_limit_spend(l, 2000, later), later + NS_PER_S);
    rate_limit_free(l);
}

TEST(a_rate_that_changes_takes_what_is_overdrawn_along)
{
    struct rate_limit *l = rate_limit_new(1000);

    (void)rate_limit_spend(l, 3000, T0);
    rate_limit_set(l, 4000, T0);
    ck_assert_uint_eq(rate_limit_rate(l), 4000);
    ck_assert_int_eq(rate_limit_level_at(l), T0 + NS_PER_S / 2);
    rate_limit_set(l, 500, T0 + NS_PER_S / 4);
    ck_assert_int_eq(rate_limit_level_at(l), T0 + NS_PER_S * 9 / 4);
    rate_limit_free(l);
}

TEST(without_a_rate_nothing_waits_and_one_that_begins_has_saved_nothing)
{
    struct rate_limit *l = rate_limit_new(0);

    ck_assert_int_eq(rate_limit_spend(l, UINT64_MAX, T0), INT64_MIN);
    ck_assert_int_eq(rate_limit_level_at(l), INT64_MIN);
    rate_limit_set(l, 10, T0);
    ck_assert_int_eq(rate_limit_spend(l, 10, T0), T0 + NS_PER_S);
    rate_limit_set(l, 0, T0);
    ck_assert_int_eq(rate_limit_level_at(l), INT64_MIN);
    rate_limit_free(l);
}

TEST(a_faster_rate_shortens_only_what_is_still_to_wait)
{
    struct rate_limit *l = rate_limit_new(1000);

    ck_assert_uint_eq(rate_limit_rate(l), 1000);
    ck_assert_int_eq(rate_limit_spend(l, 500, T0), T0 - NS_PER_S / 2);
    rate_limit_set(l, 2000, T0); /* nothing is overdrawn: as before */
    ck_assert_int_eq(rate_limit_level_at(l), T0 - NS_PER_S / 2);
    ck_assert_int_eq(rate_limit_spend(l, 1000, T0), T0);
    rate_limit_set(l, 1000, T0);
    ck_assert_int_eq(rate_limit_level_at(l), T0);
    rate_limit_set(l, 0, T0 + 5);
    ck_assert_uint_eq(rate_limit_rate(l), 0);
    rate_limit_set(l, 500, T0 + 7);
    ck_assert_int_eq(rate_limit_level_at(l), T0 + 7);
    ck_assert_int_eq(rate_limit_spend(l, 500, T0 + 7), T0 + 7 + NS_PER_S);
    /* a second later it is level again, not full */
    ck_assert_int_eq(rate_limit_spend(l, 500, T0 + 7 + NS_PER_S),
                     T0 + 7 + 2 * NS_PER_S);
    rate_limit_free(l);
    rate_limit_free(NULL);
}
