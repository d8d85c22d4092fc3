/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "filter/block.h"
#include "filter/sizing.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/unit.h"

enum { BLOCKS = 64, KEYS = 1000 };

/* Fills blocks with KEYS keys of k marks each. */
static void fill_blocks(unsigned k, uint64_t *words, bool *fresh)
{
    uint64_t keys[KEYS], *at[KEYS];

    memset(words, 0, BLOCKS * BLOCK_BYTES);
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = nth_key(i);
        at[i] = words + block_index(keys[i], BLOCKS) * BLOCK_LANES;
    }
    block_set(k, at, keys, KEYS, fresh);
}

TEST(every_instruction_set_gives_the_same_bits_and_answers)
{
    static _Alignas(64) uint64_t ours[BLOCKS * BLOCK_LANES];
    static _Alignas(64) uint64_t theirs[BLOCKS * BLOCK_LANES];
    bool fresh[KEYS], other[KEYS];

    for (unsigned k = 4; k <= SIZING_MOST_K; k += 4) {
        ck_assert(block_use(BLOCK_SCALAR));
        fill_blocks(k, ours, fresh);
        for (int isa = BLOCK_AVX2; isa <= BLOCK_AVX512; isa++) {
            uint64_t keys[KEYS], *at[KEYS];

            if (!block_use((enum block_isa)isa))
                continue;
            fill_blocks(k, theirs, other);
            ck_assert_mem_eq(ours, theirs, sizeof ours);
            ck_assert_mem_eq(fresh, other, sizeof fresh);
            for (size_t i = 0; i < KEYS; i++) {
                keys[i] = nth_key(i * 7);
                at[i] = ours + block_index(keys[i], BLOCKS) * BLOCK_LANES;
            }
            block_test(k, at, keys, KEYS, other);
            ck_assert(block_use(BLOCK_SCALAR));
            block_test(k, at, keys, KEYS, fresh);
            ck_assert_mem_eq(fresh, other, sizeof fresh);
            fill_blocks(k, ours, fresh);
        }
    }
}

/* Promise (Seen check and store): every instruction set computes the same bits;
 * sizes beyond 2^32 bits work; repeats do not grow a cuckoo filter. See also
 * `sizing/sizes_beyond_32_bits_are_exact`,
 * `cuckoo/one_that_grows_does_not_grow_for_repeats_of_one_key`. */
/* The bits are part of the file format: a change to them fails here. */
TEST(ours_bits_never_change_on_any_instruction_set)
{
    static _Alignas(64) uint64_t words[BLOCKS * BLOCK_LANES];
    static unsigned char octets[sizeof words];
    static const struct {
        unsigned k;
        uint64_t sum;
    } known[] = {{4, UINT64_C(0x6695aad0efad755a)},
                 {8, UINT64_C(0x1b726859aeec516b)},
                 {12, UINT64_C(0x31b5d75698407535)},
                 {16, UINT64_C(0x4f79a617d91ce564)},
                 {24, UINT64_C(0x8745457db14f7bcc)}};
    bool fresh[KEYS];

    for (int isa = BLOCK_SCALAR; isa <= BLOCK_AVX512; isa++) {
        if (!block_use((enum block_isa)isa))
            continue; /* not on this processor */
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            fill_blocks(known[i].k, words, fresh);
            block_export(octets, words, BLOCKS * BLOCK_LANES);
            ck_assert_msg(XXH3_64bits(octets, sizeof octets) == known[i].sum,
                          "%s, k=%u: %#llx", block_isa_name(), known[i].k,
                          (unsigned long long)XXH3_64bits(octets,
                                                          sizeof octets));
        }
    }
}

TEST(ranges_of_keys_are_runs_of_blocks)
{
    static const uint64_t sizes[] = {1, 2, 3, 7, 1000, UINT64_C(5000000001)};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t n = sizes[i];
        uint64_t some[] = {0, n / 3, n / 2, n - 1};

        for (size_t j = 0; j < 4; j++) {
            uint64_t first = block_first_key(some[j], n);

            ck_assert_uint_eq(block_index(first, n), some[j]);
            if (some[j] > 0)
                ck_assert_uint_eq(block_index(first - 1, n), some[j] - 1);
        }
    }
}

TEST(octets_are_little_endian)
{
    const uint64_t word = UINT64_C(0x0807060504030201);
    unsigned char octets[8];
    uint64_t back;

    block_export(octets, &word, 1);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(octets[i], i + 1);
    block_import(&back, octets, 1);
    ck_assert_uint_eq(back, word);
}

/* The best that this processor has is chosen, unless a test asks for
 * another. */
TEST(each_instruction_set_of_this_processor_can_be_chosen)
{
    bool avx2 = false, avx512 = false;

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    avx2 = __builtin_cpu_supports("avx2") != 0;
    avx512 = __builtin_cpu_supports("avx512f") != 0;
#endif
    ck_assert_str_eq(block_isa_name(), avx512 ? "avx512"
                                       : avx2 ? "avx2"
                                              : "scalar");
    ck_assert(block_use(BLOCK_AVX2) == avx2);
    ck_assert_str_eq(block_isa_name(), avx2 ? "avx2" : "scalar");
    ck_assert(block_use(BLOCK_SCALAR));
    ck_assert_str_eq(block_isa_name(), "scalar");
    ck_assert(block_use(BLOCK_AVX512) == avx512);
    ck_assert_str_eq(block_isa_name(), avx512 ? "avx512" : "scalar");
}
