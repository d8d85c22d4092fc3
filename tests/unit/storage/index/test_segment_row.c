/* SPDX-License-Identifier: MIT */
/* test_segment_row.c - rows of queue segments: known and arbitrary octets. */
#include "storage/db/packed.h"
#include "storage/index/segment_row.h"
#include "tests/unit/storage/scratch.h"

static struct segment_reader reader_of(const struct segment_row *r)
{
    struct segment_reader in;

    segment_reader_start(&in, r->octets, r->len, r->base);
    return in;
}

TEST(its_octets_are_as_documented)
{
    static const unsigned char expected[] = {
        5,    3, 0, 1, 0xc8, 1, /* queue 5: 1000, 1001, 1201 */
        0xac, 2, 1, 7,          /* queue 305: 1007 */
    };
    struct segment_row r;

    segment_row_start(&r, 1000);
    ck_assert(segment_row_add(&r, 5, 1000));
    ck_assert(segment_row_add(&r, 5, 1001));
    ck_assert(segment_row_add(&r, 5, 1201));
    ck_assert(segment_row_add(&r, 305, 1007));
    ck_assert_uint_eq(r.len, sizeof expected);
    ck_assert_mem_eq(r.octets, expected, sizeof expected);
    ck_assert_uint_eq(r.first_queue, 5);
    ck_assert_uint_eq(r.first_id, 1000);
}

TEST(what_was_packed_is_read_also_at_the_edges)
{
    uint64_t state = 11;

    for (int round = 0; round < 300; round++) {
        const uint64_t base = round % 3 == 0
                                  ? (UINT64_C(1) << 40) - 2000000
                                  : scratch_below(&state, 1000000) + 1;
        const uint32_t spread = 1u << (round % 28);
        uint32_t queues[5000];
        uint64_t ids[5000], id = base;
        uint32_t queue = 1 + (uint32_t)scratch_below(&state, spread), n = 0;
        struct segment_row r;
        struct segment_reader in;

        segment_row_start(&r, base);
        while (n < 5000) {
            if (scratch_below(&state, 10) == 0 && queue < UINT32_MAX - spread) {
                queue += 1 + (uint32_t)scratch_below(&state, spread);
                id = base;
            }
            id += 1 + scratch_below(&state, 200);
            if (!segment_row_add(&r, queue, id))
                break;
            queues[n] = queue;
            ids[n++] = id;
        }
        SAME(r.len > SEGMENT_ROW_MOST - 16 || n == 5000, true);
        in = reader_of(&r);
        for (uint32_t i = 0; i < n; i++) {
            SAME(segment_reader_next(&in), true);
            SAME(in.queue, queues[i]);
            SAME(in.id, ids[i]);
        }
        SAME(segment_reader_next(&in), false);
        SAME(in.damaged, false);
        for (uint32_t i = 0; i < n; i += 97) {
            uint32_t k = i;

            in = reader_of(&r);
            segment_reader_skip_to(&in, queues[i]);
            SAME(segment_reader_next(&in), true);
            while (k > 0 && queues[k - 1] == queues[i])
                k--;
            SAME(in.id, ids[k]);
        }
    }
}

TEST(the_greatest_numbers_fit)
{
    const uint64_t most = (UINT64_C(1) << 40) - 1;
    struct segment_row r;
    struct segment_reader in;

    segment_row_start(&r, 1);
    ck_assert(segment_row_add(&r, UINT32_MAX, most - 1));
    ck_assert(segment_row_add(&r, UINT32_MAX, most));
    in = reader_of(&r);
    ck_assert(segment_reader_next(&in));
    ck_assert(segment_reader_next(&in));
    ck_assert_uint_eq(in.queue, UINT32_MAX);
    ck_assert_uint_eq(in.id, most);
}

TEST(any_octets_are_read_to_an_end)
{
    uint64_t state = 3;

    for (int round = 0; round < 20000; round++) {
        unsigned char octets[64];
        size_t len = scratch_below(&state, sizeof octets + 1);
        struct segment_reader in;
        unsigned char *exact = malloc(len > 0 ? len : 1);
        int n = 0;

        for (size_t i = 0; i < len; i++)
            octets[i] = (unsigned char)(scratch_random(&state) >>
                                        (round % 2 == 0 ? 0 : 4));
        memcpy(exact, octets, len);
        segment_reader_start(&in, exact, len, 1);
        while (segment_reader_next(&in))
            SAME(n++ < 100, true);
        segment_reader_start(&in, exact, len, 1);
        segment_reader_skip_to(&in, 100);
        while (segment_reader_next(&in))
            continue;
        free(exact);
    }
}

TEST(varints_are_those_of_leb128)
{
    static const struct {
        uint64_t v;
        unsigned char octets[VARINT_MOST];
        size_t len;
    } cases[] = {
        {0, {0}, 1},
        {127, {0x7f}, 1},
        {128, {0x80, 1}, 2},
        {624485, {0xe5, 0x8e, 0x26}, 3}, /* DWARF 4, figure 22 */
        {UINT64_MAX,
         {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
         10},
    };
    static const unsigned char over[] = {0xff, 0xff, 0xff, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 0xff, 2};
    uint64_t v = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char octets[VARINT_MOST];
        size_t n = varint_put(octets, cases[i].v);

        ck_assert_uint_eq(n, cases[i].len);
        ck_assert_mem_eq(octets, cases[i].octets, n);
        ck_assert_ptr_eq(varint_get(octets, octets + n, &v), octets + n);
        ck_assert_uint_eq(v, cases[i].v);
        ck_assert_ptr_null(varint_get(octets, octets + n - 1, &v));
    }
    ck_assert_ptr_null(varint_get(over, over + sizeof over, &v));
}

/* With eight octets or more to read, they are taken at once. */
TEST(a_varint_is_the_same_whatever_follows_it)
{
    static const unsigned char after[] = {0x00, 0x7f, 0x80, 0xff};

    for (unsigned bit = 0; bit < 64; bit++) {
        for (size_t k = 0; k < sizeof after; k++) {
            uint64_t want = UINT64_C(0xb6db6db6db6db6db) >> bit, got = 0;
            unsigned char octets[2 * VARINT_MOST];
            size_t n;

            memset(octets, after[k], sizeof octets);
            n = varint_put(octets, want);
            ck_assert_ptr_eq(varint_get(octets, octets + sizeof octets, &got),
                             octets + n);
            ck_assert_uint_eq(got, want);
        }
    }
}
