/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "filter/kinds/buckets.h"
#include "filter/sizing.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/unit.h"

/* Returns a filter of fixed size, without a key source unless `r` is given. */
static struct filter *cuckoo_of(uint64_t expect, unsigned bits,
                                struct remembered *r)
{
    struct filter_options o = {.kind = "cuckoo",
                               .expect = expect,
                               .fpr = 0.1,
                               .fingerprint_bits = bits,
                               .keep_nothing = true};
    struct filter *f = NULL;

    if (r != NULL)
        o.source = source_of(r);
    ck_ok(filter_new(&f, &o));
    return f;
}

static struct filter_stats stats_of(const struct filter *f)
{
    struct filter_stats s;

    filter_stats(f, &s);
    return s;
}

/* One of fixed size, with buckets of so many slots. */
static struct filter *table_of(uint64_t expect, unsigned bits, unsigned slots)
{
    struct filter_options o = {.kind = "cuckoo",
                               .expect = expect,
                               .fpr = 0.5,
                               .fingerprint_bits = bits,
                               .bucket_slots = slots,
                               .keep_nothing = true};
    struct filter *f = NULL;

    ck_ok(filter_new(&f, &o));
    return f;
}

/* Any number of buckets will do: none has to be a power of two. */
TEST(fills_95_percent_of_its_slots_at_any_size)
{
    static const uint64_t sizes[] = {1000, 1023, 4097, 30000, 77777, 500000};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct filter *f = cuckoo_of(sizes[i], 16, NULL);
        struct filter_stats s;

        ck_assert_msg(add_range(f, 0, sizes[i]) == STATUS_OK, "%" PRIu64,
                      sizes[i]);
        ck_assert_uint_eq(count_maybe(f, 0, sizes[i]), sizes[i]);
        filter_stats(f, &s);
        ck_assert_double_ge(s.fill, 0.945);
        if (sizes[i] >= 30000)
            ck_assert_double_le((double)s.bits / (double)sizes[i], 17.0);
        filter_free(f);
    }
}

TEST(each_fingerprint_length_has_its_rate)
{
    static const unsigned bits[] = {8, 12, 16, 32};
    const uint64_t n = FEWER(400000), asked = FEWER(2000000);

    for (size_t i = 0; i < 4; i++) {
        struct filter *f = cuckoo_of(n, bits[i], NULL);
        double want = sizing_cuckoo_rate(bits[i], 4, 0.95);
        struct sizing_interval w;

        ck_ok(add_range(f, 0, n));
        ck_assert_uint_eq(count_maybe(f, 0, n), n);
        w = sizing_wilson(count_maybe(f, n, asked), asked, 4);
        ck_assert_msg(w.low <= want && want <= w.high, "%u bits: %g, %g to %g",
                      bits[i], want, w.low, w.high);
        filter_free(f);
    }
}

/* Promise (Seen check and store): buckets of 1, 2, 4 and 8 slots fill to 50,
 * 84, 95 and 98 %, at their rates. See also
 * `cuckoo_file/counted_copies_and_each_bucket_size_come_back`. */
/* The loads that go with buckets of 1, 2, 4 and 8, and their rates. */
TEST(each_bucket_size_has_its_load_and_its_rate)
{
    static const unsigned slots[] = {1, 2, 4, 8};
    static const double load[] = {0.5, 0.84, 0.95, 0.98};
    const uint64_t n = FEWER(400000), asked = FEWER(4000000);

    for (size_t i = 0; i < 4; i++) {
        struct filter *f = table_of(n, 16, slots[i]);
        double want = sizing_cuckoo_rate(16, slots[i], load[i]);
        struct sizing_interval w;

        ck_assert_msg(add_range(f, 0, n) == STATUS_OK, "%u slots", slots[i]);
        ck_assert_uint_eq(count_maybe(f, 0, n), n);
        ck_assert_double_eq_tol(stats_of(f).fill, load[i], 0.001);
        ck_assert_double_eq_tol((double)stats_of(f).bits / (double)n,
                                16 / load[i], 0.01);
        w = sizing_wilson(count_maybe(f, n, asked), asked, 4);
        ck_assert_msg(w.low <= want && want <= w.high, "%u slots: %g, %g to %g",
                      slots[i], want, w.low, w.high);
        filter_free(f);
    }
}

