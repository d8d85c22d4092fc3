/* SPDX-License-Identifier: MIT */
/* test_block_cache.c - the exact set's cache of its blocks. */
#include "storage/index/block_cache.h"
#include "tests/unit/unit.h"

#include <string.h>

#define BLOCKS 64 /* the least that a cache holds: 8 sets of 8 */

static struct block_cache *make(uint64_t bytes)
{
    struct block_cache *c = NULL;

    ck_ok(block_cache_new(&c, bytes));
    return c;
}

static void fill(unsigned char *block, uint32_t id)
{
    ck_assert_ptr_nonnull(block);
    memset(block, (int)(id * 7 + 1), BLOCK_CACHE_BLOCK);
    memcpy(block, &id, sizeof id);
}

static void expect(const unsigned char *block, uint32_t id)
{
    uint32_t is;

    ck_assert_ptr_nonnull(block);
    memcpy(&is, block, sizeof is);
    ck_assert_uint_eq(is, id);
    for (size_t i = sizeof id; i < BLOCK_CACHE_BLOCK; i++)
        if (block[i] != (unsigned char)(id * 7 + 1))
            ck_abort_msg("octet %zu of block %u", i, id);
}

/* Pages of one set in a cache of the least size, see set_of. */
static const uint32_t mates[] = {0,  5,  13, 18, 26, 34, 39,
                                 47, 60, 68, 73, 81, 89, 94};

/* Which of mates[0..14) are there, as bits. */
static unsigned there(const struct block_cache *c)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < sizeof mates / sizeof *mates; i++) {
        const unsigned char *block = block_cache_peek(c, mates[i]);

        if (block == NULL)
            continue;
        expect(block, mates[i]);
        bits |= 1U << i;
    }
    return bits;
}

static void put(struct block_cache *c, unsigned i)
{
    fill(block_cache_put(c, mates[i]), mates[i]);
}

static struct block_cache *make_full(void)
{
    struct block_cache *c = make(0);

    for (unsigned i = 0; i < 8; i++)
        fill(block_cache_put_cheap(c, mates[i]), mates[i]);
    ck_assert_uint_eq(there(c), 0xff);
    return c;
}

/* A new block enters at the sixth rank: one pass over many blocks leaves five
 * of eight, and pushes out the last. */
TEST(a_pass_over_many_blocks_leaves_the_popular_ones)
{
    struct block_cache *c = make_full();

    put(c, 8);
    ck_assert_uint_eq(there(c), 0x17f);
    put(c, 9);
    ck_assert_uint_eq(there(c), 0x33f);
    put(c, 10);
    ck_assert_uint_eq(there(c), 0x71f);
    put(c, 11);
    ck_assert_uint_eq(there(c), 0xe1f);
    block_cache_free(c);
}

TEST(a_cache_of_a_size_holds_that_many_blocks)
{
    const uint64_t block = BLOCK_CACHE_BLOCK;
    struct block_cache *c = make(200 * block);
    uint64_t least = block_cache_memory(c);

    for (uint32_t id = 0; id < 100000; id++)
        fill(block_cache_put(c, id), id);
    ck_assert_uint_gt(block_cache_memory(c), 180 * block);
    ck_assert_uint_le(block_cache_memory(c), 200 * block);
    ck_assert_uint_lt(least, 2 * block);
    block_cache_free(c);
}
