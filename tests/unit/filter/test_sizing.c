/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "filter/sizing.h"
#include "tests/unit/unit.h"

/* 1,000,000 keys at 1 %: 9.585 bits a key and 7 hashes, as in every table. */
TEST(plain_filters_follow_broder_and_mitzenmacher)
{
    ck_assert_uint_eq(sizing_plain_bits(1000000, 0.01), 9585058);
    ck_assert_uint_eq(sizing_plain_hashes(9585059, 1000000), 7);
    ck_assert_uint_eq(sizing_plain_bits(1000000, 0.001), 14377587);
    ck_assert_uint_eq(sizing_plain_hashes(14377588, 1000000), 10);
    ck_assert_double_eq_tol(sizing_plain_rate(14377588, 10, 1000000), 1e-3,
                            1e-5);
}

TEST(sizes_beyond_32_bits_are_exact)
{
    ck_assert_uint_eq(sizing_plain_bits(UINT64_C(10000000000), 0.001),
                      UINT64_C(143775875660));
    /* The largest filter allowed: 2^40 keys at 1e-9. */
    ck_assert_uint_eq(sizing_plain_bits(UINT64_C(1) << 40, 1e-9),
                      UINT64_C(47424974124722));
    ck_assert_uint_eq(sizing_plain_hashes(UINT64_C(47424974124722), UINT64_C(1)
                                                                        << 40),
                      30);
    ck_assert_uint_eq(sizing_blocks(UINT64_C(1) << 40, 32), UINT64_C(1) << 35);
    ck_assert_uint_eq(sizing_blocks((UINT64_C(1) << 40) + 1, 32),
                      (UINT64_C(1) << 35) + 1);
    ck_assert_double_eq_tol(sizing_plain_rate(UINT64_C(143775875660), 10,
                                              UINT64_C(10000000000)),
                            1e-3, 1e-5);
}

/* One key alone in its block, with one mark in each of 8 lanes: (1/64)^8. At
 * load L the rate is, to first order, L times that. */
TEST(a_nearly_empty_block_errs_as_computed_by_hand)
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

TEST(blocks_cost_10_10_bits_at_1_percent_and_15_72_at_a_tenth_of_it)
{
    double load;

    ck_assert_uint_eq(sizing_block_best(64, 0.01, &load), 8);
    ck_assert_double_eq_tol(512 / load, 10.10, 0.005);
    ck_assert_uint_eq(sizing_block_best(64, 0.001, &load), 8);
    ck_assert_double_eq_tol(512 / load, 15.72, 0.005);
    ck_assert_uint_eq(sizing_block_best(64, 1e-6, &load), 16);
    ck_assert_double_eq_tol(512 / load, 39.01, 0.01);
}

TEST(parts_that_grow_keep_the_promise_on_average_only)
{
    double full = sizing_growing_load(8, 64, 0.001, 1.125);
    double sum = 0;

    ck_assert_double_gt(sizing_block_rate(8, 64, full), 0.00120);
    ck_assert_double_lt(sizing_block_rate(8, 64, full), 0.00145);
    for (int i = 0; i < 1000; i++)
        sum += sizing_block_rate(8, 64, full * pow(1.125, -(i + 0.5) / 1000));
    ck_assert_double_eq_tol(sum / 1000, 0.001, 1e-5);
}

TEST(the_table_agrees_with_the_sum)
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

TEST(cuckoo_rate_is_that_of_eight_comparisons)
{
    /* 8 slots, 95 % taken, 65535 values: 7.6 / 65535. */
    ck_assert_double_eq_tol(sizing_cuckoo_rate(16, 4, 0.95), 7.6 / 65535, 1e-7);
}

/* 10 of 100 at z = 1.96: (0.0552, 0.1744), as in textbooks. */
TEST(wilson_interval_has_its_textbook_value)
{
    struct sizing_interval w = sizing_wilson(10, 100, SIZING_Z95);

    ck_assert_double_eq_tol(w.low, 0.0552, 5e-5);
    ck_assert_double_eq_tol(w.high, 0.1744, 5e-5);
    w = sizing_wilson(0, 1000, SIZING_Z95);
    ck_assert_double_eq(w.low, 0);
    ck_assert_double_eq_tol(w.high, 0.003827, 1e-5);
    w = sizing_wilson(1000, 1000, SIZING_Z95);
    ck_assert_double_eq_tol(w.low, 1 - 0.003827, 1e-5);
    ck_assert_double_eq(w.high, 1);
    w = sizing_wilson(0, 0, SIZING_Z95);
    ck_assert_double_eq(w.low, 0);
    ck_assert_double_eq(w.high, 1);
}

/* ---- against plain models ------------------------------------------------*/

enum { MODEL_DRAWS = 600 };

/* Fills match[n]: the chance that `asked` draws hit marked cells of a lane
 * after n draws, from the chances of each number of distinct cells. */
static void model_lane(unsigned asked, unsigned cells, double *match)
{
    double distinct[65] = {1};

    for (unsigned n = 0; n < MODEL_DRAWS; n++) {
        match[n] = 0;
        for (unsigned d = 0; d <= cells; d++)
            match[n] += distinct[d] * pow((double)d / cells, asked);
        for (unsigned d = cells; d > 0; d--)
            distinct[d] = distinct[d] * d / cells +
                          distinct[d - 1] * (cells - d + 1) / cells;
        distinct[0] = 0;
    }
}

