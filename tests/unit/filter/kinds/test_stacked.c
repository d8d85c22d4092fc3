/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "filter/kind.h"
#include "filter/sizing.h"
#include "tests/unit/filter/image.h"
#include "tests/unit/unit.h"

static struct filter *stacked_of(uint64_t expect, double fpr, double growth,
                                 double tightening)
{
    struct filter_options o = {.kind = "stacked",
                               .expect = expect,
                               .fpr = fpr,
                               .growth = growth,
                               .tightening = tightening};
    struct filter *f = NULL;

    ck_ok(filter_new(&f, &o));
    return f;
}

FIXTURE(use_a_file, drop_the_file);

/* Almeida et al. 2007, section 2: P <= sum of p0 r^i < p0 / (1 - r) = p. */
TEST(the_compounded_rate_stays_below_the_promise)
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

        ck_ok(add_range(f, 0, n));
        ck_assert_uint_eq(count_maybe(f, 0, n), n);
        measured = (double)count_maybe(f, n, asked) / (double)asked;
        ck_assert_double_le(measured, 0.0103); /* 3 sigma */
        filter_stats(f, &s);
        ck_assert_double_eq_tol(s.fpr_predicted / measured, 1, 0.1);
        filter_free(f);
    }
}

TEST(random_batches_agree_with_a_plain_table)
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
        ck_ok(filter_add(f, keys, n, fresh));
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

TEST(at_its_memory_share_it_stops_growing_and_says_so)
{
    struct filter_options o = {.kind = "stacked",
                               .expect = 1000,
                               .fpr = 0.001,
                               .most_bytes = 100000};
    struct filter *f = NULL;
    struct filter_stats s;

    ck_ok(filter_new(&f, &o));
    ck_assert_int_eq(add_range(f, 0, 200000), STATUS_LIMIT);
    filter_stats(f, &s);
    ck_assert(s.reduced && s.overfull);
    ck_assert_uint_le(s.bits / 8, 100000);
    ck_assert_uint_eq(count_maybe(f, 0, 200000), 200000);
    filter_free(f);
}

TEST(filters_of_one_plan_merge)
{
    struct filter *a = stacked_of(1000, 0.01, 2, 0.5);
    struct filter *b = stacked_of(1000, 0.01, 2, 0.5);
    struct filter *other = stacked_of(1000, 0.01, 3, 0.5);

    ck_ok(add_range(a, 0, 3000));
    ck_ok(add_range(b, 2000, 20000));
    (void)!filter_merge(a, b);
    ck_assert_uint_eq(count_maybe(a, 0, 22000), 22000);
    ck_assert_int_eq(filter_merge(a, other), STATUS_ARG);
    filter_free(a);
    filter_free(b);
    filter_free(other);
}

TEST(without_memory_for_a_layer_no_key_is_lost)
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
static struct filter_stats stats_of(const struct filter *f)
{
    struct filter_stats s;

    filter_stats(f, &s);
    return s;
}

static uint64_t units_of(const struct filter *f)
{
    uint64_t shape[FILTER_SHAPE];

    return f->ops->shape(f, shape);
}

/* Returns how many layers there are, and how many keys each holds. */
static uint64_t layers_of(struct filter *f, uint64_t counts[64])
{
    uint64_t shape[FILTER_SHAPE], meta[FILTER_META], n = 0;
    uint64_t units = f->ops->shape(f, shape);
    struct buf b;

    buf_init(&b, 1 << 30);
    for (uint64_t i = 0; i < units; i++) {
        ck_ok(f->ops->get_unit(f, i, &b, meta));
        if (n == 0 || meta[0] != counts[n - 1])
            counts[n++] = meta[0];
    }
    buf_fini(&b);
    ck_assert_uint_eq(n, shape[0]);
    return n;
}

/* Almeida et al. 2007, section 3: layer i holds n0 * s^i keys, whatever the
 * sizes of batches. */
