/* SPDX-License-Identifier: MIT */
/* test_aged.c - filters that forget: what is kept, for how long, in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/checkpoint.h"
#include "filter/kind.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/unit.h"

#define T0  INT64_C(1800000000)
#define TTL 1000

static struct filter *make(const char *kind, unsigned generations)
{
    const struct filter_options o = {.kind = kind,
                                     .expect = 2000,
                                     .fpr = 0.001,
                                     .ttl_s = TTL,
                                     .generations = generations,
                                     .born_s = T0};
    struct filter *f;

    ck_ok(filter_new(&f, &o));
    return f;
}

static size_t add(struct filter *f, int64_t now, uint64_t first, size_t n)
{
    size_t fresh = 0;

    ck_ok(filter_age(f, now));
    for (size_t i = 0; i < n; i++) {
        uint64_t key = nth_key(first + i);
        bool is_new;

        ck_ok(filter_add_lenient(f, &key, 1, &is_new));
        fresh += is_new;
    }
    return fresh;
}

static size_t maybes(struct filter *f, int64_t now, uint64_t first, size_t n)
{
    size_t got = 0;

    ck_ok(filter_age(f, now));
    for (size_t i = 0; i < n; i++)
        got += filter_check_one(f, nth_key(first + i));
    return got;
}

/* For each kind and number of generations, keys added at each tenth of the time
 * to live: all are there until it is over, and none after the last moment. */
TEST(a_key_is_kept_for_its_time_and_not_much_longer)
{
    for (size_t k = 0; filter_kind(k) != NULL; k++)
        for (unsigned n = 1; n <= FILTER_GENERATIONS_MOST; n++) {
            struct filter *f = make(filter_kind(k)->name, n);

            for (uint64_t t = 0; t < 30; t++) {
                int64_t now = T0 + (int64_t)t * TTL / 10;

                ck_assert_uint_ge(add(f, now, t * 100, 100), 98);
                for (uint64_t old = 0; old <= t; old++) {
                    uint64_t age = (t - old) * TTL / 10;
                    size_t there = maybes(f, now, old * 100, 100);

                    if (age < TTL)
                        ck_assert_uint_eq(there, 100);
                    else if (age > TTL + TTL / n)
                        ck_assert_uint_le(there, 4);
                }
            }
            filter_free(f);
        }
}

TEST(the_time_to_live_can_be_changed)
{
    struct filter *f = make("cuckoo", 2), *plain;
    const struct filter_options o = {.expect = 100, .fpr = 0.01};

    (void)add(f, T0, 0, 100);
    ck_ok(filter_set_ttl(f, 10 * TTL));
    ck_assert_uint_eq(maybes(f, T0 + 9 * TTL, 0, 100), 100);
    ck_ok(filter_set_ttl(f, TTL));
    ck_assert_uint_eq(maybes(f, T0 + 9 * TTL, 0, 100), 0);
    ck_assert_int_eq(filter_set_ttl(f, 0), STATUS_ARG);
    ck_ok(filter_new(&plain, &o));
    ck_assert_int_eq(filter_set_ttl(plain, TTL), STATUS_ARG);
    ck_ok(filter_age(plain, T0));
    filter_free(plain);
    filter_free(f);
}

/* After the time was made longer, keys of many short generations are kept; a
 * new one begins only when there is room for it, in a file too. */
TEST(a_longer_time_keeps_all_that_is_there)
{
    for (unsigned n = 1; n <= FILTER_GENERATIONS_MOST; n++) {
        struct checkpoint_id id = {.seed_print = 1};
        struct checkpoint_info info;
        struct filter *f = make("cuckoo", n), *read;
        char path[] = "/tmp/urlweir-aged.XXXXXX";
        int64_t now = T0;

        close(mkstemp(path));
        for (uint64_t t = 0; t < n + 1; t++, now += TTL / n)
            (void)add(f, now, t * 100, 100);
        now -= TTL / n;
        ck_ok(filter_set_ttl(f, 100 * TTL));
        for (uint64_t t = n + 1; t < 8; t++) {
            now += 12 * TTL;
            (void)add(f, now, t * 100, 100);
            ck_assert_uint_eq(maybes(f, now, 100, 100 * t), 100 * t);
            ck_ok(checkpoint_save(path, f, &id));
            ck_ok(checkpoint_load(&read, path, 1, NULL, 0, &info));
            ck_assert_uint_eq(maybes(read, now, 100, 100 * t), 100 * t);
            filter_free(read);
        }
        unlink(path);
        filter_free(f);
    }
}

