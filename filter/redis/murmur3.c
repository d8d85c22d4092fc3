/* SPDX-License-Identifier: MIT */
/*
 * murmur3.c - MurmurHash3_x64_128.
 *
 * Two lanes of 64 bits take 16 octets a round; the tail is one round in which
 * zeros replace the missing octets. Octets are read little-endian by hand, so
 * the numbers are the same on machines of either order.
 */
#include "filter/redis/murmur3.h"

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static uint64_t rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* At most 8 octets. */
static uint64_t little_endian(const char *at, size_t n)
{
    uint64_t x = 0;

    for (size_t i = n; i-- > 0;)
        x = x << 8 | (unsigned char)at[i];
    return x;
}

static uint64_t mix1(uint64_t k)
{
    return rotate(k * C1, 31) * C2;
}

static uint64_t mix2(uint64_t k)
{
    return rotate(k * C2, 33) * C1;
}

static uint64_t finish(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

struct murmur3 murmur3_of(struct bytes b, uint32_t seed)
{
    uint64_t h1 = seed, h2 = seed;
    size_t i, left;

    for (i = 0; b.len - i >= 16; i += 16) {
        h1 = rotate(h1 ^ mix1(little_endian(b.at + i, 8)), 27) + h2;
        h1 = h1 * 5 + 0x52dce729;
        h2 = rotate(h2 ^ mix2(little_endian(b.at + i + 8, 8)), 31) + h1;
        h2 = h2 * 5 + 0x38495ab5;
    }
    left = b.len - i;
    if (left > 8)
        h2 ^= mix2(little_endian(b.at + i + 8, left - 8));
    if (left > 0)
        h1 ^= mix1(little_endian(b.at + i, left < 8 ? left : 8));
    h1 ^= b.len;
    h2 ^= b.len;
    h1 += h2;
    h2 += h1;
    h1 = finish(h1);
    h2 = finish(h2);
    h1 += h2;
    h2 += h1;
    return (struct murmur3){h1, h2};
}
