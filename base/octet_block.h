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

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#else
#include "base/ascii.h"
#endif

#define OCTET_BLOCK 64

/* Bit i stands for octet i; all of ASCII. */
struct octet_bits {
    uint64_t digits, letters;
};

/* all: digits, letters and octets above ASCII; ideographs: E3 to E9, with which
 * UTF-8 of an ideograph or kana begins (U+3000 to U+9FFF); odd: odd numbers. */
struct octet_words {
    uint64_t all, ideographs, odd;
};

/* words: letters, digits and octets above ASCII; tags: < and >. */
struct octet_markup {
    uint64_t words, digits, tags;
};

/* One to eight octets as a number, the first of them lowest. Two loads that
 * overlap are several times faster than a copy of unknown length. */
static inline uint64_t octet_number(const char *at, size_t n)
{
    uint64_t whole;
    uint32_t a4, b4;
    uint16_t a2, b2;

    if (n == 8) {
        memcpy(&whole, at, 8);
        return le64toh(whole);
    }
    if (n >= 4) {
        memcpy(&a4, at, 4);
        memcpy(&b4, at + n - 4, 4);
        return le32toh(a4) | (uint64_t)le32toh(b4) << 8 * (n - 4);
    }
    if (n >= 2) {
        memcpy(&a2, at, 2);
        memcpy(&b2, at + n - 2, 2);
        return le16toh(a2) | (uint64_t)le16toh(b2) << 8 * (n - 2);
    }
    return (unsigned char)*at;
}

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

    if (n >= 16)
        return _mm_loadu_si128((const __m128i *)(const void *)at);
    if (n > 8) {
        memcpy(&low, at, 8);
        memcpy(&high, at + n - 8, 8);
        high >>= 8 * (16 - n);
    } else if (n > 0) {
        low = octet_number(at, n);
    }
    return _mm_set_epi64x((long long)high, (long long)low);
}

static inline __m128i octet_digits(__m128i v)
{
    return octet_range(v, '0', 10);
}

static inline __m128i octet_letters(__m128i v)
{
    return octet_range(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'a', 26);
}

/* Is one of OCTET_BLOCK octets a digit? */
static inline bool octet_has_digit(const char *at)
{
    __m128i found = octet_digits(octet_load(at, 16));

    for (unsigned i = 16; i < OCTET_BLOCK; i += 16)
        found = _mm_or_si128(found, octet_digits(octet_load(at + i, 16)));
    return octet_mask(found) != 0;
}

/* Of 16 octets, from bit `i` on. */
static inline void octet_words_add(struct octet_words *w, const char *at,
                                   unsigned i)
{
    __m128i v = octet_load(at + i, 16);

    w->odd |= octet_mask(_mm_slli_epi16(v, 7)) << i;
    w->ideographs |= octet_mask(octet_range(v, 0xe3, 7)) << i;
    v = _mm_or_si128(v, _mm_or_si128(octet_digits(v), octet_letters(v)));
    w->all |= octet_mask(v) << i;
}

/* Of OCTET_BLOCK octets. In a loop that is not unrolled, shifts cost more. */
static inline struct octet_words octet_words(const char *at)
{
    struct octet_words w = {0, 0, 0};

    octet_words_add(&w, at, 0);
    octet_words_add(&w, at, 16);
    octet_words_add(&w, at, 32);
    octet_words_add(&w, at, 48);
    return w;
}

/* Of OCTET_BLOCK octets. */
static inline struct octet_markup octet_markup(const char *at)
{
    struct octet_markup m = {0, 0, 0};

    for (unsigned i = 0; i < OCTET_BLOCK; i += 16) {
        __m128i v = octet_load(at + i, 16), digits = octet_digits(v);
        __m128i tags = _mm_cmpeq_epi8(_mm_or_si128(v, _mm_set1_epi8('<' ^ '>')),
                                      _mm_set1_epi8('>'));

        m.digits |= octet_mask(digits) << i;
        m.tags |= octet_mask(tags) << i;
        m.words |=
            octet_mask(_mm_or_si128(_mm_or_si128(v, digits), octet_letters(v)))
            << i;
    }
    return m;
}

/* Of `n` octets, OCTET_BLOCK at most. */
static inline struct octet_bits octet_bits(const char *at, unsigned n)
{
    struct octet_bits b = {0, 0};

    for (unsigned i = 0; i < n; i += 16) {
        __m128i v = octet_load(at + i, n - i);

        b.digits |= octet_mask(octet_digits(v)) << i;
        b.letters |= octet_mask(octet_letters(v)) << i;
    }
    return b;
}