/* Shorter ones would leave more keys without a place than can be listed. */
TEST(ours_buckets_of_one_slot_need_fingerprints_as_long_as_their_keys_are_many)
{
    static const struct {
        uint64_t keys;
        unsigned least;
    } t[] = {{65535, 8}, {65536, 12}, {(1 << 20) - 1, 12}, {1 << 20, 16}};
    static const unsigned bits[] = {8, 12, 16};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct filter_options o = {.kind = "cuckoo",
                                   .expect = t[i].keys,
                                   .fpr = 0.1,
                                   .bucket_slots = 1,
                                   .keep_nothing = true};
        struct filter *f = NULL;

        ck_ok(filter_new(&f, &o));
        ck_assert_uint_eq(stats_of(f).k, t[i].least);
        ck_ok(add_range(f, 0, t[i].keys));
        ck_assert_double_lt(stats_of(f).fpr_predicted, 0.1);
        filter_free(f);
        for (size_t b = 0; b < 3; b++) {
            o.fingerprint_bits = bits[b];
            f = NULL;
            ck_assert_int_eq(filter_new(&f, &o),
                             bits[b] < t[i].least ? STATUS_ARG : STATUS_OK);
            filter_free(f);
        }
    }
}

TEST(the_other_bucket_leads_back)
{
    for (uint64_t m = 1; m < 70; m++) {
        struct buckets b;

        ck_ok(buckets_init(&b, m, 12, 4));
        for (uint64_t i = 0; i < 100; i++) {
            struct bucket_place p = buckets_place(&b, nth_key(i));

            ck_assert_uint_lt(p.first, m);
            ck_assert_uint_lt(p.second, m);
            ck_assert_uint_ne(p.print, 0);
            ck_assert(buckets_put(&b, &p));
            ck_assert(buckets_have(&b, &p));
            ck_assert(buckets_remove(&b, &p));
            ck_assert(!buckets_have(&b, &p));
        }
        ck_assert_uint_eq(b.taken, 0);
        buckets_fini(&b);
    }
}

/* Each key at most once, as the exact set behind the filter ensures. */
TEST(random_adds_and_removals_never_lose_a_key_that_is_in)
{
    enum { UNIVERSE = 8000 };
    static const unsigned bits[] = {8, 12, 16, 32};

    for (int b = 0; b < 4; b++) {
        static bool in[UNIVERSE];
        struct filter *f = cuckoo_of(UNIVERSE / 2, bits[b], NULL);
        uint64_t held = 0;

        memset(in, 0, sizeof in);
        for (uint64_t i = 0; i < 200000; i++) {
            uint64_t name = nth_key(i) % UNIVERSE, key = nth_key(name);
            bool done;

            if (in[name]) {
                ck_ok(filter_remove(f, &key, 1, &done));
                /* A key that sticks stays and is reported as such. */
                in[name] = !done;
                held -= done;
            } else if (held < UNIVERSE / 2) {
                ck_ok(filter_add(f, &key, 1, &done));
                in[name] = true;
                held++;
            }
            if (i % 40000 == 0)
                for (uint64_t n = 0; n < UNIVERSE; n++)
                    ck_assert(!in[n] || filter_check_one(f, nth_key(n)));
        }
        filter_free(f);
    }
}

/* Compares random adds and removals of a few keys with a count for each. */
TEST(random_copies_agree_with_a_plain_count)
{
    enum { UNIVERSE = 40 };
    static int in[UNIVERSE];
    struct filter *f = table_of(300, 32, 2);
    uint64_t held = 0;

    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t name = nth_key(i) % UNIVERSE, key = nth_key(name);
        bool done, up = (nth_key(i) >> 40) % 100 < (i / 2000 % 2 ? 65 : 35);

        if (up) {
            ck_ok(filter_add(f, &key, 1, &done));
            ck_assert(done == (in[name] == 0));
            in[name]++;
            held++;
        } else {
            ck_ok(filter_remove(f, &key, 1, &done));
            ck_assert(done == (in[name] > 0));
            in[name] -= done;
            held -= done;
        }
    }
    for (uint64_t n = 0; n < UNIVERSE; n++)
        ck_assert(filter_check_one(f, nth_key(n)) == (in[n] > 0));
    ck_assert_uint_eq(stats_of(f).count, held);
    filter_free(f);
}

