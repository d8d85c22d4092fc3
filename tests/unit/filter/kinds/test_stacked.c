/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>

#include "filter/sizing.h"
#include "tests/unit/filter/keys.h"

static struct filter *stacked_of(uint64_t expect, double fpr, double growth,
                                 double tightening)
{
    struct filter_options o = {.kind = "stacked",
                               .expect = expect,
                               .fpr = fpr,
                               .growth = growth,
                               .tightening = tightening};
    struct filter *f = NULL;

    ck_assert_int_eq(filter_new(&f, &o), STATUS_OK);
    return f;
}

/* Almeida et al. 2007, section 2: P <= sum of p0 r^i < p0 / (1 - r) = p. */
START_TEST(the_compounded_rate_stays_below_the_promise)
{
    static const struct {
        double growth, tightening;
    } plans[] = {{2, 0.5}, {4, 0.9}, {1, 0.8}};
    const uint64_t n = FEWER(1000000), asked = 1000000;

    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct filter *f =
            stacked_of(n / 40, 0.01, plans[i].growth, plans[i].tightening);
        struct filter_stats s;
        double measured;

        ck_assert_int_eq(add_range(f, 0, n), STATUS_OK);
        ck_assert_uint_eq(count_maybe(f, 0, n), n);
        measured = (double)count_maybe(f, n, asked) / (double)asked;
        ck_assert_double_le(measured, 0.0103); /* 3 sigma */
        filter_stats(f, &s);
        ck_assert_double_eq_tol(s.fpr_predicted / measured, 1, 0.1);
        filter_free(f);
    }
}
END_TEST

START_TEST(random_batches_agree_with_a_plain_table)
{
    enum { UNIVERSE = 100000 };
    static bool added[UNIVERSE];
    struct filter *f = stacked_of(100, 0.01, 2, 0.5);
    uint64_t random = 1;

    for (int round = 0; round < 2000; round++) {
        uint64_t keys[200], names[200];
        bool fresh[200], maybe[200];
        size_t n = (size_t)(nth_key(random++) % 200) + 1;

        for (size_t i = 0; i < n; i++) {
            names[i] = nth_key(random++) % UNIVERSE;
            keys[i] = nth_key(names[i]);
        }
        ck_assert_int_eq(filter_add(f, keys, n, fresh), STATUS_OK);
        for (size_t i = 0; i < n; i++) {
            ck_assert(!fresh[i] || !added[names[i]]);
            added[names[i]] = true;
        }
        filter_check(f, keys, n, maybe);
        for (size_t i = 0; i < n; i++)
            ck_assert(maybe[i]);
    }
    filter_free(f);
}
END_TEST

START_TEST(at_its_memory_share_it_stops_growing_and_says_so)
{
    struct filter_options o = {.kind = "stacked",
                               .expect = 1000,
                               .fpr = 0.001,
                               .most_bytes = 100000};
    struct filter *f = NULL;
    struct filter_stats s;

    ck_assert_int_eq(filter_new(&f, &o), STATUS_OK);
    ck_assert_int_eq(add_range(f, 0, 200000), STATUS_LIMIT);
    filter_stats(f, &s);
    ck_assert(s.reduced && s.overfull);
    ck_assert_uint_le(s.bits / 8, 100000);
    ck_assert_uint_eq(count_maybe(f, 0, 200000), 200000);
    filter_free(f);
}
END_TEST

START_TEST(filters_of_one_plan_merge)
{
    struct filter *a = stacked_of(1000, 0.01, 2, 0.5);
    struct filter *b = stacked_of(1000, 0.01, 2, 0.5);
    struct filter *other = stacked_of(1000, 0.01, 3, 0.5);

    ck_assert_int_eq(add_range(a, 0, 3000), STATUS_OK);
    ck_assert_int_eq(add_range(b, 2000, 20000), STATUS_OK);
    (void)!filter_merge(a, b);
    ck_assert_uint_eq(count_maybe(a, 0, 22000), 22000);
    ck_assert_int_eq(filter_merge(a, other), STATUS_ARG);
    filter_free(a);
    filter_free(b);
    filter_free(other);
}
END_TEST

START_TEST(without_memory_for_a_layer_no_key_is_lost)
{
    struct filter *f = stacked_of(1000, 0.01, 2, 0.5);

    for (uint64_t n = 0; n < 100000; n += 1000) {
        mem_fail_after(1);
        (void)!add_range(f, n, 1000);
        mem_fail_after(0);
    }
    ck_assert_uint_eq(count_maybe(f, 0, 100000), 100000);
    filter_free(f);
}
END_TEST

Suite *suite_stacked(void)
{
    Suite *s = suite_create("stacked");
    TCase *t = tcase_create("stacked");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, the_compounded_rate_stays_below_the_promise);
    tcase_add_test(t, random_batches_agree_with_a_plain_table);
    tcase_add_test(t, at_its_memory_share_it_stops_growing_and_says_so);
    tcase_add_test(t, filters_of_one_plan_merge);
    tcase_add_test(t, without_memory_for_a_layer_no_key_is_lost);
    suite_add_tcase(s, t);
    return s;
}