/* Bit i: octet i of up to 16 is `c`. If that is zero, so are those behind. */
static inline unsigned octet_equal(const char *at, unsigned n, char c)
{
    return (unsigned)_mm_movemask_epi8(
        _mm_cmpeq_epi8(octet_load(at, n), _mm_set1_epi8(c)));
}

/* Bit i: octet i of up to 16 is no printable character of ASCII, or one of the
 * four in `c`. */
static inline unsigned octet_unprintable_or(const char *at, unsigned n,
                                            const char c[4])
{
    __m128i v = octet_load(at, n);
    __m128i found = _mm_cmplt_epi8(v, _mm_set1_epi8(' '));

    found = _mm_or_si128(found, _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f)));
    for (unsigned i = 0; i < 4; i++)
        found = _mm_or_si128(found, _mm_cmpeq_epi8(v, _mm_set1_epi8(c[i])));
    return (unsigned)_mm_movemask_epi8(found) & ((1U << n) - 1);
}

/* Copies up to 16 octets, with a space for each octet of white space (that of
 * HTML); bit i of the result: octet i is one. There is room for 16 at `to`. */
static inline unsigned octet_fold(char *to, const char *at, unsigned n)
{
    __m128i v = octet_load(at, n), spaces = octet_spaces(v);

    v = _mm_or_si128(_mm_andnot_si128(spaces, v),
                     _mm_and_si128(spaces, _mm_set1_epi8(' ')));
    _mm_storeu_si128((__m128i *)(void *)to, v);
    return (unsigned)_mm_movemask_epi8(spaces);
}

/* How many of `n` octets are `c`. */
static inline uint64_t octet_count(const char *at, size_t n, char c)
{
    __m128i found = _mm_setzero_si128(); /* 255 for each, in two halves */
    uint64_t halves[2], rest = 0;
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(at + i));

        v = _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
        found = _mm_add_epi64(found, _mm_sad_epu8(v, _mm_setzero_si128()));
    }
    for (; i < n; i++)
        rest += at[i] == c;
    memcpy(halves, &found, sizeof halves);
    return rest + (halves[0] + halves[1]) / 255;
}

#else

static inline bool octet_has_digit(const char *at)
{
    for (unsigned i = 0; i < OCTET_BLOCK; i++)
        if (ascii_is_digit(at[i]))
            return true;
    return false;
}

static inline struct octet_words octet_words(const char *at)
{
    struct octet_words w = {0, 0, 0};

    for (unsigned i = 0; i < OCTET_BLOCK; i++) {
        unsigned char c = (unsigned char)at[i];

        w.all |= (uint64_t)(ascii_is_alnum(at[i]) || c >= 0x80) << i;
        w.ideographs |= (uint64_t)(c >= 0xe3 && c <= 0xe9) << i;
        w.odd |= (uint64_t)(c & 1) << i;
    }
    return w;
}

static inline struct octet_markup octet_markup(const char *at)
{
    struct octet_markup m = {0, 0, 0};

    for (unsigned i = 0; i < OCTET_BLOCK; i++) {
        unsigned char c = (unsigned char)at[i];

        m.words |= (uint64_t)(ascii_is_alnum(at[i]) || c >= 0x80) << i;
        m.digits |= (uint64_t)ascii_is_digit(at[i]) << i;
        m.tags |= (uint64_t)(c == '<' || c == '>') << i;
    }
    return m;
}

static inline struct octet_bits octet_bits(const char *at, unsigned n)
{
    struct octet_bits b = {0, 0};

    for (unsigned i = 0; i < n; i++) {
        b.digits |= (uint64_t)ascii_is_digit(at[i]) << i;
        b.letters |= (uint64_t)ascii_is_letter(at[i]) << i;
    }
    return b;
}

static inline unsigned octet_equal(const char *at, unsigned n, char c)
{
    unsigned all = 0;

    for (unsigned i = 0; i < n && i < 16; i++)
        all |= (unsigned)(at[i] == c) << i;
    return all;
}

static inline unsigned octet_unprintable_or(const char *at, unsigned n,
                                            const char c[4])
{
    unsigned all = 0;

    for (unsigned i = 0; i < n && i < 16; i++) {
        unsigned char octet = (unsigned char)at[i];

        all |= (unsigned)(octet < ' ' || octet >= 0x7f ||
                          memchr(c, octet, 4) != NULL)
               << i;
    }
    return all;
}

static inline unsigned octet_fold(char *to, const char *at, unsigned n)
{
    unsigned all = 0;

    for (unsigned i = 0; i < n && i < 16; i++) {
        bool space = ascii_is_space(at[i]);

        to[i] = space ? ' ' : at[i];
        all |= (unsigned)space << i;
    }
    return all;
}

static inline uint64_t octet_count(const char *at, size_t n, char c)
{
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += at[i] == c;
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
