/* SPDX-License-Identifier: MIT */
/* test_filter.c - what all kinds of filters promise, and the checks they
 * share. */
#include <string.h>

#include "base/mem.h"
#include "filter/checkpoint.h"
#include "filter/kind.h"
#include "filter/sizing.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/unit.h"

static struct filter *new_of(const char *kind, uint64_t expect, double fpr)
{
    struct filter_options o = {.kind = kind, .expect = expect, .fpr = fpr};
    struct filter *f = NULL;

    ck_ok(filter_new(&f, &o));
    return f;
}

TEST(kinds_have_numbers_and_names)
{
    static const char *const names[] = {"scalable", "bloom", "stacked",
                                        "counting", "cuckoo"};

    for (size_t i = 0; i < 5; i++) {
        ck_assert_str_eq(filter_kind(i)->name, names[i]);
        ck_assert_ptr_eq(filter_kind_named(names[i]), filter_kind(i));
    }
    ck_assert_ptr_null(filter_kind(5));
    ck_assert_ptr_null(filter_kind(6));
    ck_assert_str_eq(filter_kind_named("redis")->name, "redis");
    ck_assert(filter_kind_named("redis")->remote);
    ck_assert_ptr_null(filter_kind_named("sieve"));
    ck_assert_ptr_null(filter_kind_named(""));
}

TEST(what_kinds_say_they_can_do_they_can)
{
    const struct filter_traits *k;

    for (size_t i = 0; (k = filter_kind(i)) != NULL; i++) {
        struct filter *f = new_of(k->name, 1000, 0.01);
        uint64_t key = nth_key(0);
        struct filter_stats s;
        bool removed = false;

        ck_assert(!k->remote);
        ck_ok(add_range(f, 0, 1000));
        ck_assert_int_eq(filter_remove(f, &key, 1, &removed),
                         k->removes ? STATUS_OK : STATUS_ARG);
        ck_assert(removed == k->removes);
        filter_stats(f, &s);
        ck_assert((k->needs_keys || k->removes) == (s.key_bits > 0));
        ck_assert_int_eq(add_range(f, 1000, 30000),
                         k->grows ? STATUS_OK : STATUS_LIMIT);
        filter_stats(f, &s);
        ck_assert(s.overfull != k->grows);
        ck_assert_uint_eq(filter_unsure(f), 0);
        ck_assert_uint_eq(s.unsure, 0);
        filter_free(f);
    }
    filter_free(NULL);
}

TEST(options_have_defaults_and_bounds)
{
    static const struct {
        struct filter_options o;
        enum status want;
    } t[] = {
        {{.expect = 1, .fpr = 0.01}, STATUS_OK},
        {{.expect = 0, .fpr = 0.01}, STATUS_ARG},
        {{.expect = UINT64_C(1) << 40, .fpr = 0.01}, STATUS_OK},
        {{.expect = (UINT64_C(1) << 40) + 1, .fpr = 0.01}, STATUS_ARG},
        {{.expect = 1, .fpr = 1e-9}, STATUS_OK},
        {{.expect = 1, .fpr = 0.99e-9}, STATUS_ARG},
        {{.expect = 1, .fpr = 0.5}, STATUS_OK},
        {{.expect = 1, .fpr = 0.51}, STATUS_ARG},
        {{.kind = "redis", .expect = 1, .fpr = 0.01}, STATUS_OK},
        {{.kind = "sieve", .expect = 1, .fpr = 0.01}, STATUS_ARG},
        {{.expect = 1, .fpr = 0.01, .growth = 1}, STATUS_OK},
        {{.expect = 1, .fpr = 0.01, .growth = 0.99}, STATUS_ARG},
        {{.expect = 1, .fpr = 0.01, .growth = 16}, STATUS_OK},
        {{.expect = 1, .fpr = 0.01, .growth = 16.1}, STATUS_ARG},
        {{.expect = 1, .fpr = 0.01, .tightening = 0.01}, STATUS_OK},
        {{.expect = 1, .fpr = 0.01, .tightening = -0.5}, STATUS_ARG},
        {{.expect = 1, .fpr = 0.01, .tightening = 0.99}, STATUS_OK},
        {{.expect = 1, .fpr = 0.01, .tightening = 1}, STATUS_ARG},
        {{.expect = 1, .fpr = 0.01, .fingerprint_bits = 8}, STATUS_OK},
        {{.expect = 1, .fpr = 0.01, .fingerprint_bits = 12}, STATUS_OK},
        {{.expect = 1, .fpr = 0.01, .fingerprint_bits = 16}, STATUS_OK},
        {{.expect = 1, .fpr = 0.01, .fingerprint_bits = 32}, STATUS_OK},
        {{.expect = 1, .fpr = 0.01, .fingerprint_bits = 4}, STATUS_ARG},
        {{.expect = 1, .fpr = 0.01, .fingerprint_bits = 64}, STATUS_ARG},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct filter_options o = t[i].o;

        ck_assert_msg(filter_complete_options(&o) == t[i].want, "row %zu", i);
        if (t[i].want != STATUS_OK)
            continue;
        ck_assert_str_eq(o.kind,
                         t[i].o.kind != NULL ? t[i].o.kind : "scalable");
        ck_assert_double_eq(o.growth, t[i].o.growth != 0 ? t[i].o.growth : 2);
        ck_assert_double_eq(o.tightening,
                            t[i].o.tightening != 0 ? t[i].o.tightening : 0.5);
    }
}