TEST(each_layer_is_filled_to_its_size_and_no_further)
{
    static const double growths[] = {2, 4};

    for (int g = 0; g < 2; g++) {
        struct filter *f = stacked_of(1000, 0.001, growths[g], 0.5);
        uint64_t counts[64], added = 0, layers, sum = 0;
        double size = 1000;

        for (uint64_t i = 0; added < 100000; i++) {
            uint64_t n = nth_key(i) % 700 + 1;

            ck_ok(add_range(f, added, n));
            added += n;
        }
        layers = layers_of(f, counts);
        ck_assert_uint_eq(layers, g == 0 ? 7 : 5);
        for (uint64_t i = 0; i + 1 < layers; i++, size *= growths[g]) {
            ck_assert_double_ge((double)counts[i], size);
            ck_assert_double_le((double)counts[i], size * 1.01 + 64);
            sum += counts[i];
        }
        ck_assert_uint_eq(stats_of(f).count, sum + counts[layers - 1]);
        ck_assert_uint_le(stats_of(f).count, added);
        ck_assert_uint_ge(stats_of(f).count, added - added / 500);
        ck_assert_uint_eq(stats_of(f).segments, units_of(f));
        filter_free(f);
    }
}

TEST(merging_takes_as_many_layers_as_the_larger_has)
{
    struct filter *a = stacked_of(1000, 0.01, 2, 0.5);
    struct filter *b = stacked_of(1000, 0.01, 2, 0.5);
    static const struct filter_options others[] = {
        {.kind = "stacked", .expect = 1001, .fpr = 0.01},
        {.kind = "stacked", .expect = 1000, .fpr = 0.0101},
        {.kind = "stacked", .expect = 1000, .fpr = 0.01, .growth = 2.1},
        {.kind = "stacked", .expect = 1000, .fpr = 0.01, .tightening = 0.51},
    };

    ck_ok(add_range(a, 0, 900));
    ck_ok(add_range(b, 0, 20000));
    ck_ok(filter_merge(a, b));
    ck_assert_uint_eq(stats_of(a).bits, stats_of(b).bits);
    ck_assert_uint_eq(stats_of(a).segments, stats_of(b).segments);
    ck_assert_double_eq_tol((double)stats_of(a).count /
                                (double)stats_of(b).count,
                            1, 0.05);
    ck_ok(add_range(a, 20000, 20000));
    ck_assert_uint_eq(count_maybe(a, 0, 40000), 40000);
    ck_assert_uint_lt(count_maybe(a, 40000, 10000), 150);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct filter *f = NULL;

        ck_ok(filter_new(&f, &others[i]));
        ck_assert_msg(filter_merge(b, f) == STATUS_ARG, "%zu", i);
        filter_free(f);
    }
    filter_free(a);
    filter_free(b);
}

TEST(the_last_layer_takes_what_is_left_of_the_share)
{
    struct filter_options o = {.kind = "stacked",
                               .expect = 1000,
                               .fpr = 0.001,
                               .most_bytes = 64};
    struct filter *f = NULL, *whole = stacked_of(1000, 0.001, 2, 0.5);
    uint64_t first = stats_of(whole).bits / 8;

    ck_ok(filter_new(&f, &o)); /* one block */
    ck_assert(stats_of(f).reduced);
    ck_assert_uint_eq(stats_of(f).bits, 512);
    filter_free(f);
    f = NULL;
    o.most_bytes = 63;
    ck_assert_int_eq(filter_new(&f, &o), STATUS_LIMIT);
    ck_assert_ptr_null(f);
    o.most_bytes = first;
    ck_ok(filter_new(&f, &o));
    ck_assert(!stats_of(f).reduced);
    ck_ok(add_range(f, 0, 900));
    ck_assert_int_eq(add_range(f, 900, 500), STATUS_LIMIT);
    ck_assert_uint_eq(stats_of(f).bits / 8, first);
    filter_free(f);
    o.most_bytes = first + 64 * 5 + 1;
    ck_ok(filter_new(&f, &o));
    ck_assert_int_eq(add_range(f, 0, 3000), STATUS_LIMIT);
    ck_assert_uint_eq(stats_of(f).bits / 8, first + 64 * 5);
    ck_assert(stats_of(f).reduced);
    ck_assert_uint_eq(count_maybe(f, 0, 3000), 3000);
    filter_free(f);
    filter_free(whole);
}

