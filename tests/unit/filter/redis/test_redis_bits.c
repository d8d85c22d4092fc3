/* SPDX-License-Identifier: MIT */
/* test_redis_bits.c - which bits of a Redis string belong to a key. */
#include <string.h>

#include "filter/block.h"
#include "filter/redis/redis_place.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/unit.h"

/* Numbers bits as SETBIT does. */
static void set_bit(unsigned char *string, uint32_t offset)
{
    string[offset / 8] =
        (unsigned char)(string[offset / 8] | 128 >> offset % 8);
}

TEST(blocked_bits_are_those_of_a_filter_in_memory)
{
    enum { BLOCKS = 37, KEYS = 500 };

    for (unsigned k = 4; k <= 24; k += 4) {
        static _Alignas(64) uint64_t words[BLOCKS * BLOCK_LANES];
        static unsigned char ours[BLOCKS * BLOCK_BYTES], theirs[sizeof ours];
        struct redis_geometry g = {REDIS_BLOCKED, REDIS_DOUBLE, k,
                                   BLOCKS * 512};
        uint32_t offsets[REDIS_MOST_K];

        memset(words, 0, sizeof words);
        memset(ours, 0, sizeof ours);
        for (uint64_t i = 0; i < KEYS; i++) {
            uint64_t key = nth_key(i);
            uint64_t *at = words + block_index(key, BLOCKS) * BLOCK_LANES;
            bool fresh;

            block_set(k, &at, &key, 1, &fresh);
            redis_bits_of(&g, (struct redis_keys){.digest = &key}, 0, offsets);
            for (unsigned j = 0; j < k; j++)
                set_bit(ours, offsets[j]);
        }
        block_export(theirs, words, BLOCKS * BLOCK_LANES);
        ck_assert_mem_eq(ours, theirs, sizeof ours);
    }
}

/* Checked by hand from the published hash of "hello" with seed 0,
 * 0xcbd8a7b341bd9b02 and 0x5b1e906a48ae1d19 (test_redis_bits.c), modulo 1000 and
 * 2^64: h1 = 14688674573012802306, h2 = 6565844092913065241. */
TEST(plain_double_hashing_is_h1_plus_i_h2)
{
    struct redis_geometry g = {REDIS_PLAIN, REDIS_DOUBLE, 4, 1000};
    struct bytes key = bytes_of_str("hello");
    static const uint32_t known[] = {306, 931, 172, 413};
    uint32_t offsets[REDIS_MOST_K];

    redis_bits_of(&g, (struct redis_keys){.text = &key}, 0, offsets);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(offsets[i], known[i]);
}

/* go-zero, core/bloom/bloom.go: murmur3.Sum64(append(data, byte(i))) % bits. */
TEST(plain_salted_hashing_puts_the_number_behind_the_key)
{
    struct redis_geometry g = {REDIS_PLAIN, REDIS_SALTED, 14, 1 << 20};
    char longer[2000], salted[8] = "abc";
    struct bytes key = bytes_of_str("abc"), big = bytes_of(longer, 2000);
    uint32_t offsets[REDIS_MOST_K];

    redis_bits_of(&g, (struct redis_keys){.text = &key}, 0, offsets);
    for (unsigned i = 0; i < 14; i++) {
        salted[3] = (char)i;
        ck_assert_uint_eq(offsets[i],
                          murmur3_of(bytes_of(salted, 4), 0).h1 % (1 << 20));
    }
    memset(longer, 'x', sizeof longer);
    redis_bits_of(&g, (struct redis_keys){.text = &big}, 0, offsets);
}

/* Made with Python's mmh3 5.3.1, in 20,000 bits: hash64(key + bytes([i]), 0,
 * signed=False)[0] % 20000; and (h1 + i * h2) % 2**64 % 20000. */
