/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "filter/block.h"
#include "filter/slab.h"
#include "tests/unit/filter/keys.h"

enum { RUNS = 500 };

static void mark(struct slab_run *r, uint64_t with)
{
    for (size_t i = 0; i < (size_t)r->blocks * BLOCK_LANES; i++)
        r->at[i] = with + i;
}

static void check_mark(const struct slab_run *r, uint64_t with)
{
    for (size_t i = 0; i < (size_t)r->blocks * BLOCK_LANES; i++)
        if (r->at[i] != with + i)
            ck_abort_msg("a run changed");
}

/* As in a growing filter: each run in turn grows by an eighth. */
START_TEST(runs_that_grow_keep_their_content_and_little_is_wasted)
{
    static struct slab_run runs[RUNS];
    struct slab s;

    slab_init(&s, 0);
    for (size_t i = 0; i < RUNS; i++) {
        ck_assert_int_eq(slab_take(&s, 40, &runs[i]), STATUS_OK);
        mark(&runs[i], i << 32);
    }
    for (uint64_t step = 0; step < RUNS * 30; step++) {
        size_t i = nth_key(step) % RUNS;
        struct slab_run more;

        if (runs[i].blocks > 1000)
            continue;
        ck_assert_int_eq(slab_take(&s, runs[i].blocks + runs[i].blocks / 8,
                                   &more),
                         STATUS_OK);
        for (size_t j = 0; j < (size_t)more.blocks * BLOCK_LANES; j++)
            if (more.at[j] != 0)
                ck_abort_msg("a new run is not empty");
        slab_give(&s, &runs[i]);
        runs[i] = more;
        mark(&runs[i], i << 32);
        slab_tidy(&s, runs, RUNS);
    }
    for (size_t i = 0; i < RUNS; i++)
        check_mark(&runs[i], i << 32);
    /* With 500 runs, the ends of chunks matter more than with 4096. */
    ck_assert_double_le((double)s.total, 1.15 * (double)s.live);
    slab_fini(&s);
}
END_TEST

START_TEST(it_never_holds_more_than_allowed)
{
    static struct slab_run runs[RUNS];
    enum status st = STATUS_OK;
    struct slab s;
    size_t n = 0;

    slab_init(&s, 5000);
    while (n < RUNS && (st = slab_take(&s, 50, &runs[n])) == STATUS_OK) {
        n++;
        ck_assert_uint_le(s.total, 5000);
    }
    ck_assert_int_eq(st, STATUS_LIMIT);
    ck_assert_uint_ge(n, 70);
    slab_fini(&s);
}
END_TEST

START_TEST(memory_that_fails_changes_nothing)
{
    struct slab_run a, b;
    struct slab s;

    slab_init(&s, 0);
    mem_fail_after(1);
    ck_assert_int_eq(slab_take(&s, 10, &a), STATUS_NOMEM);
    mem_fail_after(2);
    ck_assert_int_eq(slab_take(&s, 10, &a), STATUS_NOMEM);
    mem_fail_after(0);
    ck_assert_int_eq(slab_take(&s, 10, &a), STATUS_OK);
    ck_assert_int_eq(slab_take(&s, 100000, &b), STATUS_OK);
    ck_assert_uint_eq((uintptr_t)b.at % BLOCK_BYTES, 0);
    slab_give(&s, &a);
    slab_give(&s, &b);
    ck_assert_uint_eq(s.live, 0);
    slab_fini(&s);
}
END_TEST

Suite *suite_slab(void)
{
    Suite *s = suite_create("slab");
    TCase *t = tcase_create("slab");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, runs_that_grow_keep_their_content_and_little_is_wasted);
    tcase_add_test(t, it_never_holds_more_than_allowed);
    tcase_add_test(t, memory_that_fails_changes_nothing);
    suite_add_tcase(s, t);
    return s;
}
