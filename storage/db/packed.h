/*
 * packed.h - integers in blobs: big-endian, and varints.
 *
 * A varint holds seven bits an octet, the lowest first; the top bit says that
 * more follow (as in LEB128). Reading never passes `end`.
 */
#ifndef URLWEIR_STORAGE_DB_PACKED_H
#define URLWEIR_STORAGE_DB_PACKED_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_MOST 10 /* octets of the longest varint */

static inline void packed_put(unsigned char *to, uint64_t v, size_t octets)
{
    for (size_t i = octets; i-- > 0; v >>= 8)
        to[i] = (unsigned char)v;
}

/* The compiler does not see that a loop over octets is one load. */
static inline uint64_t packed_get(const unsigned char *at, size_t octets)
{
    uint64_t v = 0;

    if (octets == 8) {
        memcpy(&v, at, 8);
        return be64toh(v);
    }
    for (size_t i = 0; i < octets; i++)
        v = v << 8 | at[i];
    return v;
}

/* Returns the number of octets written. */
static inline size_t varint_put(unsigned char *to, uint64_t v)
{
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        to[n++] = (unsigned char)(v | 0x80);
    to[n++] = (unsigned char)v;
    return n;
}

/* Returns the address of the next octet. NULL: the varint is truncated, or has
 * more than 64 bits. */
static inline const unsigned char *varint_get(const unsigned char *at,
                                              const unsigned char *end,
                                              uint64_t *v)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
        unsigned char c = *at++;

        if (shift == 63 && c > 1)
            return NULL;
        sum |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            *v = sum;
            return at;
        }
    }
    return NULL;
}

#endif
