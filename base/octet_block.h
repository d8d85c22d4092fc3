/*
 * octet_block.h - which octets of 64 are digits, letters or white space, as
 * bits of one word.
 *
 * Text is looked at octet by octet in several places; with bits a whole block
 * without digits, or without two spaces in a row, is told at once, and words
 * are found by counting zeros. SSE2 is part of every x86-64; elsewhere the
 * compiler makes what it can of the same comparisons. Any thread.
 */
#ifndef URLWEIR_BASE_OCTET_BLOCK_H
#define URLWEIR_BASE_OCTET_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#else
#include <endian.h>
#endif

#define OCTET_BLOCK 64

/* Bit i stands for octet i; all of ASCII except `high`. */
struct octet_bits {
    uint64_t digits, letters;
    uint64_t high;   /* 0x80 and above */
    uint64_t spaces; /* tab, LF, FF, CR and space, as in HTML */
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

/* Those that the caller uses of these are all that is computed. */
static inline struct octet_bits octet_bits(const char *at)
{
    struct octet_bits b = {0, 0, 0, 0};

    for (unsigned i = 0; i < OCTET_BLOCK; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(at + i));

        b.digits |= octet_mask(octet_range(v, '0', 10)) << i;
        b.letters |=
            octet_mask(
                octet_range(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'a', 26))
            << i;
        b.high |= octet_mask(v) << i;
        b.spaces |= octet_mask(octet_spaces(v)) << i;
    }
    return b;
}

/* Copies a block with a space for each octet of white space. */
static inline void octet_fold(char *to, const char *at)
{
    for (unsigned i = 0; i < OCTET_BLOCK; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        __m128i spaces = octet_spaces(v);

        v = _mm_or_si128(_mm_andnot_si128(spaces, v),
                         _mm_and_si128(spaces, _mm_set1_epi8(' ')));
        _mm_storeu_si128((__m128i *)(void *)(to + i), v);
    }
}

#else

static inline bool octet_is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

/* Brings the lowest bits of 64 octets, all 0 or 1, together. */
static inline uint64_t octet_mask(const unsigned char *is)
{
    uint64_t mask = 0, eight;

    for (unsigned i = 0; i < OCTET_BLOCK; i += 8) {
        memcpy(&eight, is + i, 8);
        mask |= le64toh(eight) * UINT64_C(0x0102040810204080) >> 56 << i;
    }
    return mask;
}

static inline struct octet_bits octet_bits(const char *at)
{
    unsigned char digit[OCTET_BLOCK], letter[OCTET_BLOCK], high[OCTET_BLOCK],
        space[OCTET_BLOCK];

    for (unsigned i = 0; i < OCTET_BLOCK; i++) {
        unsigned char c = (unsigned char)at[i];

        digit[i] = (unsigned char)(c - '0') < 10;
        letter[i] = (unsigned char)((c | 0x20) - 'a') < 26;
        high[i] = c >= 0x80;
        space[i] = octet_is_space(c);
    }
    return (struct octet_bits){octet_mask(digit), octet_mask(letter),
                               octet_mask(high), octet_mask(space)};
}

static inline void octet_fold(char *to, const char *at)
{
    for (unsigned i = 0; i < OCTET_BLOCK; i++)
        to[i] = octet_is_space((unsigned char)at[i]) ? ' ' : at[i];
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
