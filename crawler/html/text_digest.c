/* SPDX-License-Identifier: MIT */
/*
 * text_digest.c - a digest of what a page says.
 *
 * Each chunk of the folded text is hashed behind the digest of the chunks
 * before it, as Merkle and Damgard chain blocks: memory is that of one chunk,
 * and XXH3's one-shot form is faster than its streaming form. Folding looks at
 * 16 octets at a time, of which most have no white space to leave out. Each
 * word of the folded text has one space behind it, so words are counted there,
 * a chunk at a time.
 */
#include "crawler/html/text_digest.h"

#include <endian.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"

/* ---- short texts of a page: white space folded, and cut ---- */

void text_fold_begin(struct text_fold *t, struct buf *out, size_t most)
{
    *t = (struct text_fold){.out = out, .begin = out->len, .most = most};
}

struct bytes text_fold_get(const struct text_fold *t)
{
    struct bytes all = buf_bytes(t->out); /* never NULL */

    return t->begin <= all.len ? bytes_skip(all, t->begin) : bytes_of("", 0);
}

static bool is_space(char c)
{
    return c == '\0' || ascii_is_space(c);
}

/* Appends a word, as far as there is room for whole characters. */
static void add_word(struct text_fold *t, struct bytes word)
{
    size_t used = t->out->len - t->begin;
    size_t space = t->space && used > 0;
    size_t room = t->most - used;

    t->space = false;
    if (word.len + space > room) {
        t->full = true;
        if (room <= space)
            return;
        word.len = room - space;
        while (word.len > 0 &&
               ((unsigned char)word.at[word.len] & 0xc0) == 0x80)
            word.len--;
        if (word.len == 0)
            return;
    }
    if (space > 0)
        buf_add_char(t->out, ' ');
    buf_add_bytes(t->out, word);
}

void text_fold_add(struct text_fold *t, struct bytes piece)
{
    size_t i = 0;

    while (i < piece.len && !t->full) {
        size_t begin = i;

        while (i < piece.len && is_space(piece.at[i]))
            i++;
        t->space |= i > begin;
        begin = i;
        while (i < piece.len && !is_space(piece.at[i]))
            i++;
        if (i > begin)
            add_word(t, bytes_of(piece.at + begin, i - begin));
    }
}

void text_fold_list(struct buf *out, struct bytes text)
{
    struct text_fold t;

    if (out->len > 0 && out->ceiling - out->len > 2)
        buf_add_str(out, ", ");
    text_fold_begin(&t, out, out->ceiling - out->len);
    text_fold_add(&t, text);
}

/* ---- a fingerprint of a text in which near texts are near ---- */

/*
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

#define TEXT_SIMHASH_WORDS 3  /* of a shingle */
#define TEXT_SIMHASH_LEAST 16 /* shingles; a shorter text has no print */
#define TEXT_SIMHASH_WORD  64 /* octets of a word, at most */

#define SHINGLES           32 /* counted at a time */

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

/* kept_octets[8 + n]: the first n octets of a number, none below 8, all above
 * 16. */
