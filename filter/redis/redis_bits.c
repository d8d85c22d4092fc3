/* SPDX-License-Identifier: MIT */
/*
 * redis_bits.c - which bits of the string belong to a key.
 *
 * Blocked: the block and the cells are those of block.h, of which lane j is
 * octets 8j to 8j + 7, little-endian. Cell c of it is bit c % 8, counted from
 * the lowest, of octet c / 8; Redis counts from the highest, hence the ^ 7. So
 * the string and the units of a `bloom` filter's file are the same octets.
 *
 * Plain: MurmurHash3_x64_128 with seed 0 of the key's octets, as one of
 *
 *   double    g_i = h1 + i * h2 modulo 2^64
 *             (Kirsch & Mitzenmacher, 2006)
 *   double32  a, b: lower and upper half of h1, as signed numbers of 32 bits;
 *             g_i = a + (i + 1) * b modulo 2^32, or if that is negative, its
 *             complement (Guava's MURMUR128_MITZ_32, in Redis before Redisson)
 *   salted    g_i = h1 of the key with the octet i behind it
 *             (go-zero: k = 14)
 *
 * for i = 0 .. k - 1, each modulo `bits`. A digest is hashed as its eight
 * octets, lowest first.
 */
#include "filter/redis/redis_bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filter/block.h"
#include "filter/sizing.h"

#define BLOCK_BITS (BLOCK_BYTES * 8)

bool redis_geometry_is_valid(const struct redis_geometry *g)
{
    if (g->bits < 1 || g->bits > REDIS_MOST_BITS || g->k < 1 ||
        g->k > REDIS_MOST_K)
        return false;
    return g->layout == REDIS_PLAIN || (g->bits % BLOCK_BITS == 0 &&
                                        g->k % 4 == 0 && g->k <= SIZING_MOST_K);
}

/* (1 - e^(-kn/m))^k = p, solved for m. */
static uint64_t plain_bits_of_k(unsigned k, uint64_t keys, double fpr)
{
    return (uint64_t)ceil(-(double)k * (double)keys /
                          log1p(-pow(fpr, 1.0 / k)));
}

#define OVERFULL 2 /* times the promised rate */

/* The best bits and k where they are not given. */
static void choose(struct redis_geometry *g, uint64_t expect, double fpr)
{
    double load;

    if (g->layout == REDIS_BLOCKED) {
        unsigned best = sizing_block_best(64, fpr, &load);

        if (g->k == 0)
            g->k = best;
        else
            load = sizing_block_load(g->k, 64, fpr);
        if (g->bits == 0)
            g->bits = sizing_blocks(expect, load) * BLOCK_BITS;
    } else {
        if (g->bits == 0)
            g->bits = g->k == 0 ? sizing_plain_bits(expect, fpr)
                                : plain_bits_of_k(g->k, expect, fpr);
        if (g->k == 0)
            g->k = sizing_plain_hashes(g->bits, expect);
        if (g->k > REDIS_MOST_K)
            g->k = REDIS_MOST_K;
    }
}

enum status redis_geometry_fit(struct redis_geometry *g, uint64_t expect,
                               double fpr)
{
    struct redis_geometry needed = *g;

    choose(g, expect, fpr);
    if (g->bits > REDIS_MOST_BITS)
        return STATUS_LIMIT;
    if (!redis_geometry_is_valid(g))
        return STATUS_ARG;
    if (needed.bits == 0 || redis_geometry_rate(g, expect) < OVERFULL * fpr)
        return STATUS_OK;
    needed.bits = 0;
    choose(&needed, expect, fpr);
    *g = needed;
    return STATUS_LIMIT;
}

double redis_geometry_rate(const struct redis_geometry *g, uint64_t count)
{
    if (g->layout == REDIS_PLAIN)
        return sizing_plain_rate(g->bits, g->k, count);
    return count == 0 ? 0
                      : sizing_block_rate(g->k, 64,
                                          (double)count /
                                              ((double)g->bits / BLOCK_BITS));
}

double redis_geometry_rate_now(const struct redis_geometry *g, uint64_t set)
{
    double fill = (double)set / (double)g->bits;

    if (set == 0)
        return 0; /* also of a filter that is not known yet */
    if (g->layout == REDIS_PLAIN)
        return pow(fill, g->k);
    return sizing_block_rate(g->k, 64,
                             sizing_block_load_of_fill(g->k, 64, fill));
}

