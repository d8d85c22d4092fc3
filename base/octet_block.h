/*
 * octet_block.h - which octets of 64 are digits, letters or white space, as
 * bits of one word.
 *
 * Text is looked at octet by octet in several places; with bits a whole block
 * without digits, or without two spaces in a row, is told at once, and words
 * are found by counting zeros. SSE2 is part of every x86-64; elsewhere a loop
 * does the same. Any thread.
 */
#ifndef URLWEIR_BASE_OCTET_BLOCK_H
#define URLWEIR_BASE_OCTET_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#else
#include "base/ascii.h"
#endif

#define OCTET_BLOCK 64

/* Bit i stands for octet i; all of ASCII except `high`. */
struct octet_bits {
    uint64_t digits, letters;
    uint64_t high; /* 0x80 and above */
};

#ifdef __SSE2__

/* Octets from `first` to `first` + n - 1. */
static inline __m128i octet_range(__m128i v, int first, int n)
{
    return _mm_cmplt_epi8(_mm_add_epi8(v, _mm_set1_epi8((char)(0x80 - first))),
                          _mm_set1_epi8((char)(n - 0x80)));
}

static inline __m128i octet_spaces(__m128i v)
{
    return _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')),
                        _mm_andnot_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\v')),
                                         octet_range(v, '\t',
                                                     '\r' - '\t' + 1)));
}

static inline uint64_t octet_mask(__m128i v)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(v);
}

/* `n` octets and zeros behind them. Short texts are read where they stand: what
 * was copied in small pieces cannot be loaded as a whole until it is in the
 * cache. */
static inline __m128i octet_load(const char *at, unsigned n)
{
    uint64_t low = 0, high = 0;
    uint32_t first, last;

    if (n >= 16)
        return _mm_loadu_si128((const __m128i *)(const void *)at);
    if (n > 8) {
        memcpy(&low, at, 8);
        memcpy(&high, at + n - 8, 8);
        high >>= 8 * (16 - n);
    } else if (n >= 4) {
        memcpy(&first, at, 4);
        memcpy(&last, at + n - 4, 4);
        low = first | (uint64_t)last << 8 * (n - 4);
    } else if (n > 0) {
        low = (unsigned char)at[0];
        low |= (uint64_t)(unsigned char)at[n / 2] << 8 * (n / 2);
        low |= (uint64_t)(unsigned char)at[n - 1] << 8 * (n - 1);
    }
    return _mm_set_epi64x((long long)high, (long long)low);
}

/* Of `n` octets, OCTET_BLOCK at most. */
static inline struct octet_bits octet_bits(const char *at, unsigned n)
{
    struct octet_bits b = {0, 0, 0};

    for (unsigned i = 0; i < n; i += 16) {
        __m128i v = octet_load(at + i, n - i);

        b.digits |= octet_mask(octet_range(v, '0', 10)) << i;
        b.letters |=
            octet_mask(
                octet_range(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'a', 26))
            << i;
        b.high |= octet_mask(v) << i;
    }
    return b;
}

/* Copies `n` octets, OCTET_BLOCK at most, with a space for each octet of white
 * space (that of HTML); bit i of the result: octet i is one. There is room for
 * OCTET_BLOCK octets at `to`. */
static inline uint64_t octet_fold(char *to, const char *at, unsigned n)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < n; i += 16) {
        __m128i v = octet_load(at + i, n - i);
        __m128i spaces = octet_spaces(v);

        v = _mm_or_si128(_mm_andnot_si128(spaces, v),
                         _mm_and_si128(spaces, _mm_set1_epi8(' ')));
        _mm_storeu_si128((__m128i *)(void *)(to + i), v);
        all |= octet_mask(spaces) << i;
    }
    return all;
}

#else

static inline struct octet_bits octet_bits(const char *at, unsigned n)
{
    struct octet_bits b = {0, 0, 0};

    for (unsigned i = 0; i < n; i++) {
        b.digits |= (uint64_t)ascii_is_digit(at[i]) << i;
        b.letters |= (uint64_t)ascii_is_letter(at[i]) << i;
        b.high |= (uint64_t)((unsigned char)at[i] >= 0x80) << i;
    }
    return b;
}

static inline uint64_t octet_fold(char *to, const char *at, unsigned n)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < n; i++) {
        bool space = ascii_is_space(at[i]);

        to[i] = space ? ' ' : at[i];
        all |= (uint64_t)space << i;
    }
    return all;
}

#endif

/* Bits 0 to n - 1; n <= 64. */
static inline uint64_t octet_below(unsigned n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* The first bit from n on that is set; 64: none. n <= 64. */
static inline unsigned octet_next(uint64_t bits, unsigned n)
{
    bits &= ~octet_below(n);
    return bits != 0 ? (unsigned)__builtin_ctzll(bits) : 64;
}

#endif
