/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "filter/sizing.h"
#include "tests/unit/filter/image.h"
#include "tests/unit/unit.h"

static struct filter *bloom_of(uint64_t expect, double fpr)
{
    struct filter_options o = {.kind = "bloom", .expect = expect, .fpr = fpr};
    struct filter *f = NULL;

    ck_ok(filter_new(&f, &o));
    return f;
}

/* Filled to capacity, at every rate: no key is lost, and the rate is kept. */
TEST(keeps_every_key_and_its_promised_rate)
{
    static const double rates[] = {0.1, 1e-2, 1e-3, 1e-4, 1e-6};
    const uint64_t n = 200000, asked = 1000000;

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct filter *f = bloom_of(n, rates[i]);
        struct sizing_interval w;

        ck_ok(add_range(f, 0, n));
        ck_assert_uint_eq(count_maybe(f, 0, n), n);
        w = sizing_wilson(count_maybe(f, n, asked), asked, 3.5);
        ck_assert_msg(w.low <= 1.05 * rates[i], "p=%g: at least %g", rates[i],
                      w.low);
        filter_free(f);
    }
}

/* libbloom, filled tenfold, silently answers "maybe" to 99 %. */
TEST(past_its_capacity_it_says_so_and_keeps_every_key)
{
    struct filter *f = bloom_of(20000, 0.001);
    struct filter_stats s;
    double measured;

    ck_ok(add_range(f, 0, 20000));
    filter_stats(f, &s);
    ck_assert(!s.overfull);
    ck_assert_int_eq(add_range(f, 20000, 40000), STATUS_LIMIT);
    filter_stats(f, &s);
    ck_assert(s.overfull);
    ck_assert_uint_eq(count_maybe(f, 0, 60000), 60000);
    measured = (double)count_maybe(f, 100000, 200000) / 200000;
    ck_assert_double_eq_tol(s.fpr_predicted / measured, 1, 0.05);
    filter_free(f);
}

TEST(merging_holds_both_and_knows_how_many)
{
    struct filter *a = bloom_of(30000, 0.001), *b = bloom_of(30000, 0.001);
    struct filter *other = bloom_of(30001, 0.01);
    struct filter_stats s;

    ck_ok(add_range(a, 0, 10000));
    ck_ok(add_range(b, 5000, 10000));
    ck_ok(filter_merge(a, b));
    ck_assert_uint_eq(count_maybe(a, 0, 15000), 15000);
    filter_stats(a, &s);
    ck_assert_double_eq_tol((double)s.count, 15000, 150);
    ck_assert_int_eq(filter_merge(a, other), STATUS_ARG);
    filter_free(a);
    filter_free(b);
    filter_free(other);
}

TEST(a_memory_share_gives_fewer_bits_a_key_and_says_so)
{
    struct filter_options o = {.kind = "bloom",
                               .expect = 100000,
                               .fpr = 1e-3,
                               .most_bytes = 100000};
    struct filter *f = NULL;
    struct filter_stats s;

    ck_ok(filter_new(&f, &o));
    ck_assert_int_eq(add_range(f, 0, 100000), STATUS_LIMIT);
    filter_stats(f, &s);
    ck_assert(s.reduced && s.overfull);
    ck_assert_uint_le(s.bits / 8, 100000);
    ck_assert_uint_eq(count_maybe(f, 0, 100000), 100000);
    filter_free(f);
}

FIXTURE(use_a_file, drop_the_file);

/* One of two units; the other answers as before. */
TEST(a_damaged_unit_is_mended_from_keys_or_says_maybe)
{
    const uint64_t n = 100000;

    for (int with = 0; with < 2; with++) {
        struct remembered *r = xcalloc(1, sizeof *r);
        struct filter *f = saved("bloom", n, r), *g = NULL;
        struct checkpoint_info info;
        struct filter_stats s, before;
        uint64_t maybe;

        filter_stats(f, &before);
        flip(8 * 300);
        ck_ok(load(&g, with ? r : NULL, &info));
        filter_stats(g, &s);
        ck_assert_uint_eq(info.units, 2);
        ck_assert_uint_eq(info.damaged, 1);
        ck_assert_uint_eq(info.lost, with ? 0 : 1);
        ck_assert_uint_eq(s.rebuilds, with ? 1 : 0);
        ck_assert_uint_eq(s.lost, with ? 0 : 1);
        ck_assert_uint_eq(s.count, before.count);
        ck_assert_uint_eq(count_maybe(g, 0, n), n);
        maybe = count_maybe(g, n, n);
        ck_assert_uint_gt(maybe, with ? n / 200 : n / 2);
        ck_assert_uint_lt(maybe, with ? n / 90 : n / 9 * 5);
        filter_free(f);
        filter_free(g);
        forget_all(r);
    }
}
