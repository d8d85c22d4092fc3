/* SPDX-License-Identifier: MIT */
/* test_cuckoo_file.c - a cuckoo filter after a restart is the one before. */
#include "filter/kind.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/unit/asleep.h"
#include "tests/unit/filter/image.h"

static struct filter *cuckoo_of(struct filter_options o)
{
    struct filter *f = NULL;

    o.kind = "cuckoo";
    ck_ok(filter_new(&f, &o));
    return f;
}

/* A table of fixed size. */
static struct filter *small_one(uint64_t expect, unsigned bits)
{
    return cuckoo_of((struct filter_options){.expect = expect,
                                             .fpr = 0.1,
                                             .fingerprint_bits = bits,
                                             .keep_nothing = true});
}

static bool remove_key(struct filter *f, uint64_t key)
{
    bool removed;

    ck_ok(filter_remove(f, &key, 1, &removed));
    return removed;
}

static void add_times(struct filter *f, uint64_t key, int times)
{
    for (int i = 0; i < times; i++)
        ck_ok(filter_add(f, &key, 1, NULL));
}

static struct filter_stats stats_of(const struct filter *f)
{
    struct filter_stats s;

    filter_stats(f, &s);
    return s;
}

FIXTURE(use_a_file, drop_the_file);

/* The table takes one unit, parts of one, and several. */
TEST(tables_of_any_size_and_fingerprint_come_back_whole)
{
    static const unsigned bits[] = {8, 12, 16, 32};
    static const uint64_t sizes[] = {10, 31129, 31131, 200000};

    for (int b = 0; b < 4; b++)
        for (int i = 0; i < 4; i++) {
            struct filter *f = small_one(sizes[i], bits[b]), *g;
            struct filter_stats before, after;

            ck_ok(add_range(f, 0, sizes[i]));
            g = reloaded(f, NULL);
            before = stats_of(f);
            after = stats_of(g);
            ck_assert_uint_eq(after.count, sizes[i]);
            ck_assert_double_eq(after.fill, before.fill);
            ck_assert_uint_eq(after.k, bits[b]);
            ck_assert_uint_eq(after.bits, before.bits);
            ck_assert_uint_eq(after.capacity, before.capacity);
            ck_assert_uint_eq(count_maybe(g, 0, sizes[i]), sizes[i]);
            ck_assert_uint_eq(count_maybe(g, sizes[i], 20000),
                              count_maybe(f, sizes[i], 20000));
            filter_free(f);
            filter_free(g);
        }
}

TEST(keys_of_its_own_come_back_with_it)
{
    struct filter *f =
        cuckoo_of((struct filter_options){.expect = 100, .fpr = 0.05});
    struct filter *g;

    ck_ok(add_range(f, 0, 5000));
    g = reloaded(f, NULL);
    ck_ok(add_range(g, 0, 5000)); /* all known */
    ck_assert_uint_eq(stats_of(g).count, 5000);
    ck_ok(add_range(g, 5000, 20000)); /* it grows */
    ck_assert_uint_eq(count_maybe(g, 0, 25000), 25000);
    for (uint64_t i = 0; i < 25000; i++)
        ck_assert(remove_key(g, nth_key(i)));
    ck_assert_double_eq(stats_of(g).fill, 0);
    filter_free(f);
    filter_free(g);
}

/* The source then takes the place of the stored keys. */
TEST(a_file_with_keys_can_be_read_by_a_caller_that_has_them)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f =
        cuckoo_of((struct filter_options){.expect = 100, .fpr = 0.05});
    struct filter *g;

    ck_ok(add_range(f, 0, 5000));
    remember_range(r, 0, 5000);
    g = reloaded(f, r);
    ck_assert_uint_eq(stats_of(g).key_bits, 0);
    ck_assert_uint_eq(count_maybe(g, 0, 5000), 5000);
    remember_range(r, 5000, 20000);
    ck_ok(add_range(g, 5000, 20000));
    ck_assert_uint_gt(r->asked, 0);
    ck_assert_uint_eq(count_maybe(g, 0, 25000), 25000);
    filter_free(f);
    filter_free(g);
    forget_all(r);
}

static int remove_all(struct filter *f, uint64_t key)
{
    int n = 0;

    while (n < 1000 && remove_key(f, key))
        n++;
    return n;
}

TEST(counted_copies_and_each_bucket_size_come_back)
{
    static const unsigned slots[] = {1, 2, 4, 8}, bits[] = {8, 12, 16, 32};

    for (int i = 0; i < 16; i++) {
        struct filter *f =
            cuckoo_of((struct filter_options){.expect = 1000,
                                              .fpr = 0.5,
                                              .fingerprint_bits = bits[i / 4],
                                              .bucket_slots = slots[i % 4],
                                              .keep_nothing = true});
        struct filter *g;

        add_times(f, nth_key(0), 5);
        add_times(f, nth_key(1), 300);
        add_times(f, nth_key(2), 1);
        g = reloaded(f, NULL);
        ck_assert_uint_eq(stats_of(g).bits, stats_of(f).bits);
        ck_assert_uint_eq(stats_of(g).count, 306);
        ck_assert_uint_eq(filter_options(g)->bucket_slots, slots[i % 4]);
        ck_assert_int_eq(remove_all(g, nth_key(0)), 5);
        ck_assert_int_eq(remove_all(g, nth_key(1)), 300);
        ck_assert_int_eq(remove_all(g, nth_key(2)), 1);
        ck_assert_double_eq(stats_of(g).fill, 0);
        ck_assert_uint_eq(stats_of(g).count, 0);
        filter_free(f);
        filter_free(g);
    }
}