TEST(past_its_capacity_it_says_so_and_keeps_every_key)
{
    struct filter *f = cuckoo_of(1000, 16, NULL);
    struct filter_stats s;

    ck_assert_int_eq(add_range(f, 0, 3000), STATUS_LIMIT);
    ck_assert_uint_eq(count_maybe(f, 0, 3000), 3000);
    filter_stats(f, &s);
    ck_assert(s.overfull);
    filter_free(f);
}

TEST(with_keys_at_hand_it_grows)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f = cuckoo_of(10, 16, r);
    struct filter_stats s;

    for (uint64_t n = 0; n < 300000; n += 1000) {
        remember_range(r, n, 1000);
        ck_ok(add_range(f, n, 1000));
    }
    ck_assert_uint_eq(count_maybe(f, 0, 300000), 300000);
    filter_stats(f, &s);
    ck_assert_uint_ge(s.count, 300000); /* some were both given and added */
    ck_assert_uint_le(s.count, 310000);
    ck_assert_uint_ge(s.rebuilds, 10);
    ck_assert(!s.overfull);
    filter_free(f);
    forget_all(r);
}

/* A key's two buckets hold eight of its fingerprints; the ninth must not be
 * refused, and must not make the table grow again and again for nothing. */
TEST(one_that_grows_does_not_grow_for_repeats_of_one_key)
{
    for (int own = 0; own < 2; own++) {
        struct remembered *r = xcalloc(1, sizeof *r);
        struct filter_options o = {.kind = "cuckoo",
                                   .expect = 1000,
                                   .fpr = 0.001,
                                   .fingerprint_bits = 16};
        uint64_t key = nth_key(0);
        struct filter *f = NULL;
        struct filter_stats before, after;

        if (own == 0)
            o.source = source_of(r);
        ck_ok(filter_new(&f, &o));
        remember_range(r, 0, 900);
        ck_ok(add_range(f, 0, 900));
        filter_stats(f, &before);
        for (int i = 0; i < 20000; i++)
            ck_ok(filter_add(f, &key, 1, NULL));
        filter_stats(f, &after);
        ck_assert_uint_le(after.rebuilds, before.rebuilds + 1);
        ck_assert_uint_le(after.bits, 3 * before.bits);
        ck_assert(!after.overfull);
        ck_assert_uint_eq(count_maybe(f, 0, 900), 900);
        remember_range(r, 900, 20000);
        ck_ok(add_range(f, 900, 20000));
        ck_assert_uint_eq(count_maybe(f, 0, 20900), 20900);
        filter_free(f);
        forget_all(r);
    }
}

TEST(with_its_own_keys_it_is_exact_about_what_is_added_and_removed)
{
    struct filter_options o = {.kind = "cuckoo",
                               .expect = 10,
                               .fpr = 0.05,
                               .fingerprint_bits = 8};
    struct filter *f = NULL;
    struct filter_stats s;
    uint64_t absent = 0;

    ck_ok(filter_new(&f, &o));
    for (int twice = 0; twice < 2; twice++)
        ck_ok(add_range(f, 0, 50000));
    filter_stats(f, &s);
    ck_assert_uint_eq(s.count, 50000);
    for (uint64_t i = 50000; i < 60000; i++) {
        uint64_t key = nth_key(i);
        bool removed;

        absent += filter_check_one(f, key);
        ck_ok(filter_remove(f, &key, 1, &removed));
        ck_assert(!removed);
    }
    ck_assert_uint_gt(absent, 100); /* so many would have hurt another key */
    ck_assert_uint_eq(count_maybe(f, 0, 50000), 50000);
    filter_free(f);
}

