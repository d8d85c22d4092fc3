/* SPDX-License-Identifier: MIT */
/*
 * text_simhash.c - a fingerprint of a text in which near texts are near.
 *
 * A page comes in hundreds of short pieces, and what a processor cannot foresee
 * (where a piece ends, how long a word is) costs more than the arithmetic. So
 * pieces are collected first; then all words are hashed, then all shingles,
 * with hardly a branch that depends on the text.
 *
 * Each bit of a shingle's hash votes for that bit of the fingerprint. Votes are
 * kept as numbers whose k-th bits stand in one word, and 32 hashes are added
 * at a time, two beside each other (carry-save adders; W. Mula, N. Kurz and
 * D. Lemire, Faster population counts using AVX2 instructions, The Computer
 * Journal 2018).
 */
#include "crawler/html/text_simhash.h"

#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "base/octet_block.h"

#define SHINGLES 32 /* counted at a time */

/* ---- votes ---- */

/* Two words that are worked on together. */
typedef uint64_t pair __attribute__((vector_size(16)));

/* For each bit, *sum + x + y as a number of two bits. */
static inline pair add_pairs(pair *sum, pair x, pair y)
{
    pair either = *sum ^ x, carry = (*sum & x) | (either & y);

    *sum = either ^ y;
    return carry;
}

/* Adds eight hashes to ones and twos; returns the fours. */
static inline pair add_eight(pair sum[4], const uint64_t *hashes)
{
    pair v[4], twos;

    memcpy(v, hashes, sizeof v);
    twos = add_pairs(&sum[0], v[0], v[1]);
    return add_pairs(&sum[1], twos, add_pairs(&sum[0], v[2], v[3]));
}

static inline pair add_sixteen(pair sum[4], const uint64_t *hashes)
{
    pair fours = add_eight(sum, hashes);

    return add_pairs(&sum[2], fours, add_eight(sum, hashes + 8));
}

/* Adds 2^k to the votes for the bits of `to`. There are `most` in all: as many
 * bits each time are foreseen, as many as have a carry are not. */
static inline void add_votes(struct text_simhash *s, unsigned k, pair to,
                             uint64_t most)
{
    for (; most >> k != 0; k++) {
        pair votes, carry;

        memcpy(&votes, s->votes[k], sizeof votes);
        carry = votes & to;
        votes ^= to;
        memcpy(s->votes[k], &votes, sizeof votes);
        to = carry;
    }
}

static void count(struct text_simhash *s, const uint64_t hashes[SHINGLES])
{
    pair sum[4], sixteens;

    memcpy(sum, s->votes, sizeof sum);
    sixteens = add_sixteen(sum, hashes);
    sixteens = add_pairs(&sum[3], sixteens, add_sixteen(sum, hashes + 16));
    memcpy(s->votes, sum, sizeof sum);
    add_votes(s, 4, sixteens, s->shingles);
}

/* The bits that more than `half` votes are for. */
static uint64_t majority(const struct text_simhash *s, uint64_t half)
{
    uint64_t above = 0, carry = 0;

    for (unsigned k = 0; k < TEXT_SIMHASH_VOTES; k++) {
        uint64_t a = s->votes[k][0], b = s->votes[k][1];
        uint64_t votes = a ^ b ^ carry, bit = half >> k & 1 ? UINT64_MAX : 0;

        carry = (a & b) | (carry & (a ^ b));
        /* What is above or not in a higher bit is so whatever these say. */
        above = (votes & ~bit) | (above & ~(votes ^ bit));
    }
    return above;
}

/* ---- shingles ---- */

__extension__ typedef unsigned __int128 u128;

static inline uint64_t rotated(uint64_t v, unsigned n)
{
    return v << n | v >> (64 - n);
}

/* Of `n` shingles, SHINGLES at most. */
static inline void add_shingles(struct text_simhash *s, const uint64_t *word,
                                size_t n)
{
    uint64_t hashes[SHINGLES], before = rotated(word[0], 21) ^ word[1];

    for (size_t i = 0; i < n; i++) {
        u128 product =
            (u128)(rotated(before, 21) ^ word[i + 2]) * 0x87c37b91114253d5;
        uint64_t high = (uint64_t)(product >> 64);

        hashes[i] = (uint64_t)product ^ high;
        before = rotated(word[i + 1], 21) ^ word[i + 2];
    }
    for (size_t i = n; i < SHINGLES; i++)
        hashes[i] = 0; /* no votes */
    s->shingles += n;
    count(s, hashes);
}

static void take_shingles(struct text_simhash *s)
{
    size_t i = 0;

    for (; s->words - i >= SHINGLES + TEXT_SIMHASH_WORDS - 1; i += SHINGLES)
        add_shingles(s, &s->word[i], SHINGLES);
    s->words -= i;
    memmove(s->word, &s->word[i], s->words * sizeof s->word[0]);
}

/* ---- words ---- */

#define SHORT 16 /* octets that most words have at most */

