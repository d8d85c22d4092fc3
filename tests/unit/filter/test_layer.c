/* SPDX-License-Identifier: MIT */
/* test_layer.c - a run of blocks: which keys are where, and what is saved. */
#include "filter/block.h"

#include <string.h>

#include "tests/unit/filter/keys.h"
#include "tests/unit/unit.h"

#define UNIT_BLOCKS 1024

static struct layer shaped(uint64_t nblocks, unsigned k, unsigned cells)
{
    struct layer l;

    ck_ok(layer_init_shaped(&l, nblocks, k, 0.01, cells, UINT64_C(1) << 30));
    return l;
}

TEST(it_is_as_large_as_keys_and_rate_ask_for)
{
    static const unsigned cells[] = {16, 64};

    for (int i = 0; i < 2; i++) {
        struct layer l;
        double load;
        unsigned k = sizing_block_best(cells[i], 0.01, &load);
        uint64_t want = sizing_blocks(100000, load);

        ck_ok(layer_init(&l, 100000, 0.01, cells[i], 0));
        ck_assert_uint_eq(l.nblocks, want);
        ck_assert_uint_eq(l.k, k);
        ck_assert_uint_eq(l.cells, cells[i]);
        ck_assert_uint_ge(l.capacity, 100000);
        ck_assert_uint_le(l.capacity, 100000 + (uint64_t)load + 1);
        ck_assert(!l.reduced);
        ck_assert_double_eq(layer_fill(&l), 0);
        ck_assert_uint_eq(layer_keys(&l, 0), 0);
        layer_fini(&l);
        ck_assert_ptr_null(l.words);
        /* With memory for just that, and for one block less. */
        ck_ok(layer_init(&l, 100000, 0.01, cells[i], want * 64));
        ck_assert(!l.reduced && l.nblocks == want);
        layer_fini(&l);
        ck_ok(layer_init(&l, 100000, 0.01, cells[i], want * 64 - 1));
        ck_assert(l.reduced && l.nblocks == want - 1);
        ck_assert_uint_lt(l.capacity, 100000);
        layer_fini(&l);
        ck_assert_int_eq(layer_init(&l, 100000, 0.01, cells[i], 63),
                         STATUS_LIMIT);
        ck_ok(layer_init(&l, 100000, 0.01, cells[i], 64));
        ck_assert_uint_eq(l.nblocks, 1);
        layer_fini(&l);
    }
}

TEST(shapes_out_of_range_are_refused)
{
    static const struct {
        uint64_t nblocks, k, most;
        enum status st;
    } t[] = {
        {1, 4, 64, STATUS_OK},
        {1, 24, 64, STATUS_OK},
        {2, 8, 128, STATUS_OK},
        {0, 8, 64, STATUS_FORMAT},
        {2, 8, 127, STATUS_FORMAT},
        {1, 0, 64, STATUS_FORMAT},
        {1, 3, 64, STATUS_FORMAT},
        {1, 5, 64, STATUS_FORMAT},
        {1, 28, 64, STATUS_FORMAT},
        {UINT64_MAX, 8, 64, STATUS_FORMAT},
        {1, UINT64_C(1) << 32 | 8, 64, STATUS_FORMAT},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct layer l;

        ck_assert_msg(layer_init_shaped(&l, t[i].nblocks, t[i].k, 0.01, 64,
                                        t[i].most) == t[i].st,
                      "%zu", i);
        ck_assert((l.words != NULL) == (t[i].st == STATUS_OK));
        layer_fini(&l);
    }
}

/* The units' ranges are all keys, each once, and a key's block is in its
 * unit. */
