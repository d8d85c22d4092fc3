/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "base/clock.h"
#include "frontier/embedded/schedule.h"

static const struct schedule_options defaults = {
    .delay = NS_PER_S,
    .max_delay = 30 * NS_PER_S,
    .max_crawl_delay = 300 * NS_PER_S,
    .retry_delay = NS_PER_S,
};

START_TEST(pause_is_the_delay_unless_the_host_asks_for_more)
{
    struct schedule_random r = {1};

    ck_assert_int_eq(schedule_pause(&defaults, -1, 0, &r), NS_PER_S);
    ck_assert_int_eq(schedule_pause(&defaults, 5 * NS_PER_S, 0, &r),
                     5 * NS_PER_S);
    ck_assert_int_eq(schedule_pause(&defaults, 0, 0, &r), NS_PER_S);
}
END_TEST

START_TEST(a_crawl_delay_is_cut_to_its_ceiling)
{
    struct schedule_random r = {1};

    ck_assert_int_eq(schedule_pause(&defaults, 3600 * NS_PER_S, 0, &r),
                     300 * NS_PER_S);
}
END_TEST

START_TEST(errors_double_the_pause_up_to_max_delay)
{
    struct schedule_random r = {1};

    ck_assert_int_eq(schedule_pause(&defaults, -1, 1, &r), 2 * NS_PER_S);
    ck_assert_int_eq(schedule_pause(&defaults, -1, 4, &r), 16 * NS_PER_S);
    ck_assert_int_eq(schedule_pause(&defaults, -1, 5, &r), 30 * NS_PER_S);
    ck_assert_int_eq(schedule_pause(&defaults, -1, 4000000000U, &r),
                     30 * NS_PER_S);
    /* A Crawl-delay above max_delay is kept, and errors add nothing. */
    ck_assert_int_eq(schedule_pause(&defaults, 60 * NS_PER_S, 3, &r),
                     60 * NS_PER_S);
}
END_TEST

START_TEST(random_delay_stays_within_half_and_one_and_a_half)
{
    struct schedule_options o = defaults;
    struct schedule_random r = {42};
    int64_t least = INT64_MAX, most = 0;

    o.random_delay = true;
    for (int i = 0; i < 10000; i++) {
        int64_t p = schedule_pause(&o, -1, 0, &r);

        least = p < least ? p : least;
        most = p > most ? p : most;
        ck_assert_int_ge(schedule_pause(&o, 2 * NS_PER_S, 0, &r), 2 * NS_PER_S);
    }
    ck_assert_int_ge(least, NS_PER_S / 2);
    ck_assert_int_lt(least, NS_PER_S * 51 / 100);
    ck_assert_int_lt(most, NS_PER_S * 3 / 2);
    ck_assert_int_gt(most, NS_PER_S * 149 / 100);
}
END_TEST

START_TEST(back_off_starts_at_a_minute_and_ends_at_a_day)
{
    struct schedule_random r = {7};

    for (int i = 0; i < 100; i++) {
        int64_t first = schedule_backoff(-1, 1, &r);

        ck_assert_int_ge(first, 60 * NS_PER_S);
        ck_assert_int_lt(first, 75 * NS_PER_S);
        ck_assert_int_ge(schedule_backoff(-1, 3, &r), 240 * NS_PER_S);
        ck_assert_int_eq(schedule_backoff(-1, 40, &r), 86400 * NS_PER_S);
    }
}
END_TEST

START_TEST(retry_after_is_kept_and_bounded_by_a_day)
{
    struct schedule_random r = {7};

    ck_assert_int_eq(schedule_backoff(3 * NS_PER_S, 9, &r), 3 * NS_PER_S);
    ck_assert_int_eq(schedule_backoff(0, 1, &r), 0);
    ck_assert_int_eq(schedule_backoff(INT64_MAX, 1, &r), 86400 * NS_PER_S);
}
END_TEST

START_TEST(retries_double_with_jitter_up_to_max_delay)
{
    struct schedule_random r = {9};

    for (int i = 0; i < 100; i++) {
        int64_t second = schedule_retry(&defaults, 2, &r);

        ck_assert_int_ge(second, NS_PER_S * 3 / 2);
        ck_assert_int_le(second, NS_PER_S * 5 / 2);
        ck_assert_int_le(schedule_retry(&defaults, 60, &r),
                         NS_PER_S * 30 * 5 / 4);
    }
}
END_TEST

START_TEST(the_same_seed_gives_the_same_numbers)
{
    struct schedule_random a = {123}, b = {123};

    for (int i = 0; i < 1000; i++) {
        double x = schedule_random_next(&a);

        ck_assert(x == schedule_random_next(&b));
        ck_assert(x >= 0.0 && x < 1.0);
    }
}
END_TEST

Suite *suite_schedule(void)
{
    Suite *s = suite_create("schedule");
    TCase *t = tcase_create("schedule");

    tcase_add_test(t, pause_is_the_delay_unless_the_host_asks_for_more);
    tcase_add_test(t, a_crawl_delay_is_cut_to_its_ceiling);
    tcase_add_test(t, errors_double_the_pause_up_to_max_delay);
    tcase_add_test(t, random_delay_stays_within_half_and_one_and_a_half);
    tcase_add_test(t, back_off_starts_at_a_minute_and_ends_at_a_day);
    tcase_add_test(t, retry_after_is_kept_and_bounded_by_a_day);
    tcase_add_test(t, retries_double_with_jitter_up_to_max_delay);
    tcase_add_test(t, the_same_seed_gives_the_same_numbers);
    suite_add_tcase(s, t);
    return s;
}
