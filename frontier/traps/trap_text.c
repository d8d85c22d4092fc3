/* SPDX-License-Identifier: MIT */
/*
 * trap_text.c - a tag of what a page says, without its numbers.
 *
 * One pass copies each octet, notes whether the word so far has a digit, and at
 * the end of the word takes it back if it has.
 */
#include "frontier/traps/trap_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { OTHER, LETTER, DIGIT };

static const unsigned char kinds[256] = {
    ['0'] = DIGIT,  ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT,
    ['4'] = DIGIT,  ['5'] = DIGIT,  ['6'] = DIGIT,  ['7'] = DIGIT,
    ['8'] = DIGIT,  ['9'] = DIGIT,  ['a'] = LETTER, ['b'] = LETTER,
    ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER, ['f'] = LETTER,
    ['g'] = LETTER, ['h'] = LETTER, ['i'] = LETTER, ['j'] = LETTER,
    ['k'] = LETTER, ['l'] = LETTER, ['m'] = LETTER, ['n'] = LETTER,
    ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER, ['r'] = LETTER,
    ['s'] = LETTER, ['t'] = LETTER, ['u'] = LETTER, ['v'] = LETTER,
    ['w'] = LETTER, ['x'] = LETTER, ['y'] = LETTER, ['z'] = LETTER,
    ['A'] = LETTER, ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER,
    ['E'] = LETTER, ['F'] = LETTER, ['G'] = LETTER, ['H'] = LETTER,
    ['I'] = LETTER, ['J'] = LETTER, ['K'] = LETTER, ['L'] = LETTER,
    ['M'] = LETTER, ['N'] = LETTER, ['O'] = LETTER, ['P'] = LETTER,
    ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER,
    ['U'] = LETTER, ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER,
    ['Y'] = LETTER, ['Z'] = LETTER,
};

/* The port does not count, nor does an address. */
static bool has_number(struct bytes url)
{
    const char *at = memmem(url.at, url.len, "://", 3);
    bool letter = false, digit = false;

    for (at = at != NULL ? at + 3 : url.at;
         at < url.at + url.len && *at != '/' && *at != ':'; at++) {
        letter |= kinds[(unsigned char)*at] == LETTER;
        digit |= kinds[(unsigned char)*at] == DIGIT;
    }
    if (letter && digit)
        return true;
    at = memchr(at, '/', (size_t)(url.at + url.len - at));
    for (; at != NULL && at < url.at + url.len; at++)
        if (kinds[(unsigned char)*at] == DIGIT)
            return true;
    return false;
}

static size_t leave_out_numbers(struct bytes body, char *out)
{
    size_t len = 0, word = 0; /* where the word began */
    bool number = false;

    for (size_t i = 0; i < body.len; i++) {
        unsigned char kind = kinds[(unsigned char)body.at[i]];

        if (kind == OTHER) {
            len = number ? word : len;
            number = false;
            word = len + 1;
        }
        number |= kind == DIGIT;
        out[len++] = body.at[i];
    }
    return number ? word : len;
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