/* In an empty filter and in one filled to what it was made for. */
TEST(stats_tell_what_is_there)
{
    const uint64_t n = 300000;
    const struct filter_traits *k;

    for (size_t i = 0; (k = filter_kind(i)) != NULL; i++) {
        struct filter *f = new_of(k->name, n, 0.01);
        struct filter_stats s;
        double groups = 0;

        filter_stats(f, &s);
        ck_assert_str_eq(s.kind, k->name);
        ck_assert_uint_eq(s.count, 0);
        ck_assert_double_eq(s.fill, 0);
        ck_assert_double_eq(s.fpr_predicted, 0);
        ck_assert_double_eq(s.fpr_promised, 0.01);
        ck_assert_uint_ge(s.segments, 1);
        ck_assert(s.k >= 4 && s.k % 4 == 0);
        if (k->grows)
            ck_assert_uint_eq(s.capacity, 0);
        else
            ck_assert_msg(s.capacity >= n && s.capacity < n * 102 / 100,
                          "%s: %llu", k->name, (unsigned long long)s.capacity);

        ck_ok(add_range(f, 0, n));
        filter_stats(f, &s);
        ck_assert_msg(s.count <= n && s.count >= n - n / 100, "%s: %llu",
                      k->name, (unsigned long long)s.count);
        ck_assert(s.fill > 0.1 && s.fill < 1);
        ck_assert_msg(s.fpr_predicted > 0.0005 && s.fpr_predicted <= 0.0105,
                      "%s: %g", k->name, s.fpr_predicted);
        ck_assert_msg((double)s.bits > 5 * (double)n &&
                          (double)s.bits < 60 * (double)n,
                      "%s: %llu bits", k->name, (unsigned long long)s.bits);
        if (k->needs_keys)
            ck_assert(s.key_bits >= 64 * n && s.key_bits < 128 * n);
        for (unsigned g = 0; g < s.groups; g++)
            groups += (double)s.group_fill[g] / s.groups;
        ck_assert_double_eq_tol(groups, s.fill, 1e-5);
        ck_assert_uint_eq(s.groups, s.segments == 4096 ? FILTER_GROUPS : 1);
        ck_assert(!s.overfull && !s.reduced);
        ck_assert_uint_eq(s.starved + s.stuck + s.lost, 0);
        filter_free(f);
    }
}

TEST(overfull_is_past_the_promise_by_more_than_chance)
{
    static const struct {
        uint64_t count, capacity;
        double predicted;
        bool past;
    } t[] = {
        {0, 0, 0.0104, false},        {0, 0, 0.0106, true},
        {1000000, 0, 0.01052, false}, {1000000, 0, 0.01054, true},
        {100, 0, 0.0134, false},      {100, 0, 0.0136, true},
        {1000, 1000, 0.001, false},   {1001, 1000, 0.001, true},
        {1001, 0, 0.001, false},      {1, 0, 0.0404, false},
        {1, 0, 0.0406, true},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct filter_stats s = {.count = t[i].count,
                                 .capacity = t[i].capacity,
                                 .fpr_promised = 0.01,
                                 .fpr_predicted = t[i].predicted};

        ck_assert_msg(filter_is_past_promise(&s) == t[i].past, "row %zu", i);
    }
}

