/* SPDX-License-Identifier: MIT */
/*
 * test_hot_cache.c - the hot cache while it grows and shrinks.
 *
 * The suite seen tests what it keeps and what it evicts at one size.
 */
#include "frontier/seen/hot_cache.h"

#include "base/mem.h"

#include "tests/unit/storage/scratch.h"

#define ROOM  ((uint64_t)4 << 20)
#define FEW   ((uint64_t)40) /* no five of them share one of 64 sets */
#define MANY  ((uint64_t)200000)
#define LEAST ((uint64_t)64 * sizeof(struct hot_set))

static uint64_t known(struct hot_cache *c, uint64_t first, uint64_t last)
{
    uint64_t n = 0;

    for (uint64_t i = first; i <= last; i++)
        n += hot_cache_has(c, scratch_digest(i));
    return n;
}

START_TEST(what_fits_is_kept_through_any_change_of_size)
{
    uint64_t state = 7;
    struct hot_cache c;

    ck_assert_int_eq(hot_cache_init(&c, ROOM), STATUS_OK);
    hot_cache_resize(&c, 0);
    SAME(hot_cache_memory(&c), LEAST);
    for (uint64_t i = 1; i <= FEW; i++)
        hot_cache_add(&c, scratch_digest(i));
    for (int round = 0; round < 200; round++) {
        hot_cache_resize(&c, scratch_below(&state, ROOM + ROOM / 4));
        ck_assert_uint_ge(hot_cache_memory(&c), LEAST);
        ck_assert_uint_le(hot_cache_memory(&c), ROOM);
        SAME(known(&c, 1, FEW), FEW);
        SAME(known(&c, FEW + 1, 2 * FEW), 0);
    }
    hot_cache_fini(&c);
}
END_TEST

START_TEST(a_smaller_one_holds_what_it_has_room_for_and_gives_the_rest_back)
{
    struct hot_cache c;
    uint64_t before;

    ck_assert_int_eq(hot_cache_init(&c, 8 * ROOM), STATUS_OK);
    for (uint64_t i = 1; i <= MANY; i++)
        hot_cache_add(&c, scratch_digest(i));
    SAME(known(&c, 1, MANY) > MANY / 100 * 99, true);
    before = mem_resident();
    hot_cache_resize(&c, ROOM / 8);
    SAME(known(&c, 1, MANY), ROOM / 8 / sizeof(struct digest));
    ck_assert_uint_lt(mem_resident() + 5 * ROOM, before);
    hot_cache_resize(&c, 8 * ROOM); /* what was given back is free */
    SAME(known(&c, 1, MANY), ROOM / 8 / sizeof(struct digest));
    for (uint64_t i = 1; i <= MANY; i++)
        if (!hot_cache_has(&c, scratch_digest(i)))
            hot_cache_add(&c, scratch_digest(i));
    SAME(known(&c, 1, MANY) > MANY / 100 * 99, true);
    hot_cache_fini(&c);
}
END_TEST

Suite *suite_hot_cache(void)
{
    Suite *s = suite_create("hot_cache");
    TCase *t = tcase_create("hot_cache");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, what_fits_is_kept_through_any_change_of_size);
    tcase_add_test(
        t, a_smaller_one_holds_what_it_has_room_for_and_gives_the_rest_back);
    suite_add_tcase(s, t);
    return s;
}
