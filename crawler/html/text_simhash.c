/* SPDX-License-Identifier: MIT */
/*
 * text_simhash.c - a fingerprint of a text in which near texts are near.
 *
 * Each bit of a shingle's hash votes for that bit of the fingerprint. Counting
 * the votes of 64 bits one by one costs more than all the rest. So eight hashes
 * are added at a time, as numbers of four bits whose n-th bits stand in one
 * word (carry-save adders; W. Mula, N. Kurz and D. Lemire, Faster population
 * counts using AVX2 instructions, The Computer Journal 2018); of these, only
 * the eights are counted, by a table that spreads eight bits over eight octets.
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
        s->count[i] += (uint32_t)(s->packed[i / 8] >> 8 * (i % 8) & 0xff) * 8;
    memset(s->packed, 0, sizeof s->packed);
    s->unpacked = 0;
}

/* For each bit, *sum + x + y as a number of two bits. */
static uint64_t add_bits(uint64_t *sum, uint64_t x, uint64_t y)
{
    uint64_t either = *sum ^ x, carry = (*sum & x) | (either & y);

    *sum = either ^ y;
    return carry;
}

static void count_waiting(struct text_simhash *s)
{
    const uint64_t *v = s->waiting;
    uint64_t twos, twos2, fours, fours2, eights;

    twos = add_bits(&s->sum[0], v[0], v[1]);
    twos2 = add_bits(&s->sum[0], v[2], v[3]);
    fours = add_bits(&s->sum[1], twos, twos2);
    twos = add_bits(&s->sum[0], v[4], v[5]);
    twos2 = add_bits(&s->sum[0], v[6], v[7]);
    fours2 = add_bits(&s->sum[1], twos, twos2);
    eights = add_bits(&s->sum[2], fours, fours2);
    for (unsigned i = 0; i < 8; i++)
        s->packed[i] += spread[eights >> 8 * i & 0xff];
    if (++s->unpacked == PACKED_MOST)
        unpack(s);
    s->waiting_count = 0;
}

static void vote(struct text_simhash *s, uint64_t hash)
{
    s->waiting[s->waiting_count++] = hash;
    if (s->waiting_count == TEXT_SIMHASH_WAITING)
        count_waiting(s);
}

/* All votes for bit `i`. */
static uint32_t votes(const struct text_simhash *s, unsigned i)
{
    uint32_t n = s->count[i];

    for (unsigned k = 0; k < 3; k++)
        n += (uint32_t)(s->sum[k] >> i & 1) << k;
    for (unsigned k = 0; k < s->waiting_count; k++)
        n += (uint32_t)(s->waiting[k] >> i & 1);
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

/* The next 8 octets, of which `n` count; `room` may be read. */
static uint64_t load(const char *at, size_t n, size_t room)
{
    uint64_t v = 0;

    if (n >= 8 || room >= 8) {
        memcpy(&v, at, 8);
        v = le64toh(v);
        return n >= 8 ? v : v & ((UINT64_C(1) << 8 * n) - 1);
    }
    memcpy(&v, at, n);
    return le64toh(v);
}

/* `room`: octets from the word's beginning to the end of the piece. Most words
 * have at most 8, and are hashed without a call. */
static uint64_t hash_word(struct bytes word, size_t room)
{
    uint64_t h = word.len * UINT64_C(0xd6e8feb86659fd93);

    for (size_t i = 0; i < word.len; i += 8) {
        h ^= load(word.at + i, word.len - i, room - i);
        h *= UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    return h;
}

static void add_word(struct text_simhash *s, struct bytes word, size_t room)
{
    uint64_t hash = hash_word(word, room);

    if (++s->words >= TEXT_SIMHASH_WORDS)
        vote(s, shingle(s->word, hash));
    s->word[0] = s->word[1];
    s->word[1] = hash;
}

/* Bit i: whether octet i of `n` belongs to a word. */
static uint64_t word_octets(const char *at, size_t n)
{
    const struct octet_bits b = octet_bits(at, (unsigned)n);

    return b.digits | b.letters | b.high;
}

void text_simhash_begin(struct text_simhash *s)
{
    memset(s, 0, sizeof *s);
}

/* Adds the words that end in a block; `begin`: where one began that has not
 * ended, or NULL. Returns the same for the next block. */
static const char *add_block(struct text_simhash *s, const char *block,
                             uint64_t mask, const char *begin, const char *end)
{
    /* Bit i: octet i begins a word, or is the first behind one. */
    uint64_t edges = mask ^ (mask << 1 | (begin != NULL));

    for (; edges != 0; edges &= edges - 1) {
        const char *at = block + __builtin_ctzll(edges);

        if (begin == NULL) {
            begin = at;
        } else {
            add_word(s, bytes_of(begin, (size_t)(at - begin)),
                     (size_t)(end - begin));
            begin = NULL;
        }
    }
    return begin;
}

void text_simhash_add(struct text_simhash *s, struct bytes piece)
{
    const char *end = piece.at + piece.len, *begin = NULL;

    for (size_t i = 0; i < piece.len; i += OCTET_BLOCK) {
        size_t n = piece.len - i < OCTET_BLOCK ? piece.len - i : OCTET_BLOCK;

        begin = add_block(s, piece.at + i, word_octets(piece.at + i, n), begin,
                          end);
    }
    if (begin != NULL)
        add_word(s, bytes_of(begin, (size_t)(end - begin)),
                 (size_t)(end - begin));
}

uint64_t text_simhash_end(struct text_simhash *s)
{
    uint64_t shingles =
        s->words < TEXT_SIMHASH_WORDS ? 0 : s->words - TEXT_SIMHASH_WORDS + 1;
    uint64_t print = 0;

    if (shingles < TEXT_SIMHASH_LEAST)
        return 0;
    unpack(s);
    for (unsigned i = 0; i < 64; i++)
        print |= (uint64_t)(2 * (uint64_t)votes(s, i) > shingles) << i;
    return print != 0 ? print : 1; /* 0 says that there is none */
}