/* One unit of the table is damaged: all of it is built from the keys, once. */
TEST(a_damaged_table_is_built_anew_from_its_keys)
{
    for (int own = 0; own < 2; own++) {
        struct remembered *r = xcalloc(1, sizeof *r);
        struct filter *f = saved("cuckoo", 200000, own ? NULL : r), *g = NULL;
        struct checkpoint_info info;
        struct filter_stats s;

        flip(8 * (300 + (uint64_t)65536));
        flip(8 * (300 + (uint64_t)3 * 65536));
        ck_ok(load(&g, own ? NULL : r, &info));
        ck_assert_uint_eq(info.damaged, 2);
        ck_assert_uint_eq(info.lost, 0);
        s = stats_of(g);
        ck_assert_uint_eq(s.rebuilds, 1);
        ck_assert_uint_eq(s.count, 200000);
        ck_assert_uint_eq(s.lost, 0);
        ck_assert_uint_eq(count_maybe(g, 0, 200000), 200000);
        ck_assert_uint_lt(count_maybe(g, 200000, 10000), 150);
        for (uint64_t i = 0; i < 200000; i++)
            ck_assert(remove_key(g, nth_key(i)));
        ck_assert_double_eq(stats_of(g).fill, 0);
        filter_free(f);
        filter_free(g);
        forget_all(r);
    }
}

TEST(without_keys_a_damaged_table_says_maybe_to_all)
{
    struct filter *f = small_one(100000, 16), *g = NULL;
    struct checkpoint_info info;

    ck_ok(add_range(f, 0, 1000));
    ck_ok(checkpoint_save(path, f, &id));
    flip(8 * 300);
    flip(8 * (300 + (uint64_t)65536));
    ck_ok(load(&g, NULL, &info));
    ck_assert_uint_eq(info.lost, 2);
    ck_assert_uint_eq(stats_of(g).lost, 1);
    ck_assert_uint_eq(stats_of(g).rebuilds, 0);
    ck_assert_uint_eq(count_maybe(g, 0, 10000), 10000);
    filter_free(f);
    filter_free(g);
}

/* Without one part of its keys it answers as before, but does not grow. */
TEST(damaged_keys_cost_growing_and_nothing_else)
{
    struct filter *f = saved("cuckoo", 20000, NULL), *g = NULL;
    uint64_t maybe = count_maybe(f, 20000, 10000);
    struct checkpoint_info info;

    ck_ok(checkpoint_peek(path, &info));
    forge_entry(info.units, info.units - 1, 48, 5);
    ck_ok(load(&g, NULL, &info));
    ck_assert_uint_eq(info.damaged, 1);
    ck_assert_uint_eq(info.lost, 1);
    ck_assert_uint_eq(stats_of(g).lost, 0);
    ck_assert_uint_eq(count_maybe(g, 0, 20000), 20000);
    ck_assert_uint_eq(count_maybe(g, 20000, 10000), maybe);
    ck_assert_int_eq(add_range(g, 20000, 3000), STATUS_LIMIT);
    ck_assert_uint_eq(count_maybe(g, 0, 23000), 23000);
    ck_assert_uint_eq(stats_of(g).starved, 1);
    filter_free(f);
    filter_free(g);
}

/* The true shape: 16,316 buckets of 8 octets, which are two units, no keys. */
TEST(shapes_that_lie_are_refused)
{
    static const struct {
        size_t at;
        uint64_t value;
    } lies[] = {{128, 0},  {128, 1},  {128, 8192}, {128, UINT64_C(1) << 62},
                {136, 0},  {136, 4},  {136, 8},    {136, 9},
                {136, 13}, {136, 32}, {152, 1},    {152, 2},
                {160, 2},  {160, 3},  {160, 8},    {160, UINT64_C(1) << 63}};
    struct filter *f = small_one(62000, 16), *g = NULL;

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        ck_ok(checkpoint_save(path, f, &id));
        forge(lies[i].at, &lies[i].value, 8);
        ck_assert_msg(load(&g, NULL, NULL) == STATUS_FORMAT, "lie %zu", i);
    }
    ck_assert_ptr_null(g);
    filter_free(f);
}

/* ---- saving while it is used ----------------------------------------------*/

struct adding {
    struct filter *filter;
    atomic_int thread; /* 0: not begun */
    atomic_bool done;
    bool remove;
};

static void *add_one_key(void *arg)
{
    struct adding *a = arg;
    uint64_t key = nth_key(a->remove ? 0 : 10000);

    atomic_store(&a->thread, gettid());
    if (a->remove)
        ck_ok(filter_remove(a->filter, &key, 1, NULL));
    else
        ck_ok(filter_add(a->filter, &key, 1, NULL));
    atomic_store(&a->done, true);
    return NULL;
}

TEST(adding_and_removing_wait_for_saving)
{
    for (int i = 0; i < 2; i++) {
        struct adding a = {.filter = small_one(1000, 16), .remove = i == 1};
        pthread_t t;

        ck_ok(add_range(a.filter, 0, 10));
        a.filter->ops->hold(a.filter, true);
        ck_assert_int_eq(pthread_create(&t, NULL, add_one_key, &a), 0);
        while (!is_asleep(atomic_load(&a.thread)) && !atomic_load(&a.done))
            usleep(1000);
        ck_assert(!atomic_load(&a.done));
        ck_assert_uint_eq(stats_of(a.filter).count, 10);
        a.filter->ops->hold(a.filter, false);
        pthread_join(t, NULL);
        ck_assert_uint_eq(stats_of(a.filter).count, i == 0 ? 11 : 9);
        filter_free(a.filter);
    }
}