TEST(without_keys_or_memory_it_goes_on_as_it_is)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f = cuckoo_of(1000, 16, r);

    r->fail = STATUS_IO;
    remember_range(r, 0, 1050);
    ck_assert_int_eq(add_range(f, 0, 1050), STATUS_LIMIT);
    ck_assert_uint_eq(count_maybe(f, 0, 1050), 1050);
    filter_free(f);
    r->fail = STATUS_OK;
    f = cuckoo_of(1000, 16, r);
    mem_fail_after(1);
    (void)!add_range(f, 0, 1050);
    mem_fail_after(0);
    ck_assert_uint_eq(count_maybe(f, 0, 1050), 1050);
    filter_free(f);
    forget_all(r);
}

/* When its buckets are full, the filter keeps a few fingerprints beside the
 * table. */
TEST(keys_beside_a_full_table_are_removed_as_well)
{
    enum { KEYS = 1065 };
    struct filter *f = cuckoo_of(1000, 32, NULL);
    struct filter_stats s;
    bool removed[KEYS];
    uint64_t keys[KEYS];

    ck_assert_int_eq(add_range(f, 0, KEYS), STATUS_LIMIT);
    filter_stats(f, &s);
    ck_assert_double_lt(s.fpr_predicted, 1);
    for (uint64_t i = 0; i < KEYS; i++)
        keys[i] = nth_key(i);
    ck_ok(filter_remove(f, keys, KEYS, removed));
    for (size_t i = 0; i < KEYS; i++)
        ck_assert_msg(removed[i], "%zu", i);
    ck_assert_uint_eq(count_maybe(f, 0, KEYS), 0);
    filter_stats(f, &s);
    ck_assert_uint_eq(s.count, 0);
    ck_assert_double_eq(s.fill, 0);
    filter_free(f);
}

TEST(merging_brings_the_keys_beside_a_full_table_along)
{
    struct filter *a = cuckoo_of(1000, 32, NULL);
    struct filter *b = cuckoo_of(1000, 32, NULL);
    struct filter_stats s;

    ck_assert_int_eq(add_range(b, 0, 1065), STATUS_LIMIT);
    (void)!filter_merge(a, b);
    filter_stats(a, &s);
    ck_assert_uint_eq(s.count, 1065);
    ck_assert_uint_eq(count_maybe(a, 0, 1065), 1065);
    ck_assert_uint_lt(count_maybe(a, 1065, 1000), 10);
    filter_free(a);
    filter_free(b);
}

TEST(the_fingerprint_is_the_shortest_that_keeps_the_rate)
{
    static const struct {
        double fpr;
        unsigned bits;
    } t[] = {{0.5, 8},      {0.0295, 8},   {0.0293, 12},  {0.00186, 12},
             {0.00185, 16}, {1.17e-4, 16}, {1.15e-4, 32}, {2e-9, 32}};
    struct filter_options o = {.kind = "cuckoo", .expect = 100, .fpr = 1e-9};
    struct filter *f = NULL;

    ck_assert_int_eq(filter_new(&f, &o), STATUS_ARG);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        o.fpr = t[i].fpr;
        ck_ok(filter_new(&f, &o));
        ck_assert_msg(stats_of(f).k == t[i].bits, "%g: %u", t[i].fpr,
                      stats_of(f).k);
        filter_free(f);
    }
}

/* As many copies as fill one bucket, or half of the only one. */
TEST(ours_copies_beyond_one_bucket_are_counted_beside_the_table)
{
    struct bucket_place p = {.second = 1};
    struct filter *f = table_of(1000, 16, 4);
    uint64_t bits = stats_of(f).bits, n = 0, key = nth_key(0);
    struct buckets b;

    for (int i = 0; i < 5; i++) {
        ck_assert_uint_eq(stats_of(f).bits, bits);
        ck_ok(filter_add(f, &key, 1, NULL));
    }
    ck_assert_double_eq(stats_of(f).fill, 4.0 / (264 * 4));
    ck_assert_uint_gt(stats_of(f).bits, bits);
    ck_assert_uint_eq(stats_of(f).stuck, 0);
    ck_assert_uint_eq(stats_of(f).count, 5);
    /* 1000 keys at 3.8 a bucket */
    ck_ok(buckets_init(&b, 264, 16, 4));
    ck_assert_uint_eq(buckets_bytes(&b) * 8, bits);
    while (p.first != p.second)
        p = buckets_place(&b, nth_key(n++));
    buckets_fini(&b);
    key = nth_key(n - 1);
    for (int i = 0; i < 5; i++)
        ck_ok(filter_add(f, &key, 1, NULL));
    ck_assert_double_eq(stats_of(f).fill, 6.0 / (264 * 4));
    filter_free(f);
}

