/* SPDX-License-Identifier: MIT */

#include "filter/sizing.h"
#include "tests/unit/filter/image.h"
#include "tests/unit/unit.h"

static struct filter *counting_of(uint64_t expect, double fpr)
{
    struct filter_options o = {.kind = "counting",
                               .expect = expect,
                               .fpr = fpr,
                               .keep_nothing = true};
    struct filter *f = NULL;

    ck_ok(filter_new(&f, &o));
    return f;
}

static struct filter *keeping(uint64_t expect, double fpr)
{
    struct filter_options o = {.kind = "counting",
                               .expect = expect,
                               .fpr = fpr};
    struct filter *f = NULL;

    ck_ok(filter_new(&f, &o));
    return f;
}

TEST(keeps_every_key_and_its_promised_rate)
{
    static const double rates[] = {0.1, 1e-2, 1e-3, 1e-4};
    const uint64_t n = FEWER(200000), asked = FEWER(1000000);

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct filter *f = counting_of(n, rates[i]);
        struct sizing_interval w;

        ck_ok(add_range(f, 0, n));
        ck_assert_uint_eq(count_maybe(f, 0, n), n);
        w = sizing_wilson(count_maybe(f, n, asked), asked, 3.5);
        ck_assert_msg(w.low <= 1.05 * rates[i], "p=%g: at least %g", rates[i],
                      w.low);
        filter_free(f);
    }
}

/* Compares random adds and removals with a count for each key. */
TEST(random_adds_and_removals_never_lose_a_key_that_is_in)
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
            ck_ok(filter_remove(f, &key, 1, &done));
            ck_assert(done);
            in[name]--;
            held--;
        } else if (in[name] < 2) {
            ck_ok(filter_add(f, &key, 1, &done));
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

TEST(what_was_added_and_removed_leaves_it_empty)
{
    struct filter *f = counting_of(10000, 0.001);
    struct filter_stats s;

    ck_ok(add_range(f, 0, 10000));
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t key = nth_key(i);

        ck_ok(filter_remove(f, &key, 1, NULL));
    }
    filter_stats(f, &s);
    ck_assert_uint_eq(s.count, 0);
    ck_assert_double_eq(s.fill, 0);
    filter_free(f);
}

/* After sixteen adds of one key, the exact count is lost. */
TEST(full_counters_stick)
{
    struct filter *f = counting_of(1000, 0.001);
    uint64_t key = nth_key(1);
    struct filter_stats s;

    for (int i = 0; i < 16; i++)
        ck_ok(filter_add(f, &key, 1, NULL));
    for (int i = 0; i < 20; i++)
        ck_ok(filter_remove(f, &key, 1, NULL));
    ck_assert(filter_check_one(f, key));
    filter_stats(f, &s);
    ck_assert_uint_ge(s.stuck, 7);
    filter_free(f);
}

TEST(a_key_that_surely_is_not_there_is_left_alone)
{
    struct filter *f = counting_of(1000, 0.001);
    uint64_t key = nth_key(1), absent = nth_key(2);
    bool removed;

    ck_ok(filter_add(f, &key, 1, NULL));
    ck_ok(filter_remove(f, &absent, 1, &removed));
    ck_assert(!removed);
    ck_assert(filter_check_one(f, key));
    filter_free(f);
}

TEST(past_its_capacity_it_says_so)
{
    struct filter *f = counting_of(1000, 0.01);

    ck_assert_int_eq(add_range(f, 0, 2000), STATUS_LIMIT);
    ck_assert_uint_eq(count_maybe(f, 0, 2000), 2000);
    filter_free(f);
}

static void add_times(struct filter *f, uint64_t key, int times)
{
    for (int i = 0; i < times; i++)
        ck_ok(filter_add(f, &key, 1, NULL));
}

/* Returns how often the key could be removed. */
static int remove_all(struct filter *f, uint64_t key)
{
    bool removed = true;
    int n = 0;

    for (; n < 100; n++) {
        ck_ok(filter_remove(f, &key, 1, &removed));
        if (!removed)
            break;
    }
    return n;
}

static uint64_t stuck_in(const struct filter *f)
{
    struct filter_stats s;

    filter_stats(f, &s);
    return s.stuck;
}

FIXTURE(use_a_file, drop_the_file);

TEST(what_sticks_is_known_after_merging_and_loading)
{
    struct filter *a = counting_of(1000, 0.001), *b = counting_of(1000, 0.001);
    struct filter_stats s;
    struct filter *c;

    add_times(a, nth_key(1), 7);
    add_times(b, nth_key(1), 7);
    add_times(a, nth_key(2), 10);
    add_times(b, nth_key(2), 10);
    add_times(b, nth_key(3), 20);
    ck_ok(filter_merge(a, b));
    filter_stats(a, &s);
    ck_assert_uint_eq(s.count, 54);
    ck_assert_uint_eq(s.stuck, 2 * s.k);
    c = reloaded(a, NULL);
    ck_assert_uint_eq(stuck_in(c), s.stuck);
    for (int i = 0; i < 2; i++) {
        struct filter *f = i == 0 ? a : c;

        ck_assert_int_eq(remove_all(f, nth_key(1)), 14);
        ck_assert_int_eq(remove_all(f, nth_key(2)), 100);
        ck_assert_int_eq(remove_all(f, nth_key(3)), 100);
        filter_free(f);
    }
    filter_free(b);
}

