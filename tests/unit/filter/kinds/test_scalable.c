/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "filter/checkpoint.h"
#include "filter/sizing.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/unit.h"

static struct filter *scalable_of(uint64_t expect, double fpr,
                                  struct remembered *r)
{
    struct filter_options o = {.expect = expect, .fpr = fpr};
    struct filter *f = NULL;

    if (r != NULL)
        o.source = source_of(r);
    ck_ok(filter_new(&f, &o));
    return f;
}

/* `make` exports LONG even if it is not set, as an empty string. */
static bool is_long(void)
{
    const char *text = getenv("LONG");

    return text != NULL && text[0] != '\0';
}

TIMEOUT(is_long() ? 1800 : 120);

/* Promise (Seen check and store): a scalable filter grows and keeps its rate at
 * every size. See also `make check-long`,
 * `scalable/random_batches_agree_with_a_plain_table`. */
/* 4M keys here; 134M with LONG=1. The upper bound of the measured rate stays
 * under the promise at every power of two, and no key is ever lost. */
TEST(the_promise_holds_at_every_power_of_two)
{
    uint64_t last = is_long() ? 27 : FEWER(8) == 8 ? 22 : 18;
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f = scalable_of(100000, 0.001, r);
    uint64_t n = 0;
    struct filter_stats s;

    for (uint64_t power = 10; power <= last; power++) {
        uint64_t until = UINT64_C(1) << power;
        /* In smaller filters, segments of one to four blocks miss their promise
         * by far. */
        uint64_t asked = power < 19 ? 100000 : 1000000;
        struct sizing_interval w;

        remember_range(r, n, until - n);
        ck_ok(add_range(f, n, until - n));
        n = until;
        w = sizing_wilson(count_maybe(f, UINT64_C(1) << 40, asked), asked,
                          SIZING_Z95);
        ck_assert_msg(w.high <= 0.001, "2^%" PRIu64 ": up to %g", power,
                      w.high);
        filter_stats(f, &s);
        ck_assert_uint_le(s.count, n);
        ck_assert_double_ge((double)s.count, 0.999 * (double)n);
    }
    ck_assert_uint_eq(count_maybe(f, 0, n), n);
    if (n >= UINT64_C(1) << 22)
        ck_assert_double_le((double)s.bits / (double)n, 17.8);
    ck_assert(!s.overfull && !s.reduced && s.starved == 0);
    filter_free(f);
    forget_all(r);
}

TEST(other_promises_hold_too)
{
    static const double rates[] = {0.25, 0.05, 1e-2, 1e-4, 1e-5};
    const uint64_t n = FEWER(700000), asked = FEWER(1000000);

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct filter *f = scalable_of(1000, rates[i], NULL);
        struct filter_stats s;
        double hits;

        ck_ok(add_range(f, 0, n));
        ck_assert_uint_eq(count_maybe(f, 0, n), n);
        hits = (double)count_maybe(f, n, asked);
        filter_stats(f, &s);
        ck_assert_double_le(s.fpr_predicted, rates[i]);
        ck_assert_double_le(hits, rates[i] * (double)asked +
                                      3 * sqrt(rates[i] * (double)asked));
        filter_free(f);
    }
}

/* Compares random batches, with duplicates, with a plain table. */
TEST(random_batches_agree_with_a_plain_table)
{
    enum { UNIVERSE = 200000 };
    static bool added[UNIVERSE];
    struct filter *f = scalable_of(1, 0.01, NULL);
    uint64_t random = 1;

    for (int round = 0; round < 3000; round++) {
        uint64_t keys[200], names[200];
        bool fresh[200], maybe[200];
        size_t n = (size_t)(nth_key(random++) % 200) + 1;

        for (size_t i = 0; i < n; i++) {
            names[i] = nth_key(random++) % UNIVERSE;
            keys[i] = nth_key(names[i]);
        }
        if (round % 3 == 0) {
            filter_check(f, keys, n, maybe);
            for (size_t i = 0; i < n; i++)
                ck_assert(maybe[i] || !added[names[i]]);
            continue;
        }
        ck_ok(filter_add(f, keys, n, fresh));
        for (size_t i = 0; i < n; i++) {
            ck_assert(!fresh[i] || !added[names[i]]);
            added[names[i]] = true;
        }
    }
    filter_free(f);
}

