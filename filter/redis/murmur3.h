/*
 * murmur3.h - MurmurHash3, the hash that Bloom filters in Redis are made with.
 *
 * The 128-bit variant for 64-bit machines (Austin Appleby, MurmurHash3_x64_128,
 * 2011, placed in the public domain), the same numbers on any machine. Use it
 * only to read and write bitmaps that other programs share. Our own keys are
 * digests of base/digest.h, since this hash has no secret that would keep
 * strangers from making keys that collide.
 */
#ifndef URLWEIR_FILTER_REDIS_MURMUR3_H
#define URLWEIR_FILTER_REDIS_MURMUR3_H

#include <stdint.h>

#include "base/bytes.h"

struct murmur3 {
    uint64_t h1, h2; /* other libraries call h1 Sum64 or hash64()[0] */
};

struct murmur3 murmur3_of(struct bytes b, uint32_t seed);

#endif