TEST(only_filters_of_one_kind_merge_and_none_with_itself)
{
    struct filter *all[5];

    for (size_t i = 0; i < 5; i++)
        all[i] = new_of(filter_kind(i)->name, 1000, 0.01);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) {
            if (i != j)
                ck_assert_int_eq(filter_merge(all[i], all[j]), STATUS_ARG);
            else
                ck_assert_int_eq(filter_merge(all[i], all[i]), STATUS_ARG);
        }
    for (size_t i = 0; i < 5; i++) {
        struct filter *other = new_of(filter_kind(i)->name, 1000, 0.01);

        ck_ok(add_range(other, 0, 900));
        ck_ok(filter_merge(all[i], other));
        ck_assert_uint_eq(count_maybe(all[i], 0, 900), 900);
        ck_assert_uint_lt(count_maybe(all[i], 900, 10000), 200);
        filter_free(other);
        filter_free(all[i]);
    }
}

/* Each key may be fresh once; of those in, all have to be "maybe". In a batch
 * of any length, with and without somewhere to put the answers. */
TEST(batches_of_any_length_agree_with_a_plain_table)
{
    enum { UNIVERSE = 3000 };
    const struct filter_traits *k;

    for (size_t i = 0; (k = filter_kind(i)) != NULL; i++) {
        static bool in[UNIVERSE];
        struct filter *f = new_of(k->name, UNIVERSE, 0.01);
        uint64_t random = 0, lied = 0;

        memset(in, 0, sizeof in);
        for (size_t n = 1; n <= 200; n++) {
            uint64_t keys[200], names[200];
            bool fresh[200], maybe[200], first[200];

            for (size_t j = 0; j < n; j++) {
                names[j] = nth_key(random++) % UNIVERSE;
                keys[j] = nth_key(names[j]);
            }
            for (size_t j = 0; j < n; j++) {
                first[j] = !in[names[j]];
                in[names[j]] = true;
            }
            (void)!filter_add(f, keys, n, n % 3 != 0 ? fresh : NULL);
            for (size_t j = 0; n % 3 != 0 && j < n; j++) {
                ck_assert(!fresh[j] || first[j]);
                lied += first[j] && !fresh[j];
            }
            filter_check(f, keys, n, maybe);
            for (size_t j = 0; j < n; j++)
                ck_assert(maybe[j] && filter_check_one(f, keys[j]));
        }
        ck_assert_msg(lied <= 100, "%s: %llu", k->name,
                      (unsigned long long)lied);
        filter_free(f);
    }
}

/* Promise (Seen check and store): a capacity that does not fit in memory is
 * refused at once, and the other filters of a service go on. See also
 * `filter_shelf/one_too_large_is_refused_and_the_others_go_on`. */
/* A slip of the pen, such as G for M. Without a look at the machine first, the
 * scalable kind touched all memory there was, and the kernel ended somebody. */
TEST(one_that_no_machine_has_memory_for_is_refused_at_once)
{
    uint64_t before = mem_resident();

    for (size_t k = 0; filter_kind(k) != NULL; k++)
        for (int64_t ttl = 0; ttl <= 60; ttl += 60) {
            const struct filter_options o = {.kind = filter_kind(k)->name,
                                             .expect = UINT64_C(1) << 40,
                                             .fpr = 1e-6,
                                             .keep_nothing = true,
                                             .ttl_s = ttl};
            struct filter *f;

            ck_assert_int_eq(filter_new(&f, &o), STATUS_NOMEM);
        }
    ck_assert_uint_lt(mem_resident(), before + (UINT64_C(16) << 20));
}

TEST(memory_that_fails_leaves_nothing_behind)
{
    const struct filter_traits *k;

    for (size_t i = 0; (k = filter_kind(i)) != NULL; i++) {
        struct filter_options o = {.kind = k->name,
                                   .expect = 1000,
                                   .fpr = 0.01};
        struct filter *f = NULL;
        enum status st = STATUS_NOMEM;
        uint64_t nth = 1;

        for (; nth < 100 && st == STATUS_NOMEM; nth++) {
            mem_fail_after(nth);
            st = filter_new(&f, &o);
            mem_fail_after(0);
            ck_assert((st == STATUS_OK) == (f != NULL));
        }
        ck_ok(st);
        ck_assert_uint_ge(nth, 4); /* itself and its bits */
        ck_assert_uint_eq(filter_options(f)->expect, 1000);
        ck_assert_str_eq(filter_options(f)->kind, k->name);
        filter_free(f);
    }
}
