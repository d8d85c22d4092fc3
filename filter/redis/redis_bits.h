/*
 * redis_bits.h - which bits of the string belong to a key; private to filter/.
 *
 * Offsets are Redis's own: bit 0 is the highest of octet 0 (SETBIT). Pure.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_BITS_H
#define URLWEIR_FILTER_REDIS_REDIS_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "filter/redis/redis_bloom.h"

struct redis_geometry {
    enum redis_layout layout;
    enum redis_hash hash;
    unsigned k;
    uint64_t bits;
};

/* Is the geometry possible? For records that others may have written. */
bool redis_geometry_is_valid(const struct redis_geometry *g);
/* Choose the best geometry for `expect` keys at `fpr`, of the layout given;
 * bits and k that are not 0 are kept. STATUS_LIMIT: `g->bits` says how many it
 * takes, which is more than 2^32, or more than the bits given: with those the
 * filter would be overfull at `expect`. */
MUST_CHECK enum status redis_geometry_fit(struct redis_geometry *g,
                                          uint64_t expect, double fpr);
/* False-positive rate after `count` keys. */
double redis_geometry_rate(const struct redis_geometry *g, uint64_t count);
/* The same as it stands, with so many bits set. Keys that are called "maybe"
 * are not counted as new, so a count of keys says less and less as a filter
 * fills; its bits always tell. */
double redis_geometry_rate_now(const struct redis_geometry *g, uint64_t set);
/* Is a rate at least twice the promised one? */
bool redis_rate_is_overfull(double rate, double promised);

/* The k offsets of key i. */
void redis_bits_of(const struct redis_geometry *g, struct redis_keys keys,
                   size_t i, uint32_t *offsets);
/* The offsets of keys first .. first + n - 1 one after the other, each as four
 * octets, highest first, as the scripts take them. */
void redis_bits_pack(const struct redis_geometry *g, struct redis_keys keys,
                     size_t first, size_t n, struct buf *out);

/* ---- MurmurHash3, the hash that Bloom filters in Redis are made with ----
 *
 * The 128-bit variant for 64-bit machines (Austin Appleby, MurmurHash3_x64_128,
 * 2011, placed in the public domain), the same numbers on any machine. Use it
 * only to read and write bitmaps that other programs share. Our own keys are
 * digests of base/digest.h, since this hash has no secret that would keep
 * strangers from making keys that collide.
 */

struct murmur3 {
    uint64_t h1, h2; /* other libraries call h1 Sum64 or hash64()[0] */
};

struct murmur3 murmur3_of(struct bytes b, uint32_t seed);

#endif