/* keep[8 + n]: the first n octets of a number, none below 8, all above 16. */
static const uint64_t keep[SHORT + 9] = {
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    UINT64_C(0xff),
    UINT64_C(0xffff),
    UINT64_C(0xffffff),
    UINT64_C(0xffffffff),
    UINT64_C(0xffffffffff),
    UINT64_C(0xffffffffffff),
    UINT64_C(0xffffffffffffff),
    UINT64_MAX,
    UINT64_MAX,
    UINT64_MAX,
    UINT64_MAX,
    UINT64_MAX,
    UINT64_MAX,
    UINT64_MAX,
    UINT64_MAX,
    UINT64_MAX,
};

static inline uint64_t load(const char *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof v);
    return le64toh(v);
}

/* `n` octets of a word, none of which is zero. SHORT can be read there. */
static inline uint64_t hash_short(const char *at, size_t n)
{
    uint64_t low = load(at) & keep[8 + n], high = load(at + 8) & keep[n];

    return (low ^ high * 0xff51afd7ed558ccd) * 0x9e3779b97f4a7c15;
}

static uint64_t hash_long(const char *at, size_t n)
{
    uint64_t h = 0;

    for (; n > SHORT; n -= SHORT, at += SHORT) {
        h = (h ^ hash_short(at, SHORT)) * 0xbf58476d1ce4e5b9;
        h ^= h >> 32;
    }
    return h ^ hash_short(at, n);
}

/* Adds words of the most octets until what is left has no more than that. */
static size_t split(struct text_simhash *s, const char **at, size_t n)
{
    for (; n > TEXT_SIMHASH_WORD; n -= TEXT_SIMHASH_WORD) {
        s->word[s->words++] = hash_long(*at, TEXT_SIMHASH_WORD);
        *at += TEXT_SIMHASH_WORD;
    }
    return n;
}

static __attribute__((noinline)) void add_long(struct text_simhash *s,
                                               const char *at, size_t n)
{
    n = split(s, &at, n);
    s->word[s->words++] = hash_long(at, n);
}

/* There is one. */
static inline size_t take_place(uint64_t *places)
{
    unsigned place = (unsigned)__builtin_ctzll(*places);

    *places &= *places - 1;
    return place;
}

/* Hashes the words of the collected text but one that reaches its end, which
 * goes to its beginning. */
static void take_words(struct text_simhash *s)
{
    const char *end = s->text + s->len, *begin = NULL;
    size_t words = s->words;
    /* Does a word go on in the next block, and behind an odd octet? */
    uint64_t inside = 0, odd = 0;

    memset(s->text + s->len, 0, OCTET_BLOCK);
    for (const char *block = s->text; block < end; block += OCTET_BLOCK) {
        struct octet_words w = octet_words(block);
        uint64_t behind = w.all << 1 | inside;
        uint64_t cuts = w.ideographs & (w.odd << 1 | odd);
        uint64_t ends = behind & (~w.all | cuts);
        uint64_t begins = w.all & (~behind | cuts);

        /* For the beginning that is taken behind the last end. */
        begins |= UINT64_C(1) << (OCTET_BLOCK - 1);
        if (inside == 0)
            begin = block + take_place(&begins);
        while (ends != 0) {
            size_t n = (size_t)(block + take_place(&ends) - begin);

            if (n <= SHORT) {
                s->word[words++] = hash_short(begin, n);
            } else {
                s->words = words;
                add_long(s, begin, n);
                words = s->words;
            }
            begin = block + take_place(&begins);
        }
        inside = w.all >> (OCTET_BLOCK - 1);
        odd = w.odd >> (OCTET_BLOCK - 1);
    }
    s->words = words;
    s->len = 0;
    if (inside != 0) {
        s->len = split(s, &begin, (size_t)(end - begin));
        memmove(s->text, begin, s->len);
    }
    take_shingles(s);
}

void text_simhash_begin(struct text_simhash *s)
{
    memset(s, 0, offsetof(struct text_simhash, word));
}

/* Copies most pieces, which are short, without a call. */
static inline void copy(char *to, const char *at, size_t n)
{
    if (n > 64) {
        memcpy(to, at, n);
    } else if (n >= 32) {
        memcpy(to, at, 32);
        memcpy(to + n - 32, at + n - 32, 32);
    } else if (n >= 16) {
        memcpy(to, at, 16);
        memcpy(to + n - 16, at + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, at, 8);
        memcpy(to + n - 8, at + n - 8, 8);
    } else if (n > 0) {
        uint64_t v = htole64(octet_number(at, n));

        memcpy(to, &v, 8);
    }
}

void text_simhash_add(struct text_simhash *s, struct bytes piece)
{
    size_t room;

    while (piece.len >= (room = TEXT_SIMHASH_TEXT - s->len)) {
        memcpy(s->text + s->len, piece.at, room);
        s->len += room;
        take_words(s);
        piece = bytes_of(piece.at + room, piece.len - room);
    }
    copy(s->text + s->len, piece.at, piece.len);
    s->len += piece.len;
    s->text[s->len++] = '\0'; /* ends a word */
}

uint64_t text_simhash_end(struct text_simhash *s)
{
    uint64_t print;

    take_words(s);
    if (s->words >= TEXT_SIMHASH_WORDS)
        add_shingles(s, s->word, s->words - TEXT_SIMHASH_WORDS + 1);
    if (s->shingles < TEXT_SIMHASH_LEAST)
        return 0;
    print = majority(s, s->shingles / 2);
    return print != 0 ? print : 1; /* 0 says that there is none */
}
