/* SPDX-License-Identifier: MIT */
/*
 * trap_text.c - a tag of what a page says, without its numbers.
 *
 * A body is copied in blocks of 64 octets, most of which have no digit. Where
 * there is one, the bits of a block tell where its word begins and ends; a word
 * that began in an earlier block is taken back. What precedes a word is always
 * kept, so its beginning is found in what was copied.
 */
#include "frontier/traps/trap_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "base/octet_block.h"

/* The port does not count, nor does an address. */
static bool has_number(struct bytes url)
{
    const char *at = memmem(url.at, url.len, "://", 3);
    bool letter = false, digit = false;

    for (at = at != NULL ? at + 3 : url.at;
         at < url.at + url.len && *at != '/' && *at != ':'; at++) {
        letter |= ascii_is_letter(*at);
        digit |= ascii_is_digit(*at);
    }
    if (letter && digit)
        return true;
    at = memchr(at, '/', (size_t)(url.at + url.len - at));
    for (; at != NULL && at < url.at + url.len; at++)
        if (ascii_is_digit(*at))
            return true;
    return false;
}

/* What is left of a body so far. */
struct rest {
    char *out;
    size_t len;
    bool number; /* the last word has a digit, and may go on */
};

static inline void keep(struct rest *r, const char *at, unsigned n)
{
    memcpy(r->out + r->len, at, n);
    r->len += n;
}

/* Removes the word at the end. */
static void take_back(struct rest *r)
{
    while (r->len > 0 && ascii_is_alnum(r->out[r->len - 1]))
        r->len--;
}

/* Takes octets of a block up to its first octet `from` behind a word, and
 * leaves out words with one of `digits`. Returns behind the last of these. */
static unsigned leave_out(struct rest *r, const char *at, uint64_t words,
                          uint64_t digits, unsigned from)
{
    while (digits != 0) {
        unsigned digit = (unsigned)__builtin_ctzll(digits);
        uint64_t before = ~words & octet_below(digit);
        unsigned end = octet_next(~words, digit);

        if (before == 0) { /* it began in an earlier block */
            take_back(r);
        } else {
            unsigned begin = 64 - (unsigned)__builtin_clzll(before);

            keep(r, at + from, begin - from);
        }
        r->number = end == 64;
        digits &= ~octet_below(end);
        from = end;
    }
    return from;
}

/* `n`: OCTET_BLOCK at most, which all blocks but the last have. */
static void add_block(struct rest *r, const char *at, unsigned n)
{
    const struct octet_bits b = octet_bits(at, n);
    uint64_t words = b.digits | b.letters;
    unsigned from = 0;

    if (r->number) {
        from = octet_next(~words, 0);
        r->number = from == 64;
    }
    from = leave_out(r, at, words, b.digits & ~octet_below(from), from);
    if (!r->number)
        keep(r, at + from, n - from);
}

static size_t leave_out_numbers(struct bytes body, char *out)
{
    struct rest r = {.out = out};
    size_t i = 0;

    for (; i + OCTET_BLOCK <= body.len; i += OCTET_BLOCK) {
        if (r.number || octet_has_digit(body.at + i))
            add_block(&r, body.at + i, OCTET_BLOCK);
        else
            keep(&r, body.at + i, OCTET_BLOCK);
    }
    if (i < body.len)
        add_block(&r, body.at + i, (unsigned)(body.len - i));
    return r.len;
}

uint64_t trap_text_tag(const struct digest_key *k, struct bytes url,
                       struct bytes body)
{
    char *text;
    struct digest d;

    if (body.len == 0 || !has_number(url))
        return 0;
    if (body.len > TRAP_TEXT_READ)
        body.len = TRAP_TEXT_READ;
    text = xmalloc(body.len);
    d = digest_bytes(k, bytes_of(text, leave_out_numbers(body, text)));
    free(text);
    return d.hi | 1;
}