bool redis_rate_is_overfull(double rate, double promised)
{
    return rate >= OVERFULL * promised;
}

/* ---- offsets ---- */

static void block_offsets(const struct redis_geometry *g, uint64_t key,
                          uint32_t *offsets)
{
    uint64_t base = block_index(key, g->bits / BLOCK_BITS) * BLOCK_BITS;
    struct block_hashes h = block_hashes(key);
    unsigned n = 0;

    for (unsigned group = 0; n < g->k; group++) {
        bool whole = g->k - group * BLOCK_LANES >= BLOCK_LANES;
        unsigned first = whole ? 0 : block_half(h) * 4;
        unsigned lanes = whole ? BLOCK_LANES : 4;

        for (unsigned lane = first; lane < first + lanes; lane++)
            offsets[n++] =
                (uint32_t)(base + lane * 64 + (block_cell(h, group, lane) ^ 7));
    }
}

static void double_offsets(const struct redis_geometry *g, struct bytes key,
                           uint32_t *offsets)
{
    struct murmur3 h = murmur3_of(key, 0);

    for (unsigned i = 0; i < g->k; i++)
        offsets[i] = (uint32_t)((h.h1 + i * h.h2) % g->bits);
}

static void double32_offsets(const struct redis_geometry *g, struct bytes key,
                             uint32_t *offsets)
{
    uint64_t h1 = murmur3_of(key, 0).h1;
    uint32_t h = (uint32_t)h1, step = (uint32_t)(h1 >> 32);

    for (unsigned i = 0; i < g->k; i++) {
        h += step;
        offsets[i] = (uint32_t)((h >> 31 ? ~h : h) % g->bits);
    }
}

static void salted_offsets(const struct redis_geometry *g, struct bytes key,
                           uint32_t *offsets)
{
    char small[512], *salted = small;

    if (key.len >= sizeof small)
        salted = xmalloc(key.len + 1);
    if (key.len > 0)
        memcpy(salted, key.at, key.len);
    for (unsigned i = 0; i < g->k; i++) {
        salted[key.len] = (char)i;
        offsets[i] =
            (uint32_t)(murmur3_of(bytes_of(salted, key.len + 1), 0).h1 %
                       g->bits);
    }
    if (salted != small)
        free(salted);
}

void redis_bits_of(const struct redis_geometry *g, struct redis_keys keys,
                   size_t i, uint32_t *offsets)
{
    char octets[8];
    struct bytes key = bytes_of(octets, sizeof octets);

    if (g->layout == REDIS_BLOCKED) {
        block_offsets(g, keys.digest[i], offsets);
        return;
    }
    if (keys.digest == NULL)
        key = keys.text[i];
    else
        for (unsigned j = 0; j < 8; j++)
            octets[j] = (char)(keys.digest[i] >> (8 * j) & 255);
    if (g->hash == REDIS_SALTED)
        salted_offsets(g, key, offsets);
    else if (g->hash == REDIS_DOUBLE32)
        double32_offsets(g, key, offsets);
    else
        double_offsets(g, key, offsets);
}

void redis_bits_pack(const struct redis_geometry *g, struct redis_keys keys,
                     size_t first, size_t n, struct buf *out)
{
    uint32_t offsets[REDIS_MOST_K];

    for (size_t i = 0; i < n; i++) {
        redis_bits_of(g, keys, first + i, offsets);
        for (unsigned j = 0; j < g->k; j++)
            for (int shift = 24; shift >= 0; shift -= 8)
                buf_add_char(out, (char)(offsets[j] >> shift & 255));
    }
}

/* ---- MurmurHash3_x64_128 ----
 *
 * Two lanes of 64 bits take 16 octets a round; the tail is one round in which
 * zeros replace the missing octets. Octets are read little-endian by hand, so
 * the numbers are the same on machines of either order.
 */

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

static uint64_t murmur3_finish(uint64_t x)
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
    h1 = murmur3_finish(h1);
    h2 = murmur3_finish(h2);
    h1 += h2;
    h2 += h1;
    return (struct murmur3){h1, h2};
}
