/* SPDX-License-Identifier: MIT */
/*
 * text_simhash.c - a fingerprint of a text in which near texts are near.
 *
 * Each bit of a shingle's hash votes for that bit of the fingerprint. Counting
 * the votes of 64 bits one by one costs more than all the rest. So 32 hashes
 * are added at a time, two beside each other, as numbers whose n-th bits stand
 * in one vector (carry-save adders; W. Mula, N. Kurz and D. Lemire, Faster
 * population counts using AVX2 instructions, The Computer Journal 2018); of
 * these, only carries to 32 are counted, by a table that spreads eight bits
 * over eight octets.
 */
#include "crawler/html/text_simhash.h"

#include <endian.h>
#include <string.h>

#include "base/octet_block.h"

#define PACKED_MOST 255 /* an octet's */

/* ---- votes ---- */

static uint64_t spread[256]; /* bit i of the index in octet i */

__attribute__((constructor)) static void fill_table(void)
{
    for (unsigned n = 0; n < 256; n++)
        for (unsigned bit = 0; bit < 8; bit++)
            spread[n] |= (uint64_t)(n >> bit & 1) << 8 * bit;
}

static void unpack(struct text_simhash *s)
{
    for (unsigned i = 0; i < 64; i++)
        s->count[i] += (uint32_t)(s->packed[i / 8] >> 8 * (i % 8) & 0xff) * 32;
    memset(s->packed, 0, sizeof s->packed);
    s->unpacked = 0;
}

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

static void count_waiting(struct text_simhash *s)
{
    pair sum[4], sixteens;
    uint64_t either, carry;

    memcpy(sum, s->sum, sizeof sum);
    sixteens = add_sixteen(sum, s->waiting);
    sixteens = add_pairs(&sum[3], sixteens, add_sixteen(sum, s->waiting + 16));
    memcpy(s->sum, sum, sizeof sum);
    either = s->sixteens ^ sixteens[0];
    carry = (s->sixteens & sixteens[0]) | (either & sixteens[1]);
    s->sixteens = either ^ sixteens[1];
    for (unsigned i = 0; i < 8; i++)
        s->packed[i] += spread[carry >> 8 * i & 0xff];
    if (++s->unpacked == PACKED_MOST)
        unpack(s);
    s->waiting_count = 0;
}

static inline void vote(struct text_simhash *s, uint64_t hash)
{
    s->waiting[s->waiting_count++] = hash;
    if (s->waiting_count == TEXT_SIMHASH_WAITING)
        count_waiting(s);
}

/* All votes for bit `i`, when none waits. */
static uint32_t votes(const struct text_simhash *s, unsigned i)
{
    uint32_t n = s->count[i] + (uint32_t)(s->sixteens >> i & 1) * 16;

    for (unsigned k = 0; k < 4; k++)
        n += (uint32_t)((s->sum[k][0] >> i & 1) + (s->sum[k][1] >> i & 1)) << k;
    return n;
}

/* ---- words ---- */

/* The hash of three words in order; theirs are well mixed already. */
static uint64_t shingle(const uint64_t before[2], uint64_t word)
{
    uint64_t h = before[0] * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ before[1]) * UINT64_C(0xbf58476d1ce4e5b9);
    h ^= h >> 29;
    h = (h ^ word) * UINT64_C(0x94d049bb133111eb);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

/* keep[n]: the first n octets of a number. */
static const uint64_t keep[9] = {
    0,
    UINT64_C(0xff),
    UINT64_C(0xffff),
    UINT64_C(0xffffff),
    UINT64_C(0xffffffff),
    UINT64_C(0xffffffffff),
    UINT64_C(0xffffffffffff),
    UINT64_C(0xffffffffffffff),
    UINT64_MAX,
};

static inline uint64_t mix(uint64_t h, uint64_t octets)
{
    h = (h ^ octets) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

static inline uint64_t load(const char *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof v);
    return le64toh(v);
}

/* `room`: octets from the word's beginning to the end of the piece. Most words
 * have at most 8. */
static inline uint64_t hash_word(const char *at, size_t n, size_t room)
{
    uint64_t h = n * UINT64_C(0xd6e8feb86659fd93);

    for (; n > 8; n -= 8, room -= 8, at += 8)
        h = mix(h, load(at));
    return mix(h, room >= 8 ? load(at) & keep[n] : octet_number(at, n));
}

/* Adds a word; `room`: octets from its beginning to the end of the piece. */
static inline void add_word(struct text_simhash *s, struct text_words *w,
                            struct bytes word, size_t room)
{
    uint64_t hash = hash_word(word.at, word.len, room);

    if (++w->count >= TEXT_SIMHASH_WORDS)
        vote(s, shingle(w->hash, hash));
    w->hash[0] = w->hash[1];
    w->hash[1] = hash;
}

void text_simhash_begin(struct text_simhash *s)
{
    memset(s, 0, sizeof *s);
}

static inline const char *take_edge(const char *block, uint64_t *edges)
{
    const char *at = block + __builtin_ctzll(*edges);

    *edges &= *edges - 1;
    return at;
}

/* A copy of what is known of the words stays in registers meanwhile. After a
 * block that a word may reach past, an empty one ends it at the end of the
 * piece. */
void text_simhash_add(struct text_simhash *s, struct bytes piece)
{
    const char *end = piece.at + piece.len, *begin = NULL;
    struct text_words words = s->words;

    for (const char *block = piece.at; block < end || begin != NULL;) {
        size_t left = (size_t)(end - block);
        size_t n = left < OCTET_BLOCK ? left : OCTET_BLOCK;
        uint64_t mask = octet_words(block, (unsigned)n);
        /* Bit i: octet i begins a word, or is the first behind one. */
        uint64_t edges = mask ^ (mask << 1 | (begin != NULL));

        while (edges != 0) {
            const char *after;

            if (begin == NULL)
                begin = take_edge(block, &edges);
            if (edges == 0)
                break;
            after = take_edge(block, &edges);
            add_word(s, &words, bytes_of(begin, (size_t)(after - begin)),
                     (size_t)(end - begin));
            begin = NULL;
        }
        block += n;
    }
    s->words = words;
}

uint64_t text_simhash_end(struct text_simhash *s)
{
    uint64_t shingles = s->words.count < TEXT_SIMHASH_WORDS
                            ? 0
                            : s->words.count - TEXT_SIMHASH_WORDS + 1;
    uint64_t print = 0;

    if (shingles < TEXT_SIMHASH_LEAST)
        return 0;
    memset(&s->waiting[s->waiting_count], 0,
           (TEXT_SIMHASH_WAITING - s->waiting_count) * sizeof s->waiting[0]);
    count_waiting(s); /* zeros are no votes */
    unpack(s);
    for (unsigned i = 0; i < 64; i++)
        print |= (uint64_t)(2 * (uint64_t)votes(s, i) > shingles) << i;
    return print != 0 ? print : 1; /* 0 says that there is none */
}