static double model_poisson(double mean, unsigned n)
{
    return exp(n * log(mean) - mean - lgamma(n + 1.0));
}

/* a keys chose the half that we ask, b the other one. */
static double model_rate(unsigned k, unsigned cells, double load)
{
    static double more[MODEL_DRAWS], less[MODEL_DRAWS];
    unsigned each = k / 8, most = MODEL_DRAWS / (k % 8 == 0 ? each : k / 4);
    double sum = 0;

    model_lane(each + 1, cells, more);
    model_lane(each, cells, less);
    for (unsigned a = 0; k % 8 == 0 && a < most; a++)
        sum += model_poisson(load, a) * pow(less[a * each], 8);
    for (unsigned a = 0; k % 8 != 0 && a < most; a++)
        for (unsigned b = 0; b < most; b++)
            sum += model_poisson(load / 2, a) * model_poisson(load / 2, b) *
                   pow(more[(a + b) * each + a], 4) *
                   pow(less[(a + b) * each + b], 4);
    return sum;
}

TEST(rates_are_those_of_a_plain_model)
{
    static const double loads[] = {0.01, 0.5, 3, 11, 32, 60};

    for (unsigned cells = 16; cells <= 64; cells += 48)
        for (unsigned k = 4; k <= SIZING_MOST_K; k += 4)
            for (int i = 0; i < 6; i++) {
                double got = sizing_block_rate(k, cells, loads[i]);
                double want = model_rate(k, cells, loads[i]);

                /* Differences of nearly equal numbers lose digits. */
                ck_assert_msg(fabs(got - want) <= 1e-6 * want + 1e-30,
                              "k=%u cells=%u load=%g: %g, not %g", k, cells,
                              loads[i], got, want);
            }
}

TEST(the_load_is_the_greatest_that_keeps_the_rate)
{
    static const double rates[] = {0.3, 0.01, 1e-4, 1e-7};

    for (unsigned cells = 16; cells <= 64; cells += 48)
        for (int i = 0; i < 4; i++) {
            double best, most = 0;
            unsigned k_best = sizing_block_best(cells, rates[i], &best);

            for (unsigned k = 4; k <= SIZING_MOST_K; k += 4) {
                double load = sizing_block_load(k, cells, rates[i]);

                ck_assert_double_gt(load, 0);
                ck_assert_double_le(sizing_block_rate(k, cells, load),
                                    rates[i]);
                ck_assert_double_gt(sizing_block_rate(k, cells,
                                                      load * 1.0001 + 1e-5),
                                    rates[i]);
                most = fmax(most, load);
            }
            ck_assert_double_eq(best, most);
            ck_assert_double_eq(sizing_block_load(k_best, cells, rates[i]),
                                most);
        }
}

/* A cell stays empty with (1 - 1/c)^draws, over all numbers of keys. */
static double model_fill(unsigned k, unsigned cells, double load)
{
    double sum = 0;

    for (unsigned a = 0; a < 100; a++)
        for (unsigned b = 0; b < 100; b++)
            sum += model_poisson(load / 2, a) * model_poisson(load / 2, b) *
                   (1 - pow(1 - 1.0 / cells,
                            (a + b) * (k / 8) + (k % 8 != 0 ? a : 0)));
    return sum;
}

TEST(fills_are_those_of_a_plain_model)
{
    for (unsigned cells = 16; cells <= 64; cells += 48)
        for (unsigned k = 4; k <= SIZING_MOST_K; k += 4)
            ck_assert_double_eq_tol(sizing_block_fill(k, cells, 25),
                                    model_fill(k, cells, 25), 1e-9);
    /* A sample may be all ones: no load explains that, but one is given. */
    ck_assert(isfinite(sizing_block_load_of_fill(8, 64, 1)));
    ck_assert_double_gt(sizing_block_load_of_fill(8, 64, 1), 1000);
    ck_assert_double_eq(sizing_block_load_of_fill(8, 64, 0), 0);
}

TEST(the_table_is_exact_at_its_points_and_outside)
{
    static const unsigned ks[] = {4, 8, 12, 24};
    struct sizing_curve c;

    for (int i = 0; i < 4; i++) {
        sizing_curve_init(&c, ks[i], 16, 6);
        for (int p = 0; p < SIZING_POINTS; p++) {
            double load = 6.0 / 8 * pow(32, p / (SIZING_POINTS - 1.0));

            ck_assert_double_eq_tol(sizing_curve_rate(&c, load) /
                                        sizing_block_rate(ks[i], 16, load),
                                    1, 1e-9);
        }
        for (double load = 0.8; load < 23.9; load += 0.01)
            ck_assert_double_eq_tol(sizing_curve_rate(&c, load) /
                                        sizing_block_rate(ks[i], 16, load),
                                    1, 0.01);
        ck_assert_double_eq(sizing_curve_rate(&c, 0), 0);
        ck_assert_double_eq(sizing_curve_rate(&c, 0.7),
                            sizing_block_rate(ks[i], 16, 0.7));
        ck_assert_double_eq(sizing_curve_rate(&c, 24.1),
                            sizing_block_rate(ks[i], 16, 24.1));
    }
}
