/* SPDX-License-Identifier: MIT */
/* test_murmur3.c - MurmurHash3_x64_128 against published vectors. */

#include "filter/redis/redis_bits.h"
#include "tests/unit/unit.h"

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