FIXTURE(NULL, NULL);

/* Promise (Seen check and store): filters that keep their keys remove only
 * what was added; without them a key added n times takes n removals. See
 * also
 * `cuckoo/with_its_own_keys_it_is_exact_about_what_is_added_and_removed`,
 * `cuckoo/random_copies_agree_with_a_plain_count`, `tests/cli/filter.sh`. */
/* Of 10,000 absent keys some look present, and what they would take away is
 * others'. */
TEST(with_its_own_keys_it_removes_no_key_that_was_never_added)
{
    struct filter *f = keeping(5000, 0.05), *without = counting_of(5000, 0.05);
    struct filter_stats s;

    ck_ok(add_range(f, 0, 5000));
    ck_ok(add_range(f, 0, 5000)); /* counted once */
    ck_ok(add_range(without, 0, 5000));
    for (uint64_t i = 5000; i < 15000; i++) {
        uint64_t key = nth_key(i);
        bool removed;

        ck_ok(filter_remove(f, &key, 1, &removed));
        ck_assert(!removed);
        ck_ok(filter_remove(without, &key, 1, NULL));
    }
    ck_assert_uint_lt(count_maybe(without, 0, 5000), 5000); /* it matters */
    ck_assert_uint_eq(count_maybe(f, 0, 5000), 5000);
    filter_stats(f, &s);
    ck_assert_uint_eq(s.count, 5000);
    ck_assert_uint_ge(s.key_bits, 5000 * 64);
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t key = nth_key(i);
        bool removed;

        ck_ok(filter_remove(f, &key, 1, &removed));
        ck_assert(removed);
        ck_assert_uint_eq(count_maybe(f, i + 1, i % 500 == 0 ? 4999 - i : 0),
                          i % 500 == 0 ? 4999 - i : 0);
    }
    filter_stats(f, &s);
    ck_assert_uint_eq(s.count, 0);
    ck_assert_double_eq(s.fill, 0);
    filter_free(f);
    filter_free(without);
}

FIXTURE(use_a_file, drop_the_file);

TEST(its_own_keys_come_back_with_it_and_mend_it)
{
    struct filter *f = keeping(100000, 0.01), *g = NULL;
    struct checkpoint_info info;
    struct filter_stats s;

    ck_ok(add_range(f, 0, 100000));
    ck_ok(checkpoint_save(path, f, &id));
    flip(8 * (300 + (uint64_t)65536));
    ck_ok(load(&g, NULL, &info));
    ck_assert_uint_eq(info.damaged, 1);
    ck_assert_uint_eq(info.lost, 0);
    filter_stats(g, &s);
    ck_assert_uint_eq(s.rebuilds, 1);
    ck_assert_uint_eq(s.lost, 0);
    ck_ok(add_range(g, 0, 100000)); /* all known */
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t key = nth_key(i);
        bool removed;

        ck_ok(filter_remove(g, &key, 1, &removed));
        ck_assert(removed == (i < 100000));
    }
    filter_stats(g, &s);
    ck_assert_uint_eq(s.count, 0);
    ck_assert_double_eq(s.fill, 0);
    filter_free(f);
    filter_free(g);
}

FIXTURE(NULL, NULL);

TEST(merging_takes_stored_keys_of_any_size)
{
    struct filter *a = keeping(5000, 0.01), *b = keeping(9000, 0.01);
    struct filter *without = counting_of(5000, 0.01);
    struct filter *stricter = keeping(5000, 0.001);
    struct filter_stats s;

    ck_ok(add_range(a, 0, 1000));
    ck_ok(add_range(b, 500, 1000));
    ck_ok(filter_merge(a, b));
    filter_stats(a, &s);
    ck_assert_uint_eq(s.count, 1500);
    ck_assert_uint_eq(count_maybe(a, 0, 1500), 1500);
    ck_ok(filter_merge(without, b));
    ck_assert_uint_eq(count_maybe(without, 500, 1000), 1000);
    ck_assert_int_eq(filter_merge(a, without), STATUS_ARG); /* keys unknown */
    ck_assert_int_eq(filter_merge(a, stricter), STATUS_ARG);
    filter_free(a);
    filter_free(b);
    filter_free(without);
    filter_free(stricter);
}

FIXTURE(use_a_file, drop_the_file);

TEST(a_unit_that_cannot_be_mended_is_maybe_and_shows_in_the_rate)
{
    const uint64_t n = 100000;
    struct filter *f = counting_of(n, 0.01), *g = NULL;
    struct checkpoint_info info;
    struct filter_stats s;
    double maybe;

    ck_ok(add_range(f, 0, n));
    ck_ok(checkpoint_save(path, f, &id));
    flip(8 * 300);
    ck_ok(load(&g, NULL, &info));
    ck_assert_uint_eq(info.lost, 1);
    filter_stats(g, &s);
    ck_assert_uint_eq(s.lost, 1);
    ck_assert_uint_eq(s.rebuilds, 0);
    ck_assert_uint_eq(s.segments, info.units);
    ck_assert_uint_eq(count_maybe(g, 0, n), n);
    maybe = (double)count_maybe(g, n, 100000) / 100000;
    ck_assert_double_eq_tol(maybe, 1.0 / (double)s.segments, 0.05);
    ck_assert_double_eq_tol(s.fpr_predicted, maybe, 0.02);
    ck_assert(s.overfull);
    filter_free(f);
    filter_free(g);
}
