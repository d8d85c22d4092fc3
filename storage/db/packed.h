/*
 * packed.h - integers in blobs: big-endian, and varints.
 *
 * A varint holds seven bits an octet, the lowest first; the top bit says that
 * more follow (as in LEB128). Reading never passes `end`.
 */
#ifndef URLWEIR_STORAGE_DB_PACKED_H
#define URLWEIR_STORAGE_DB_PACKED_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"

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

/* The seven low bits of each octet of `w`, one behind the other. */
static inline uint64_t varint_join(uint64_t w)
{
    w = (w & UINT64_C(0x007f007f007f007f)) |
        (w & UINT64_C(0x7f007f007f007f00)) >> 1;
    w = (w & UINT64_C(0x00003fff00003fff)) |
        (w & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (w & UINT64_C(0x0fffffff)) | (w & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Returns the address of the next octet. NULL: the varint is truncated, or has
 * more than 64 bits. Up to eight octets are taken at once if as many are there,
 * since a processor cannot guess how long the next one is. */
static inline const unsigned char *varint_get(const unsigned char *at,
                                              const unsigned char *end,
                                              uint64_t *v)
{
    uint64_t sum = 0;

    if (end - at >= 8) {
        uint64_t w, ends;

        memcpy(&w, at, sizeof w);
        w = le64toh(w);
        ends = ~w & UINT64_C(0x8080808080808080);
        if (ends != 0) {
            *v = varint_join(w & (ends ^ (ends - 1)));
            return at + (unsigned)__builtin_ctzll(ends) / 8 + 1;
        }
    }
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

/*
 * Counts and texts in blobs, read from a store that may be
 * damaged.
 *
 * Counts are varints (packed.h). Reading moves *rest on, and never passes its
 * end.
 */

static inline void packed_put_count(struct buf *out, uint64_t n)
{
    unsigned char room[VARINT_MOST];

    buf_add(out, room, varint_put(room, n));
}

/* False: none begins here, or it is above `most`. */
static inline bool packed_take_count(struct bytes *rest, uint64_t most,
                                     uint64_t *n)
{
    const unsigned char *at = (const unsigned char *)rest->at;
    const unsigned char *next;

    if (rest->len == 0)
        return false;
    next = varint_get(at, at + rest->len, n);
    if (next == NULL || *n > most)
        return false;
    *rest = bytes_of((const char *)next, rest->len - (size_t)(next - at));
    return true;
}

/* `n` octets, which must be there; `at` is NULL for none. */
static inline struct bytes packed_take(struct bytes *rest, size_t n)
{
    struct bytes text = bytes_of(n > 0 ? rest->at : NULL, n);

    *rest = bytes_of(rest->at + n, rest->len - n);
    return text;
}

#endif