TEST(a_stream_of_duplicates_neither_grows_it_nor_its_keys)
{
    struct filter *f = scalable_of(1, 0.001, NULL);
    struct filter_stats before, after;

    ck_ok(add_range(f, 0, 200000));
    filter_stats(f, &before);
    for (int i = 0; i < 20; i++)
        ck_ok(add_range(f, 0, 200000));
    filter_stats(f, &after);
    ck_assert_uint_eq(after.bits, before.bits);
    ck_assert_uint_le(after.key_bits, before.key_bits * 3 / 2);
    filter_free(f);
}

TEST(without_keys_it_goes_on_overfull_and_recovers)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f = scalable_of(1, 0.001, r);
    struct filter_stats s;

    r->fail = STATUS_IO;
    remember_range(r, 0, 400000);
    ck_assert_int_eq(add_range(f, 0, 400000), STATUS_LIMIT);
    ck_assert_uint_eq(count_maybe(f, 0, 400000), 400000);
    filter_stats(f, &s);
    ck_assert(s.overfull && s.starved > 0);
    ck_assert_uint_lt(r->asked, 4096 * 40); /* not once for each key */
    r->fail = STATUS_OK;
    remember_range(r, 400000, 400000);
    (void)!add_range(f, 400000, 400000);
    filter_stats(f, &s);
    ck_assert(!s.overfull);
    ck_assert_uint_eq(s.starved, 0);
    ck_assert_uint_eq(count_maybe(f, 0, 800000), 800000);
    filter_free(f);
    forget_all(r);
}

/* A source that forgot keys would make the filter call them new. */
TEST(a_source_that_lost_keys_is_not_believed)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f = scalable_of(1, 0.001, r);

    for (uint64_t i = 0; i < 300000; i += 500) {
        for (uint64_t j = i; j < i + 500; j++)
            if (nth_key(j) % 2 != 0)
                remember(r, nth_key(j));
        (void)!add_range(f, i, 500);
    }
    ck_assert_int_eq(add_range(f, 0, 1), STATUS_LIMIT);
    ck_assert_uint_eq(count_maybe(f, 0, 300000), 300000);
    filter_free(f);
    forget_all(r);
}

TEST(it_never_takes_more_than_its_share_of_memory)
{
    const uint64_t most = 1 << 20;
    struct filter_options o = {.expect = 1000, .fpr = 1e-3, .most_bytes = most};
    struct filter *f = NULL;
    struct filter_stats s;
    enum status st;
    double measured;

    ck_ok(filter_new(&f, &o));
    for (uint64_t n = 0; n < 2000000; n += 100000) {
        st = add_range(f, n, 100000);
        filter_stats(f, &s);
        ck_assert_uint_le(s.bits / 8, most + 4096 * 16);
        ck_assert((st == STATUS_LIMIT) == s.reduced);
    }
    ck_assert(s.reduced && s.overfull);
    ck_assert_uint_eq(count_maybe(f, 0, 2000000), 2000000);
    measured = (double)count_maybe(f, 3000000, 100000) / 100000;
    ck_assert_double_eq_tol(s.fpr_predicted / measured, 1, 0.1);
    /* 4.4 bits a key: it would be 31 % with the eight marks it started with. */
    ck_assert_double_le(measured, 0.2);
    filter_free(f);
}

TEST(merging_adds_the_other_ones_kept_keys)
{
    struct filter *a = scalable_of(1, 0.001, NULL);
    struct filter *b = scalable_of(1, 0.001, NULL);
    struct filter_stats s;

    ck_ok(add_range(a, 0, 300000));
    ck_ok(add_range(b, 200000, 300000));
    ck_ok(filter_merge(a, b));
    ck_assert_uint_eq(count_maybe(a, 0, 500000), 500000);
    filter_stats(a, &s);
    ck_assert_double_eq_tol((double)s.count, 500000, 1000);
    filter_free(a);
    filter_free(b);
}

static struct filter *without_keys(uint64_t expect, double fpr)
{
    const struct filter_options o = {.expect = expect,
                                     .fpr = fpr,
                                     .keep_nothing = true};
    struct filter *f = NULL;