TEST(another_implementation_finds_the_same_offsets)
{
    static const uint32_t salted[] = {4696,  15662, 2805,  13479, 2418,
                                      14147, 3138,  17800, 9261,  10652,
                                      6570,  16073, 15125, 3684};
    static const uint32_t doubled[] = {5197,  14959, 4721,  14483, 4245,
                                       14007, 3769,  13531, 3293,  13055,
                                       2817,  12579, 2341,  12103};
    struct redis_geometry g = {REDIS_PLAIN, REDIS_SALTED, 14, 20000};
    struct bytes key = bytes_of_str("http://a.example/");
    uint32_t offsets[REDIS_MOST_K];

    redis_bits_of(&g, (struct redis_keys){.text = &key}, 0, offsets);
    ck_assert_mem_eq(offsets, salted, sizeof salted);
    g.hash = REDIS_DOUBLE;
    redis_bits_of(&g, (struct redis_keys){.text = &key}, 0, offsets);
    ck_assert_mem_eq(offsets, doubled, sizeof doubled);
}

/* Made with Python's mmh3 from Guava's BloomFilterStrategies,
 * MURMUR128_MITZ_32: h = hash64(key, 0)[0], signed 32-bit arithmetic. */
TEST(another_implementation_finds_the_same_32_bit_offsets)
{
    static const uint32_t small[] = {14912, 16435, 17958, 19481, 1004,
                                     2527,  4050,  5573,  7096,  8619,
                                     10142, 11665, 13188, 14711};
    static const uint32_t large[] = {265014912, 333476435, 401937958};
    struct redis_geometry g = {REDIS_PLAIN, REDIS_DOUBLE32, 14, 20000};
    struct bytes key = bytes_of_str("http://a.example/");
    uint32_t offsets[REDIS_MOST_K];

    redis_bits_of(&g, (struct redis_keys){.text = &key}, 0, offsets);
    ck_assert_mem_eq(offsets, small, sizeof small);
    g.bits = REDIS_MOST_BITS;
    redis_bits_of(&g, (struct redis_keys){.text = &key}, 0, offsets);
    ck_assert_mem_eq(offsets, large, sizeof large);
    for (uint64_t digest = 0; digest < 1000;
         digest++) { /* negative ones, too */
        redis_bits_of(&g, (struct redis_keys){.digest = &digest}, 0, offsets);
        for (unsigned i = 0; i < g.k; i++)
            ck_assert_uint_lt(offsets[i], UINT32_C(1) << 31);
    }
}

TEST(offsets_stay_below_2_to_the_32)
{
    struct redis_geometry g[] = {{REDIS_BLOCKED, REDIS_DOUBLE, 24,
                                  REDIS_MOST_BITS},
                                 {REDIS_PLAIN, REDIS_DOUBLE, 64,
                                  REDIS_MOST_BITS},
                                 {REDIS_PLAIN, REDIS_SALTED, 64, 1}};
    uint32_t offsets[REDIS_MOST_K], most = 0;
    uint64_t keys[] = {0, UINT64_MAX, UINT64_MAX - 1};

    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            redis_bits_of(&g[i], (struct redis_keys){.digest = keys}, k,
                          offsets);
            for (unsigned j = 0; j < g[i].k; j++) {
                ck_assert_uint_lt(offsets[j], g[i].bits);
                if (offsets[j] > most)
                    most = offsets[j];
            }
        }
    ck_assert_uint_gt(most, UINT32_MAX - 512);
}

/* Promise (Seen check and store): a filter in Redis knows its rate also when it
 * is overfull; one too small for its promise is refused. See also
 * `tests/cli/filter-redis.sh`. */
TEST(a_geometry_is_fitted_or_refused)
{
    struct redis_geometry g = {.layout = REDIS_PLAIN};

    /* As in textbooks: 1.44 * log2(1000) * 1e6 bits. */
    ck_ok(redis_geometry_fit(&g, 1000000, 0.001));
    ck_assert_uint_eq(g.bits, 14377587);
    ck_assert_uint_eq(g.k, 10);
    g = (struct redis_geometry){.layout = REDIS_PLAIN, .k = 14};
    ck_ok(redis_geometry_fit(&g, 1000000, 0.001));
    ck_assert_double_eq_tol(redis_geometry_rate(&g, 1000000), 0.001, 1e-9);
    g = (struct redis_geometry){.layout = REDIS_BLOCKED};
    ck_ok(redis_geometry_fit(&g, 1000000, 0.001));
    ck_assert_uint_eq(g.k, 8);
    ck_assert_double_eq_tol((double)g.bits / 1e6, 15.72, 0.01);
    ck_assert_double_le(redis_geometry_rate(&g, 1000000), 0.001);
    /* 4 Gbit hold 273 million keys at 0.1 %, but not 300 million. */
    g = (struct redis_geometry){.layout = REDIS_BLOCKED};
    ck_ok(redis_geometry_fit(&g, 273000000, 0.001));
    g = (struct redis_geometry){.layout = REDIS_BLOCKED};
    ck_assert_int_eq(redis_geometry_fit(&g, 300000000, 0.001), STATUS_LIMIT);
    ck_assert_uint_gt(g.bits, REDIS_MOST_BITS);
    g = (struct redis_geometry){.layout = REDIS_PLAIN};
    ck_assert_int_eq(redis_geometry_fit(&g, UINT64_C(1) << 40, 0.5),
                     STATUS_LIMIT);
}