/* The crawl adds a batch to the filter before the store has it. */
TEST(keys_of_the_running_batch_survive_a_rebuild)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f = cuckoo_of(10, 16, r);
    static uint64_t keys[5000];

    for (uint64_t at = 0; at < 50000; at += 5000) {
        for (uint64_t i = 0; i < 5000; i++)
            keys[i] = nth_key(at + i);
        ck_ok(filter_add(f, keys, 5000, NULL));
        remember_range(r, at, 5000);
        ck_assert_uint_eq(count_maybe(f, 0, at + 5000), at + 5000);
        ck_assert_uint_le(stats_of(f).count, at + 5000 + at / 100);
    }
    ck_assert_uint_lt(count_maybe(f, 50000, 50000), 50);
    filter_free(f);
    forget_all(r);
}

/* Each new table is half as large again. */
TEST(it_grows_by_half_each_time_and_has_room_then)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f = cuckoo_of(1000, 16, r);
    uint64_t bits = stats_of(f).bits, rebuilds = 0;

    for (uint64_t n = 0; n < 100000; n += 100) {
        struct filter_stats s;

        remember_range(r, n, 100);
        ck_ok(add_range(f, n, 100));
        s = stats_of(f);
        ck_assert_double_le(s.fill, 0.9501);
        ck_assert_uint_eq(s.starved, 0);
        if (s.rebuilds == rebuilds)
            continue;
        ck_assert_uint_eq(s.rebuilds, rebuilds + 1);
        ck_assert_double_eq_tol((double)s.bits / (double)bits, 1.5, 0.01);
        ck_assert_double_ge(s.fill, 0.6);
        bits = s.bits;
        rebuilds = s.rebuilds;
    }
    ck_assert_uint_ge(rebuilds, 11);
    ck_assert_uint_eq(stats_of(f).capacity, 0);
    filter_free(f);
    forget_all(r);
}

TEST(it_never_takes_more_than_its_share_of_memory)
{
    struct filter_options o = {.kind = "cuckoo",
                               .expect = 1000,
                               .fpr = 0.01,
                               .fingerprint_bits = 16,
                               .most_bytes = 20000};
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f = NULL;
    struct filter_stats s;

    o.source = source_of(r);
    ck_ok(filter_new(&f, &o));
    ck_assert(!stats_of(f).reduced);
    for (uint64_t n = 0; n < 9000; n += 100) {
        ck_ok(add_range(f, n, 100));
        ck_assert_uint_le(stats_of(f).bits, 20000 * 8);
        remember_range(r, n, 100);
    }
    ck_assert_int_eq(add_range(f, 9000, 2000), STATUS_LIMIT);
    s = stats_of(f);
    ck_assert(s.reduced);
    ck_assert_uint_eq(s.bits, 20000 * 8);
    ck_assert_uint_eq(s.starved, 0); /* for lack of neither keys nor memory */
    ck_assert_uint_eq(count_maybe(f, 0, 11000), 11000);
    filter_free(f);
    forget_all(r);

    /* From the start: 1000 keys would take 264 buckets of 8 octets. */
    o = (struct filter_options){.kind = "cuckoo",
                                .expect = 1000,
                                .fpr = 0.01,
                                .fingerprint_bits = 16,
                                .most_bytes = 264 * 8};
    ck_ok(filter_new(&f, &o));
    ck_assert(!stats_of(f).reduced);
    filter_free(f);
    o.most_bytes--;
    ck_ok(filter_new(&f, &o));
    ck_assert(stats_of(f).reduced);
    ck_assert_uint_eq(stats_of(f).bits, 263 * 64);
    filter_free(f);
    o.most_bytes = 64; /* eight buckets, the least */
    ck_ok(filter_new(&f, &o));
    filter_free(f);
    f = NULL;
    o.most_bytes = 63;
    ck_assert_int_eq(filter_new(&f, &o), STATUS_LIMIT);
    ck_assert_ptr_null(f);
}