TEST(the_promised_rate_holds_over_all_generations)
{
    struct filter *f = make("bloom", 4);
    struct filter_stats s;
    size_t wrong;

    for (int64_t t = 0; t < 5; t++)
        (void)add(f, T0 + t * TTL / 4, (uint64_t)t * 500, 500);
    wrong = maybes(f, T0 + TTL, 1000000, 100000);
    ck_assert_uint_le(wrong, 150);
    filter_stats(f, &s);
    ck_assert_str_eq(s.kind, "bloom");
    ck_assert_int_eq(s.ttl_s, TTL);
    ck_assert_double_le(s.fpr_predicted, 0.0011);
    filter_free(f);
}

static void flip(const char *path, long at)
{
    FILE *f = fopen(path, "r+");
    int c;

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    c = fgetc(f);
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    fputc(c ^ 1, f);
    fclose(f);
}

TEST(a_file_has_all_generations_and_their_times)
{
    const struct checkpoint_id id = {.seed_print = 7};
    char path[64];

    for (size_t k = 0; filter_kind(k) != NULL; k++) {
        struct filter *f = make(filter_kind(k)->name, 2), *read;
        struct checkpoint_info info;

        snprintf(path, sizeof path, "/tmp/urlweir-aged.%d", (int)getpid());
        (void)add(f, T0, 0, 500);
        (void)add(f, T0 + TTL / 2, 500, 500);
        ck_ok(checkpoint_save(path, f, &id));
        filter_free(f);
        ck_ok(checkpoint_load(&read, path, 7, NULL, 0, &info));
        ck_assert_uint_eq(info.damaged, 0);
        ck_assert_str_eq(filter_options(read)->kind, filter_kind(k)->name);
        ck_assert_uint_eq(maybes(read, T0 + TTL - 1, 0, 1000), 1000);
        ck_assert_uint_eq(maybes(read, T0 + TTL + TTL / 2 - 1, 500, 500), 500);
        ck_assert_uint_le(maybes(read, T0 + TTL + TTL / 2, 0, 500), 5);
        ck_assert_uint_ge(add(read, T0 + 2 * TTL, 5000, 100), 99);
        filter_free(read);
        /* One flipped bit in the head of the newest: no key is lost. */
        flip(path, 256);
        ck_ok(checkpoint_load(&read, path, 7, NULL, 0, &info));
        ck_assert_uint_gt(info.lost, 0);
        ck_assert_uint_eq(maybes(read, T0 + TTL - 1, 0, 1000), 1000);
        ck_ok(filter_age(read, T0 + 3 * TTL));
        ck_assert_uint_le(maybes(read, T0 + 3 * TTL, 0, 1000), 5);
        filter_free(read);
        unlink(path);
    }
}

TEST(options_that_cannot_be_are_refused)
{
    const struct filter_options wrong[] = {
        {.kind = "aged", .expect = 10, .fpr = 0.01, .ttl_s = 10},
        {.kind = "aged", .expect = 10, .fpr = 0.01},
        {.kind = "redis", .expect = 10, .fpr = 0.01, .ttl_s = 10},
        {.expect = 10, .fpr = 0.01, .ttl_s = -1},
        {.expect = 10, .fpr = 0.01, .ttl_s = FILTER_TTL_MOST + 1},
        {.expect = 10, .fpr = 0.01, .ttl_s = 9, .generations = 5},
    };
    struct filter *f;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(filter_new(&f, &wrong[i]) == STATUS_ARG, "%zu", i);
}

/* Calls come when they come; generations begin at whole steps. */
TEST(a_generation_begins_at_its_time_and_only_one)
{
    struct filter *f = make("cuckoo", 4);

    (void)add(f, T0, 0, 10);
    (void)add(f, T0 + TTL / 4 + 100, 10, 10);
    for (int64_t now = T0 + TTL / 4 + 101; now < T0 + TTL / 2; now += 10)
        (void)add(f, now, 20, 1);
    /* all four have been begun by then if each call began one */
    (void)add(f, T0 + TTL - 1, 30, 10);
    ck_assert_uint_eq(maybes(f, T0 + TTL + TTL / 2 + 101, 10, 10), 0);
    ck_assert_uint_eq(maybes(f, T0 + 2 * TTL - 2, 30, 10), 10);
    ck_assert_uint_eq(maybes(f, T0 + 2 * TTL + TTL / 4, 30, 10), 0);
    filter_free(f);
}