TEST(geometries_have_limits)
{
    static const struct {
        struct redis_geometry g;
        bool valid;
    } t[] = {
        {{REDIS_PLAIN, REDIS_DOUBLE, 1, 1}, true},
        {{REDIS_PLAIN, REDIS_DOUBLE, 64, REDIS_MOST_BITS}, true},
        {{REDIS_PLAIN, REDIS_DOUBLE, 0, 1}, false},
        {{REDIS_PLAIN, REDIS_DOUBLE, 65, 1}, false},
        {{REDIS_PLAIN, REDIS_DOUBLE, 1, 0}, false},
        {{REDIS_PLAIN, REDIS_DOUBLE, 1, REDIS_MOST_BITS + 1}, false},
        {{REDIS_BLOCKED, REDIS_DOUBLE, 4, 512}, true},
        {{REDIS_BLOCKED, REDIS_DOUBLE, 24, REDIS_MOST_BITS}, true},
        {{REDIS_BLOCKED, REDIS_DOUBLE, 28, 512}, false},
        {{REDIS_BLOCKED, REDIS_DOUBLE, 6, 512}, false},
        {{REDIS_BLOCKED, REDIS_DOUBLE, 4, 511}, false},
        {{REDIS_BLOCKED, REDIS_DOUBLE, 4, 768}, false},
    };
    struct redis_geometry g = {.layout = REDIS_PLAIN, .bits = 1000000};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        ck_assert_msg(redis_geometry_is_valid(&t[i].g) == t[i].valid, "%zu", i);
    ck_ok(redis_geometry_fit(&g, 100, 0.01));
    ck_assert_uint_eq(g.k, 64); /* the best were 6931 */
    g = (struct redis_geometry){.layout = REDIS_PLAIN, .bits = 1000};
    ck_ok(redis_geometry_fit(&g, 100, 0.01));
    ck_assert_uint_eq(g.k, 7); /* 10 bits a key, times ln 2 */
    ck_assert_uint_eq(g.bits, 1000);
    g = (struct redis_geometry){.layout = REDIS_BLOCKED, .k = 16};
    ck_ok(redis_geometry_fit(&g, 10000, 0.001));
    ck_assert_uint_eq(g.k, 16);
    ck_assert_double_le(redis_geometry_rate(&g, 10000), 0.001);
    ck_assert_double_ge(redis_geometry_rate(&g, 10000), 0.0009);
    ck_assert_double_eq(redis_geometry_rate(&g, 0), 0);
    g = (struct redis_geometry){.layout = REDIS_BLOCKED, .bits = 20480};
    ck_ok(redis_geometry_fit(&g, 1300, 0.001));
    ck_assert_uint_eq(g.bits, 20480);
    /* Bits that do not keep the promise: what would. */
    ck_assert_int_eq(redis_geometry_fit(&g, 100000, 0.001), STATUS_LIMIT);
    ck_assert_uint_gt(g.bits, 1500000);
    ck_assert_double_le(redis_geometry_rate(&g, 100000), 0.00101);
    g = (struct redis_geometry){.layout = REDIS_PLAIN, .bits = 1000};
    ck_assert_int_eq(redis_geometry_fit(&g, 100000, 0.001), STATUS_LIMIT);
    ck_assert_uint_eq(g.bits, 1437758);
    ck_assert_uint_eq(g.k, 10);
    g = (struct redis_geometry){.layout = REDIS_BLOCKED, .k = 6, .bits = 512};
    g.bits = 500;
    g.k = 4;
    ck_assert_int_eq(redis_geometry_fit(&g, 10, 0.01), STATUS_ARG);
    g = (struct redis_geometry){.layout = REDIS_PLAIN, .bits = REDIS_MOST_BITS};
    ck_ok(redis_geometry_fit(&g, 1, 0.01));
}

