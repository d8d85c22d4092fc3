/* SPDX-License-Identifier: MIT */
/*
 * test_hot_cache.c - the hot cache while it grows and shrinks.
 *
 * The suite seen tests what it keeps and what it evicts at one size.
 */
#include "frontier/seen/seen.h"

#include "base/mem.h"

#include "tests/unit/storage/scratch.h"

#define ROOM ((uint64_t)8 << 20)
#define FEW  ((uint64_t)4000) /* no seven of them share one of 16,384 sets */
#define MANY ((uint64_t)600000)

static uint64_t known(struct hot_cache *c, uint64_t first, uint64_t last)
{
    uint64_t n = 0;

    for (uint64_t i = first; i <= last; i++)
        n += hot_cache_has(c, scratch_digest(i));
    return n;
}

TEST(a_smaller_one_holds_what_it_has_room_for_and_gives_the_rest_back)
{
    const uint64_t full = ROOM / 4 / sizeof(struct hot_set) * HOT_WAYS;
    struct hot_cache c;
    uint64_t before, kept;

    ck_ok(hot_cache_init(&c, 8 * ROOM));
    for (uint64_t i = 1; i <= MANY; i++)
        hot_cache_add(&c, scratch_digest(i));
    SAME(known(&c, 1, MANY) > MANY / 100 * 99, true);
    before = mem_resident();
    hot_cache_resize(&c, ROOM / 4);
    kept = known(&c, 1, MANY);
    ck_assert_uint_le(kept, full);
    ck_assert_uint_gt(kept, full / 1000 * 999);
    ck_assert_uint_lt(mem_resident() + 5 * ROOM, before);
    hot_cache_resize(&c, 8 * ROOM); /* what was given back is free */
    SAME(known(&c, 1, MANY), kept);
    for (uint64_t i = 1; i <= MANY; i++)
        if (!hot_cache_has(&c, scratch_digest(i)))
            hot_cache_add(&c, scratch_digest(i));
    SAME(known(&c, 1, MANY) > MANY / 100 * 99, true);
    hot_cache_fini(&c);
}

/* `bit` from the lowest of lo on. */
static struct digest with_bit(struct digest d, unsigned bit)
{
    if (bit < 64)
        d.lo ^= UINT64_C(1) << bit;
    else
        d.hi ^= UINT64_C(1) << (bit - 64);
    return d;
}

/* Also once it was moved to another size, where what an entry left out of its
 * digest comes from the number of its set. */
TEST(digests_that_differ_in_one_of_99_bits_are_told_apart)
{
    const uint64_t sizes[] = {HOT_LEAST, ROOM / 3, ROOM, HOT_LEAST + 640};
    const struct digest d = scratch_digest(1);
    struct hot_cache c;

    ck_ok(hot_cache_init(&c, ROOM));
    hot_cache_add(&c, d);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        hot_cache_resize(&c, sizes[i]);
        ck_assert(hot_cache_has(&c, d));
        for (unsigned bit = 64 - 35; bit < 128; bit++)
            ck_assert_msg(!hot_cache_has(&c, with_bit(d, bit)), "bit %u", bit);
    }
    hot_cache_fini(&c);
}
