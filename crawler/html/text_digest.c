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