TEST(offsets_are_packed_big_endian_key_by_key)
{
    struct redis_geometry g = {REDIS_PLAIN, REDIS_DOUBLE, 2, UINT32_MAX};
    const uint64_t keys[] = {7, 8, 9};
    struct redis_keys k = {.digest = keys};
    uint32_t offsets[REDIS_MOST_K];
    struct buf b;

    buf_init(&b, 1000);
    redis_bits_pack(&g, k, 1, 2, &b);
    ck_assert_uint_eq(b.len, 2 * 2 * 4);
    for (size_t i = 0; i < 2; i++) {
        redis_bits_of(&g, k, 1 + i, offsets);
        for (size_t j = 0; j < 2; j++)
            for (int o = 0; o < 4; o++)
                ck_assert_uint_eq((unsigned char)
                                      b.at[(i * 2 + j) * 4 + (size_t)o],
                                  offsets[j] >> (24 - 8 * o) & 255);
    }
    buf_fini(&b);
}

/* ---- MurmurHash3_x64_128 against published vectors ---- */

/* Reference values from github.com/spaolacci/murmur3, murmur_test.go, made with
 * Appleby's own code. */
static const struct {
    uint32_t seed;
    uint64_t h1, h2;
    const char *text;
} known[] = {
    {0, 0, 0, ""},
    {0, UINT64_C(0xcbd8a7b341bd9b02), UINT64_C(0x5b1e906a48ae1d19), "hello"},
    {0, UINT64_C(0x342fac623a5ebc8e), UINT64_C(0x4cdcbc079642414d),
     "hello, world"},
    {0, UINT64_C(0xb89e5988b737affc), UINT64_C(0x664fc2950231b2cb),
     "19 Jan 2038 at 3:14:07 AM"},
    {0, UINT64_C(0xcd99481f9ee902c9), UINT64_C(0x695da1a38987b6e7),
     "The quick brown fox jumps over the lazy dog."},
    {1, UINT64_C(0x4610abe56eff5cb5), UINT64_C(0x51622daa78f83583), ""},
    {1, UINT64_C(0xa78ddff5adae8d10), UINT64_C(0x128900ef20900135), "hello"},
    {1, UINT64_C(0x2a929de9c8f97b2f), UINT64_C(0x56a41d99af43a2db),
     "19 Jan 2038 at 3:14:07 AM"},
    {0x2a, UINT64_C(0xf02aa77dfa1b8523), UINT64_C(0xd1016610da11cbb9), ""},
    {0x2a, UINT64_C(0xb91864d797caa956), UINT64_C(0xd5d139a55afe6150),
     "hello, world"},
    {0x2a, UINT64_C(0x74f33c659cda5af7), UINT64_C(0x4ec7a891caf316f0),
     "The quick brown fox jumps over the lazy dog."},
};

TEST(published_vectors_are_met)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct murmur3 h =
            murmur3_of(bytes_of_str(known[i].text), known[i].seed);

        ck_assert_msg(h.h1 == known[i].h1 && h.h2 == known[i].h2,
                      "seed %u, \"%s\"", known[i].seed, known[i].text);
    }
}

/* Each length of the tail is a separate case; none may read past its end. */
TEST(every_tail_depends_on_each_of_its_octets)
{
    char text[48];

    for (size_t n = 1; n <= sizeof text; n++) {
        memset(text, 'x', sizeof text);
        for (size_t i = 0; i < n; i++) {
            struct murmur3 a = murmur3_of(bytes_of(text, n), 0), b;

            text[i] ^= 1;
            b = murmur3_of(bytes_of(text, n), 0);
            ck_assert(a.h1 != b.h1 && a.h2 != b.h2);
            text[i] ^= 1;
        }
    }
}
