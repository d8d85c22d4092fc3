/* SPDX-License-Identifier: MIT */
/*
 * text_digest.c - a digest of what a page says.
 *
 * Each chunk of the folded text is hashed behind the digest of the chunks
 * before it, as Merkle and Damgard chain blocks: memory is that of one chunk,
 * and XXH3's one-shot form is faster than its streaming form. Folding looks at
 * 64 octets at a time, of which most have no white space to leave out.
 */
#include "crawler/html/text_digest.h"

#include <assert.h>
#include <endian.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/octet_block.h"

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

    d = (struct digest){htobe64(d.hi), htobe64(d.lo)};
    memcpy(t->room, &d, sizeof d);
    t->len = 0;
}

/* Appends those of the `n` octets at `at` that are not in `twice`; they stand
 * where the text goes on, or further behind. */
static void keep_once(struct text_digest *t, const char *at, unsigned n,
                      uint64_t twice)
{
    for (unsigned from = 0; from < n;) {
        unsigned end = octet_next(twice, from);

        end = end < n ? end : n;
        memmove(t->room + sizeof(struct digest) + t->len, at + from,
                end - from);
        t->len += end - from;
        from = octet_next(~twice, end);
    }
}

/* Adds `n` octets, 1 to OCTET_BLOCK, for which there is room. */
static void fold(struct text_digest *t, const char *at, unsigned n)
{
    char *to = t->room + sizeof(struct digest) + t->len;
    uint64_t spaces = octet_fold(to, at, n);
    /* white space behind white space */
    uint64_t twice = spaces & (spaces << 1 | t->spaced);
    uint64_t begin = ~spaces & (spaces << 1 | t->spaced);

    assert(n > 0);
    t->words += (unsigned)__builtin_popcountll(begin << (OCTET_BLOCK - n));
    if (twice != 0)
        keep_once(t, to, n, twice);
    else
        t->len += n;
    t->spaced = (spaces >> (n - 1) & 1) != 0;
}

static void add(struct text_digest *t, const char *at, size_t n)
{
    while (n > 0) {
        size_t room = TEXT_DIGEST_CHUNK - t->len;
        size_t part = n < room ? n : room;

        part = part < OCTET_BLOCK ? part : OCTET_BLOCK;
        fold(t, at, (unsigned)part);
        at += part;
        n -= part;
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
        add(t, piece.at + begin, i - begin);
        end_word(t);
    }
}

void text_digest_add(struct text_digest *t, struct bytes piece)
{
    if (!t->numbers) {
        add_words(t, piece);
        return;
    }
    add(t, piece.at, piece.len);
    end_word(t);
}

struct digest text_digest_end(struct text_digest *t)
{
    struct digest d;

    end_chunk(t);
    memcpy(&d, t->room, sizeof d);
    return (struct digest){be64toh(d.hi) | 1, be64toh(d.lo)};
}