    ck_ok(filter_new(&f, &o));
    return f;
}

TEST(without_keys_segments_of_one_size_are_laid_over_each_other)
{
    struct filter *a = without_keys(1000000, 0.001);
    struct filter *b = without_keys(1000000, 0.001);
    struct filter *larger = without_keys(2000000, 0.001);
    struct filter *other = without_keys(1000000, 0.01);
    struct filter *keeps = scalable_of(1000000, 0.001, NULL);
    struct filter_stats s;

    ck_ok(add_range(a, 0, 300000));
    ck_ok(add_range(b, 200000, 300000));
    ck_assert_int_eq(filter_merge(a, larger), STATUS_ARG);
    ck_assert_int_eq(filter_merge(a, other), STATUS_ARG);
    ck_assert_int_eq(filter_merge(keeps, b), STATUS_ARG);
    ck_assert_uint_lt(count_maybe(a, 300000, 200000), 400);
    ck_ok(filter_merge(a, b));
    ck_assert_uint_eq(count_maybe(a, 0, 500000), 500000);
    ck_assert_uint_lt(count_maybe(a, 500000, 200000), 400);
    filter_stats(a, &s);
    ck_assert_double_eq_tol((double)s.count, 500000, 3000);
    filter_free(a);
    filter_free(b);
    filter_free(larger);
    filter_free(other);
    filter_free(keeps);
}

/* Makes each allocation fail once: no key is lost, and the filter goes on. */
TEST(memory_that_fails_costs_bits_never_keys)
{
    struct filter_options o = {.expect = 1, .fpr = 0.001};
    struct filter *f = NULL;

    for (uint64_t nth = 1; f == NULL; nth++) {
        enum status st;

        mem_fail_after(nth);
        st = filter_new(&f, &o);
        mem_fail_after(0);
        ck_assert((st == STATUS_OK) == (f != NULL));
        ck_assert_uint_lt(nth, 100);
    }
    for (uint64_t n = 0; n < 400000; n += 1000) {
        mem_fail_after(n / 1000 % 50 + 1);
        (void)!add_range(f, n, 1000);
        mem_fail_after(0);
    }
    ck_assert_uint_eq(count_maybe(f, 0, 400000), 400000);
    filter_free(f);
}

struct saving {
    struct filter *filter;
    atomic_uint_fast64_t covers; /* holds keys 0 .. covers - 1 */
    atomic_bool stop;
    char dir[64], path[80];
};

static void *save_again_and_again(void *arg)
{
    struct saving *s = arg;

    do {
        struct checkpoint_id id = {.covers = atomic_load(&s->covers)};

        ck_ok(checkpoint_save(s->path, s->filter, &id));
    } while (!atomic_load(&s->stop));
    return NULL;
}

/* Under ThreadSanitizer, this also shows that there is no data race. */
static void grow_while_it_is_saved(struct remembered *r)
{
    struct saving s = {.filter = scalable_of(1, 0.001, r)};
    const uint64_t n = FEWER(600000);
    struct checkpoint_info info;
    struct filter *image = NULL;
    pthread_t thread;

    snprintf(s.dir, sizeof s.dir, "/tmp/urlweir-scalable-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(s.dir));
    snprintf(s.path, sizeof s.path, "%s/image", s.dir);
    ck_assert_int_eq(pthread_create(&thread, NULL, save_again_and_again, &s),
                     0);
    for (uint64_t i = 0; i < n; i += 1000) {
        if (r != NULL)
            remember_range(r, i, 1000);
        ck_ok(add_range(s.filter, i, 1000));
        atomic_store(&s.covers, i + 1000);
    }
    atomic_store(&s.stop, true);
    pthread_join(thread, NULL);
    ck_ok(checkpoint_load(&image, s.path, 0, NULL, 0, &info));
    ck_assert_uint_eq(info.damaged, 0);
    ck_assert_uint_eq(count_maybe(image, 0, info.id.covers), info.id.covers);
    unlink(s.path);
    rmdir(s.dir);
    filter_free(image);
    filter_free(s.filter);
}

TEST(an_image_taken_while_it_grows_has_all_it_covers)
{
    struct remembered *r = xcalloc(1, sizeof *r);

    grow_while_it_is_saved(r);
    forget_all(r);
}
