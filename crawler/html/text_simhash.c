/* SPDX-License-Identifier: MIT */
/*
 * text_simhash.c - a fingerprint of a text in which near texts are near.
 *
 * Each bit of a shingle's hash votes for that bit of the fingerprint. Counting
 * the votes of 64 bits one by one costs more than all the rest; a table spreads
 * eight bits over eight octets, so that one addition counts eight of them.
 */
#include "crawler/html/text_simhash.h"

#include <endian.h>
#include <string.h>

#include "base/ascii.h"

#define PACKED_MOST 255 /* an octet's */

/* ---- votes ---- */

static uint64_t spread[256]; /* bit i of the index in octet i */
static bool is_word[256];

__attribute__((constructor)) static void fill_tables(void)
{
    for (unsigned n = 0; n < 256; n++) {
        for (unsigned bit = 0; bit < 8; bit++)
            spread[n] |= (uint64_t)(n >> bit & 1) << 8 * bit;
        is_word[n] = n >= 0x80 || ascii_is_alnum((char)n);
    }
}

static void unpack(struct text_simhash *s)
{
    for (unsigned i = 0; i < 64; i++)
        s->count[i] += s->packed[i / 8] >> 8 * (i % 8) & 0xff;
    memset(s->packed, 0, sizeof s->packed);
    s->unpacked = 0;
}

static void vote(struct text_simhash *s, uint64_t hash)
{
    for (unsigned i = 0; i < 8; i++)
        s->packed[i] += spread[hash >> 8 * i & 0xff];
    if (++s->unpacked == PACKED_MOST)
        unpack(s);
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

void text_simhash_begin(struct text_simhash *s)
{
    memset(s, 0, sizeof *s);
}

void text_simhash_add(struct text_simhash *s, struct bytes piece)
{
    const unsigned char *at = (const unsigned char *)piece.at;

    for (size_t i = 0; i < piece.len;) {
        size_t begin;

        while (i < piece.len && !is_word[at[i]])
            i++;
        begin = i;
        while (i < piece.len && is_word[at[i]])
            i++;
        if (i > begin)
            add_word(s, bytes_of(piece.at + begin, i - begin),
                     piece.len - begin);
    }
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
        print |= (uint64_t)(2 * (uint64_t)s->count[i] > shingles) << i;
    return print != 0 ? print : 1; /* 0 says that there is none */
}
