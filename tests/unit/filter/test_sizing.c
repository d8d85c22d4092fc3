/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>

#include "filter/sizing.h"

/* 1,000,000 keys at 1 %: 9.585 bits a key and 7 hashes, as in every table. */
START_TEST(plain_filters_follow_broder_and_mitzenmacher)
{
    ck_assert_uint_eq(sizing_plain_bits(1000000, 0.01), 9585059);
    ck_assert_uint_eq(sizing_plain_hashes(9585059, 1000000), 7);
    ck_assert_uint_eq(sizing_plain_bits(1000000, 0.001), 14377588);
    ck_assert_uint_eq(sizing_plain_hashes(14377588, 1000000), 10);
    ck_assert_double_eq_tol(sizing_plain_rate(14377588, 10, 1000000), 1e-3,
                            1e-5);
}
END_TEST

START_TEST(sizes_beyond_32_bits_are_exact)
{
    ck_assert_uint_eq(sizing_plain_bits(UINT64_C(10000000000), 0.001),
                      UINT64_C(143775875661));
    /* The largest filter allowed: 2^40 keys at 1e-9. */
    ck_assert_uint_eq(sizing_plain_bits(UINT64_C(1) << 40, 1e-9),
                      UINT64_C(47424974124723));
    ck_assert_uint_eq(sizing_plain_hashes(UINT64_C(47424974124723), UINT64_C(1)
                                                                        << 40),
                      30);
    ck_assert_uint_eq(sizing_blocks(UINT64_C(1) << 40, 32), UINT64_C(1) << 35);
    ck_assert_uint_eq(sizing_blocks((UINT64_C(1) << 40) + 1, 32),
                      (UINT64_C(1) << 35) + 1);
    ck_assert_double_eq_tol(sizing_plain_rate(UINT64_C(143775875661), 10,
                                              UINT64_C(10000000000)),
                            1e-3, 1e-5);
}
END_TEST

/* One key alone in its block, with one mark in each of 8 lanes: (1/64)^8. At
 * load L the rate is, to first order, L times that. */
START_TEST(a_nearly_empty_block_errs_as_computed_by_hand)
{
    double one = pow(1.0 / 64, 8), tiny = 1e-3;

    ck_assert_double_eq_tol(sizing_block_rate(8, 64, tiny) / (tiny * one), 1,
                            0.2);
    /* Four marks in the half that the key chose: in half of all cases the other
     * key is in it. */
    ck_assert_double_eq_tol(sizing_block_rate(4, 64, tiny) /
                                (tiny / 2 * pow(1.0 / 64, 4)),
                            1, 0.02);
}
END_TEST

START_TEST(blocks_cost_10_10_bits_at_1_percent_and_15_72_at_a_tenth_of_it)
{
    double load;

    ck_assert_uint_eq(sizing_block_best(64, 0.01, &load), 8);
    ck_assert_double_eq_tol(512 / load, 10.10, 0.005);
    ck_assert_uint_eq(sizing_block_best(64, 0.001, &load), 8);
    ck_assert_double_eq_tol(512 / load, 15.72, 0.005);
    ck_assert_uint_eq(sizing_block_best(64, 1e-6, &load), 16);
    ck_assert_double_eq_tol(512 / load, 39.01, 0.01);
}
END_TEST

START_TEST(parts_that_grow_keep_the_promise_on_average_only)
{
    double full = sizing_growing_load(8, 64, 0.001, 1.125);
    double sum = 0;

    ck_assert_double_gt(sizing_block_rate(8, 64, full), 0.00120);
    ck_assert_double_lt(sizing_block_rate(8, 64, full), 0.00145);
    for (int i = 0; i < 1000; i++)
        sum += sizing_block_rate(8, 64, full * pow(1.125, -(i + 0.5) / 1000));
    ck_assert_double_eq_tol(sum / 1000, 0.001, 1e-5);
}
END_TEST

START_TEST(the_table_agrees_with_the_sum)
{
    static const unsigned ks[] = {4, 8, 12, 16};
    struct sizing_curve c;

    for (int i = 0; i < 4; i++) {
        sizing_curve_init(&c, ks[i], 64, 20);
        for (double load = 0.1; load < 100; load += 0.7)
            ck_assert_double_eq_tol(sizing_curve_rate(&c, load) /
                                        sizing_block_rate(ks[i], 64, load),
                                    1, 0.01);
    }
}
END_TEST

START_TEST(fill_and_load_are_inverse)
{
    for (unsigned k = 4; k <= SIZING_MOST_K; k += 4)
        ck_assert_double_eq_tol(
            sizing_block_load_of_fill(k, 64, sizing_block_fill(k, 64, 25)), 25,
            1e-9);
}
END_TEST

START_TEST(cuckoo_rate_is_that_of_eight_comparisons)
{
    /* 8 slots, 95 % taken, 65535 values: 7.6 / 65535. */
    ck_assert_double_eq_tol(sizing_cuckoo_rate(16, 4, 0.95), 7.6 / 65535, 1e-7);
}
END_TEST

/* 10 of 100 at z = 1.96: (0.0552, 0.1744), as in textbooks. */
START_TEST(wilson_interval_has_its_textbook_value)
{
    struct sizing_interval w = sizing_wilson(10, 100, SIZING_Z95);

    ck_assert_double_eq_tol(w.low, 0.0552, 5e-5);
    ck_assert_double_eq_tol(w.high, 0.1744, 5e-5);
    w = sizing_wilson(0, 1000, SIZING_Z95);
    ck_assert_double_eq_tol(w.low, 0, 1e-12);
    ck_assert_double_eq_tol(w.high, 0.003827, 1e-5);
    w = sizing_wilson(0, 0, SIZING_Z95);
    ck_assert_double_eq_tol(w.high - w.low, 1, 1e-12);
}
END_TEST

Suite *suite_sizing(void)
{
    Suite *s = suite_create("sizing");
    TCase *t = tcase_create("sizing");

    tcase_add_test(t, plain_filters_follow_broder_and_mitzenmacher);
    tcase_add_test(t, sizes_beyond_32_bits_are_exact);
    tcase_add_test(t, a_nearly_empty_block_errs_as_computed_by_hand);
    tcase_add_test(
        t, blocks_cost_10_10_bits_at_1_percent_and_15_72_at_a_tenth_of_it);
    tcase_add_test(t, parts_that_grow_keep_the_promise_on_average_only);
    tcase_add_test(t, the_table_agrees_with_the_sum);
    tcase_add_test(t, fill_and_load_are_inverse);
    tcase_add_test(t, cuckoo_rate_is_that_of_eight_comparisons);
    tcase_add_test(t, wilson_interval_has_its_textbook_value);
    suite_add_tcase(s, t);
    return s;
}