/* ---- files ---------------------------------------------------------------*/

TEST(all_layers_come_back_and_go_on_growing)
{
    struct filter *f = stacked_of(1000, 0.01, 2, 0.5), *g;
    struct filter_stats before, after;
    uint64_t counts[64], again[64], n;

    ck_ok(add_range(f, 0, 200000));
    g = reloaded(f, NULL);
    before = stats_of(f);
    after = stats_of(g);
    ck_assert_uint_gt(before.segments, 8);
    ck_assert_uint_eq(after.count, before.count);
    ck_assert_uint_eq(after.bits, before.bits);
    ck_assert_uint_eq(after.segments, before.segments);
    ck_assert_double_eq(after.fill, before.fill);
    ck_assert_double_eq(after.fpr_predicted, before.fpr_predicted);
    ck_assert(!after.reduced);
    n = layers_of(f, counts);
    ck_assert_uint_eq(layers_of(g, again), n);
    ck_assert_mem_eq(counts, again, n * sizeof *counts);
    ck_assert_uint_eq(count_maybe(g, 200000, 50000),
                      count_maybe(f, 200000, 50000));
    ck_ok(add_range(g, 200000, 200000));
    ck_ok(add_range(f, 200000, 200000));
    ck_assert_uint_eq(stats_of(g).count, stats_of(f).count);
    ck_assert_uint_eq(stats_of(g).bits, stats_of(f).bits);
    ck_assert_uint_eq(count_maybe(g, 0, 400000), 400000);
    filter_free(f);
    filter_free(g);
}

/* A unit of the last layer, which has several. */
TEST(a_damaged_unit_is_mended_from_keys_or_says_maybe)
{
    for (int with = 0; with < 2; with++) {
        struct remembered *r = xcalloc(1, sizeof *r);
        struct filter *f = stacked_of(1000, 0.01, 2, 0.5), *g = NULL;
        struct checkpoint_info info;
        struct filter_stats s;
        uint64_t size;

        ck_ok(add_range(f, 0, 200000));
        remember_range(r, 0, 200000);
        ck_ok(checkpoint_save(path, f, &id));
        ck_ok(checkpoint_peek(path, &info));
        ck_ok(file_size(path, &size));
        ck_assert_uint_eq(info.bytes, size);
        /* in the last whole unit, before the directory and the header */
        flip(8 * (size - 256 - info.units * 64 - 2 * 65536));
        ck_ok(load(&g, with ? r : NULL, &info));
        s = stats_of(g);
        ck_assert_uint_eq(info.damaged, 1);
        ck_assert_uint_eq(info.lost, with ? 0 : 1);
        ck_assert_uint_eq(s.rebuilds, with ? 1 : 0);
        ck_assert_uint_eq(s.lost, with ? 0 : 1);
        ck_assert_uint_eq(count_maybe(g, 0, 200000), 200000);
        if (with)
            ck_assert_uint_lt(count_maybe(g, 200000, 50000), 600);
        else
            ck_assert_uint_gt(count_maybe(g, 200000, 50000), 3000);
        ck_assert(s.overfull != (with == 1));
        filter_free(f);
        filter_free(g);
        forget_all(r);
    }
}

TEST(shapes_that_lie_are_refused)
{
    static const struct {
        size_t at;
        uint64_t value;
    } lies[] = {{128, 0},          {128, 65}, {128, 6}, {128, 8},
                {128, UINT64_MAX}, {136, 0},  {192, 1}};
    struct filter *f = stacked_of(1000, 0.01, 2, 0.5), *g = NULL;

    ck_ok(add_range(f, 0, 100000)); /* seven layers */
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        ck_ok(checkpoint_save(path, f, &id));
        forge(lies[i].at, &lies[i].value, 8);
        ck_assert_msg(load(&g, NULL, NULL) == STATUS_FORMAT, "lie %zu", i);
        ck_assert_ptr_null(g);
    }
    filter_free(f);
}