TEST(merging_takes_stored_keys_or_tables_with_all_they_hold)
{
    struct filter_options o = {.kind = "cuckoo", .expect = 1000, .fpr = 0.1};
    struct filter *keeps = NULL, *f = cuckoo_of(1000, 8, NULL), *g;
    uint64_t key = nth_key(0);
    bool removed;

    ck_ok(filter_new(&keeps, &o));
    ck_ok(add_range(keeps, 0, 500));
    ck_ok(filter_merge(f, keeps));
    ck_assert_uint_eq(stats_of(f).count, 500);
    ck_assert_uint_eq(count_maybe(f, 0, 500), 500);
    ck_assert_int_eq(filter_merge(keeps, f), STATUS_ARG); /* keys unknown */
    ck_ok(add_range(keeps, 500, 1000));
    ck_assert_int_eq(filter_merge(f, keeps), STATUS_LIMIT);
    ck_assert_uint_eq(count_maybe(f, 0, 1500), 1500);
    filter_free(f);
    o.fpr = 0.2;
    filter_free(keeps);
    ck_ok(filter_new(&keeps, &o));
    f = cuckoo_of(1000, 8, NULL);
    ck_assert_int_eq(filter_merge(f, keeps), STATUS_ARG); /* another rate */
    filter_free(keeps);
    g = cuckoo_of(1000, 12, NULL);
    ck_assert_int_eq(filter_merge(f, g), STATUS_ARG);
    filter_free(g);

    /* Copies add up, and a flood covers both. */
    g = cuckoo_of(1000, 8, NULL);
    for (int i = 0; i < 7; i++) {
        ck_ok(filter_add(g, &key, 1, NULL));
        ck_ok(filter_add(f, &key, 1, NULL));
    }
    ck_ok(filter_merge(f, g));
    ck_assert_uint_eq(stats_of(f).count, 14);
    for (int i = 0; i < 14; i++) {
        ck_assert(filter_check_one(f, key));
        ck_ok(filter_remove(f, &key, 1, &removed));
        ck_assert(removed);
    }
    ck_assert(!filter_check_one(f, key));
    ck_assert_int_eq(add_range(g, 1, 3000), STATUS_LIMIT);
    ck_assert_double_eq(stats_of(g).fpr_predicted, 1);
    ck_assert_int_eq(filter_merge(f, g), STATUS_LIMIT);
    ck_assert_double_eq(stats_of(f).fpr_predicted, 1);
    ck_assert_uint_eq(count_maybe(f, 0, 10000), 10000);
    filter_free(f);
    filter_free(g);
}

/* ---- the table -----------------------------------------------------------*/

/* What has no place is one of those that were in, and all others stay. */
TEST(a_full_table_gives_one_fingerprint_back_and_loses_none)
{
    struct bucket_place left[16];
    struct buckets b;
    unsigned homeless = 0;

    ck_ok(buckets_init(&b, 16, 32, 4));
    for (uint64_t n = 0; n < 80; n++) {
        struct bucket_place p = buckets_place(&b, nth_key(n));

        if (!buckets_put(&b, &p))
            left[homeless++] = p;
    }
    ck_assert_uint_eq(b.taken, 64);
    ck_assert_uint_eq(homeless, 16);
    for (uint64_t n = 0; n < 80; n++) {
        struct bucket_place p = buckets_place(&b, nth_key(n));
        unsigned found = buckets_copies(&b, &p);

        for (unsigned i = 0; i < homeless; i++)
            found += left[i].print == p.print &&
                     (left[i].first == p.first || left[i].first == p.second) &&
                     left[i].first + left[i].second == p.first + p.second;
        ck_assert_uint_eq(found, 1);
    }
    buckets_fini(&b);
}