TEST(units_are_ranges_of_keys)
{
    static const uint64_t sizes[] = {1, 3, 1023, 1024, 1025, 2048, 5000};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct layer l = shaped(sizes[i], 8, 64);
        uint64_t units = layer_units(&l), next = 0, low, high;

        ck_assert_uint_eq(units, (sizes[i] + UNIT_BLOCKS - 1) / UNIT_BLOCKS);
        for (uint64_t u = 0; u < units; u++) {
            layer_unit_range(&l, u, &low, &high);
            ck_assert_uint_eq(low, next);
            ck_assert_uint_gt(high, low);
            for (int j = 0; j < 4; j++) {
                uint64_t keys[] = {low, high, low + (high - low) / 2,
                                   low + (high - low) / 3};
                uint64_t *at;

                layer_place(&l, &keys[j], 1, &at);
                ck_assert_uint_eq((uint64_t)(at - l.words) / BLOCK_LANES /
                                      UNIT_BLOCKS,
                                  u);
            }
            next = high + 1;
        }
        ck_assert_uint_eq(high, UINT64_MAX);
        layer_fini(&l);
    }
}

TEST(units_are_saved_put_back_and_flooded_alone)
{
    struct layer a = shaped(2500, 8, 64), b = shaped(2500, 8, 64);
    struct buf octets;

    buf_init(&octets, 1 << 20);
    for (uint64_t i = 0; i < 2500 * BLOCK_LANES; i++)
        a.words[i] = nth_key(i);
    for (uint64_t u = 0; u < 3; u++) {
        uint64_t blocks = u < 2 ? 1024 : 452, from = u * 1024 * 8;

        buf_clear(&octets);
        buf_add_str(&octets, "x"); /* it is appended */
        ck_ok(layer_get_unit(&a, u, &octets));
        ck_assert_uint_eq(octets.len, 1 + blocks * 64);
        ck_assert_int_eq(
            layer_put_unit(&b, u, bytes_of(octets.at + 1, octets.len - 2)),
            STATUS_DAMAGED);
        ck_assert_int_eq(layer_put_unit(&b, u, buf_bytes(&octets)),
                         STATUS_DAMAGED);
        ck_assert_uint_eq(b.words[from], 0);
        ck_ok(layer_put_unit(&b, u, bytes_of(octets.at + 1, octets.len - 1)));
        ck_assert_mem_eq(a.words, b.words, (from + blocks * 8) * 8);
        if (u < 2)
            ck_assert_uint_eq(b.words[from + blocks * 8], 0);
    }
    layer_flood_unit(&b, 1);
    for (uint64_t i = 0; i < 2500 * BLOCK_LANES; i++)
        if (b.words[i] != (i / 8 / 1024 == 1 ? UINT64_MAX : a.words[i]))
            ck_abort_msg("word %d", (int)i);
    layer_flood_unit(&b, 2);
    ck_assert_uint_eq(b.words[2500 * 8 - 1], UINT64_MAX);
    buf_fini(&octets);
    layer_fini(&a);
    layer_fini(&b);
}

TEST(only_equal_layers_merge)
{
    struct layer a = shaped(10, 8, 64), b = shaped(10, 8, 64);
    struct layer longer = shaped(11, 8, 64), other = shaped(10, 12, 64);

    a.words[0] = 5;
    b.words[0] = 9;
    b.words[79] = 3;
    ck_assert(!layer_merge(&a, &longer));
    ck_assert(!layer_merge(&a, &other));
    ck_assert(layer_merge(&a, &b));
    ck_assert_uint_eq(a.words[0], 13);
    ck_assert_uint_eq(a.words[79], 3);
    ck_assert_uint_eq(b.words[0], 9);
    layer_fini(&a);
    layer_fini(&b);
    layer_fini(&longer);
    layer_fini(&other);
}

/* In a large layer from its first 65536 blocks. */
TEST(of_a_large_layer_a_sample_tells_its_fill)
{
    struct layer l = shaped(65537, 8, 64);

    memset(l.words, 0xff, (size_t)65536 * 64);
    ck_assert_double_eq(layer_fill(&l), 1);
    memset(l.words, 0, (size_t)32768 * 64);
    ck_assert_double_eq(layer_fill(&l), 0.5);
    layer_fini(&l);
}