static const uint64_t kept_octets[SHORT + 9] = {
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
    uint64_t low = load(at) & kept_octets[8 + n],
             high = load(at + 8) & kept_octets[n];

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

/* ---- text digest ---- */

/* Part of the file format: digests on disk depend on it. */
static const unsigned char public_seed[DIGEST_SEED_SIZE] =
    "urlweir text digest, no secret.";

static struct digest_key public_key;

__attribute__((constructor)) static void make_key(void)
{
    digest_key_init(&public_key, public_seed);
}

void text_digest_begin(struct text_digest *t, bool numbers)
{
    t->numbers = numbers;
    t->spaced = true;
    t->words = 0;
    t->len = 0;
    memset(t->room, 0, sizeof(struct digest));
}

struct digest text_digest_whole(struct bytes document)
{
    if (document.len == 0)
        return (struct digest){0, 0};
    return digest_bytes(&public_key, document);
}

static void end_chunk(struct text_digest *t)
{
    struct digest d =
        text_digest_whole(bytes_of(t->room, sizeof(struct digest) + t->len));

    t->words += octet_count(t->room + sizeof(struct digest), t->len, ' ');
    d = (struct digest){htobe64(d.hi), htobe64(d.lo)};
    memcpy(t->room, &d, sizeof d);
    t->len = 0;
}

#define FOLD_MOST 16 /* octets that are folded at a time */

/* Adds `n` octets, for which there is room. Behind a run of white space folding
 * begins again: nothing that was written is moved. */
static void fold(struct text_digest *t, const char *at, size_t n)
{
    char *begin = t->room + sizeof(struct digest), *to = begin + t->len;
    unsigned spaced = t->spaced;

    while (n > 0) {
        unsigned part = n < FOLD_MOST ? (unsigned)n : FOLD_MOST;
        unsigned spaces = octet_fold(to, at, part);
        /* white space behind white space */
        unsigned twice = spaces & (spaces << 1 | spaced), keep = part;

        if (twice != 0) {
            keep = (unsigned)__builtin_ctz(twice);
            part = keep + (unsigned)__builtin_ctz(~(twice >> keep));
        }
        spaced = spaces >> (part - 1) & 1;
        to += keep;
        at += part;
        n -= part;
    }
    t->spaced = spaced;
    t->len = (size_t)(to - begin);
}

static void add(struct text_digest *t, struct bytes text)
{
    while (text.len > 0) {
        size_t room = TEXT_DIGEST_CHUNK - t->len;
        size_t part = text.len < room ? text.len : room;

        fold(t, text.at, part);
        text = bytes_skip(text, part);
        if (t->len == TEXT_DIGEST_CHUNK)
            end_chunk(t);
    }
}

static void end_word(struct text_digest *t)
{
    if (t->spaced)
        return;
    t->room[sizeof(struct digest) + t->len++] = ' ';
    t->spaced = true;
    if (t->len == TEXT_DIGEST_CHUNK)
        end_chunk(t);
}

/* ---- without numbers ---- */

/* "Sep", "Sept." and "September" are all names. */
static bool names_a_date(const char *at, size_t n)
{
    static const char *const names[] = {
        "january",  "february", "march",    "april",     "may",
        "june",     "july",     "august",   "september", "october",
        "november", "december", "monday",   "tuesday",   "wednesday",
        "thursday", "friday",   "saturday", "sunday",
    };

    while (n > 0 && !ascii_is_alnum(at[0])) {
        at++;
        n--;
    }
    while (n > 0 && !ascii_is_alnum(at[n - 1]))
        n--;
    for (size_t i = 0; n >= 3 && i < sizeof names / sizeof *names; i++)
        if (n <= strlen(names[i]) && (n <= 4 || names[i][n] == '\0') &&
            strncasecmp(at, names[i], n) == 0)
            return true;
    return false;
}

static bool is_number(const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (at[i] >= '0' && at[i] <= '9')
            return true;
    return names_a_date(at, n);
}

static void add_words(struct text_digest *t, struct bytes piece)
{
    for (size_t i = 0; i < piece.len;) {
        size_t begin;

        while (i < piece.len && ascii_is_space(piece.at[i]))
            i++;
        begin = i;
        while (i < piece.len && !ascii_is_space(piece.at[i]))
            i++;
        if (i == begin)
            continue;
        if (is_number(piece.at + begin, i - begin)) {
            t->words++;
            continue;
        }
        add(t, bytes_of(piece.at + begin, i - begin));
        end_word(t);
    }
}

void text_digest_add(struct text_digest *t, struct bytes piece)
{
    if (!t->numbers) {
        add_words(t, piece);
        return;
    }
    add(t, piece);
    end_word(t);
}

struct digest text_digest_end(struct text_digest *t)
{
    struct digest d;

    end_chunk(t);
    memcpy(&d, t->room, sizeof d);
    return (struct digest){be64toh(d.hi) | 1, be64toh(d.lo)};
}
