/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "filter/sizing.h"
#include "tests/unit/filter/keys.h"

static struct filter *counting_of(uint64_t expect, double fpr)
{
    struct filter_options o = {.kind = "counting",
                               .expect = expect,
                               .fpr = fpr};
    struct filter *f = NULL;

    ck_assert_int_eq(filter_new(&f, &o), STATUS_OK);
    return f;
}

START_TEST(keeps_every_key_and_its_promised_rate)
{
    static const double rates[] = {0.1, 1e-2, 1e-3, 1e-4};
    const uint64_t n = FEWER(200000), asked = FEWER(1000000);

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct filter *f = counting_of(n, rates[i]);
        struct sizing_interval w;

        ck_assert_int_eq(add_range(f, 0, n), STATUS_OK);
        ck_assert_uint_eq(count_maybe(f, 0, n), n);
        w = sizing_wilson(count_maybe(f, n, asked), asked, 3.5);
        ck_assert_msg(w.low <= 1.05 * rates[i], "p=%g: at least %g", rates[i],
                      w.low);
        filter_free(f);
    }
}
END_TEST

/* Compares random adds and removals with a count for each key. */
START_TEST(random_adds_and_removals_never_lose_a_key_that_is_in)
{
    enum { UNIVERSE = 5000 };
    static int in[UNIVERSE];
    struct filter *f = counting_of(UNIVERSE * 2, 0.01);
    struct filter_stats s;
    uint64_t held = 0;

    for (uint64_t i = 0; i < 300000; i++) {
        uint64_t name = nth_key(i) % UNIVERSE, key = nth_key(name);
        bool done;

        if (nth_key(i) >> 63 == 0 && in[name] > 0) {
            ck_assert_int_eq(filter_remove(f, &key, 1, &done), STATUS_OK);
            ck_assert(done);
            in[name]--;
            held--;
        } else if (in[name] < 2) {
            ck_assert_int_eq(filter_add(f, &key, 1, &done), STATUS_OK);
            ck_assert(!done || in[name] == 0);
            in[name]++;
            held++;
        }
        if (i % 50000 == 0)
            for (uint64_t n = 0; n < UNIVERSE; n++)
                ck_assert(in[n] == 0 || filter_check_one(f, nth_key(n)));
    }
    filter_stats(f, &s);
    ck_assert_uint_eq(s.count, held);
    filter_free(f);
}
END_TEST

START_TEST(what_was_added_and_removed_leaves_it_empty)
{
    struct filter *f = counting_of(10000, 0.001);
    struct filter_stats s;

    ck_assert_int_eq(add_range(f, 0, 10000), STATUS_OK);
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t key = nth_key(i);

        ck_assert_int_eq(filter_remove(f, &key, 1, NULL), STATUS_OK);
    }
    filter_stats(f, &s);
    ck_assert_uint_eq(s.count, 0);
    ck_assert_double_eq(s.fill, 0);
    filter_free(f);
}
END_TEST

/* After sixteen adds of one key, the exact count is lost. */
START_TEST(full_counters_stick)
{
    struct filter *f = counting_of(1000, 0.001);
    uint64_t key = nth_key(1);
    struct filter_stats s;

    for (int i = 0; i < 16; i++)
        ck_assert_int_eq(filter_add(f, &key, 1, NULL), STATUS_OK);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(filter_remove(f, &key, 1, NULL), STATUS_OK);
    ck_assert(filter_check_one(f, key));
    filter_stats(f, &s);
    ck_assert_uint_ge(s.stuck, 7);
    filter_free(f);
}
END_TEST

START_TEST(a_key_that_surely_is_not_there_is_left_alone)
{
    struct filter *f = counting_of(1000, 0.001);
    uint64_t key = nth_key(1), absent = nth_key(2);
    bool removed;

    ck_assert_int_eq(filter_add(f, &key, 1, NULL), STATUS_OK);
    ck_assert_int_eq(filter_remove(f, &absent, 1, &removed), STATUS_OK);
    ck_assert(!removed);
    ck_assert(filter_check_one(f, key));
    filter_free(f);
}
END_TEST

START_TEST(merging_adds_the_counts)
{
    struct filter *a = counting_of(5000, 0.01), *b = counting_of(5000, 0.01);
    uint64_t key = nth_key(7);

    ck_assert_int_eq(add_range(a, 0, 1000), STATUS_OK);
    ck_assert_int_eq(add_range(b, 0, 2000), STATUS_OK);
    ck_assert_int_eq(filter_merge(a, b), STATUS_OK);
    ck_assert_uint_eq(count_maybe(a, 0, 2000), 2000);
    ck_assert_int_eq(filter_remove(a, &key, 1, NULL), STATUS_OK);
    ck_assert(filter_check_one(a, key)); /* it was in both */
    filter_free(a);
    filter_free(b);
}
END_TEST

START_TEST(past_its_capacity_it_says_so)
{
    struct filter *f = counting_of(1000, 0.01);

    ck_assert_int_eq(add_range(f, 0, 2000), STATUS_LIMIT);
    ck_assert_uint_eq(count_maybe(f, 0, 2000), 2000);
    filter_free(f);
}
END_TEST

Suite *suite_counting(void)
{
    Suite *s = suite_create("counting");
    TCase *t = tcase_create("counting");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, keeps_every_key_and_its_promised_rate);
    tcase_add_test(t, random_adds_and_removals_never_lose_a_key_that_is_in);
    tcase_add_test(t, what_was_added_and_removed_leaves_it_empty);
    tcase_add_test(t, full_counters_stick);
    tcase_add_test(t, a_key_that_surely_is_not_there_is_left_alone);
    tcase_add_test(t, merging_adds_the_counts);
    tcase_add_test(t, past_its_capacity_it_says_so);
    suite_add_tcase(s, t);
    return s;
}
