/* SPDX-License-Identifier: MIT */
/*
 * import_marshal.c - reads a request of Scrapy that marshal wrote.
 *
 *     object = type [payload], the type's highest bit set: number the object
 *     0 ends a dictionary    N F T S .  constants
 *     i 4    I 8    g 8    y 16 octets    l  n, and |n| digits of 2 octets
 *     f 1+n    x  two of them    s t u a A  4+n    z Z  1+n
 *     r  the number of an object before it
 *     ( [ < >  4, the count, and the objects    )  1, the same    :  3 objects
 *     {  keys and values in turn, to the end sign
 *
 * Objects within objects are a stack of how many are to come. Numbers are given
 * where an object begins, so that a dictionary has its own before its keys.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "job/import/import_request.h"

#define DEPTH_MOST   200
#define NUMBERS_MOST 1024 /* objects whose text can be repeated */
#define NUMBERED     0x80
#define NO_END       INT64_C(-1) /* a dictionary: until its end sign */

struct walk {
    struct bytes in;
    size_t at;
    int64_t to_come[DEPTH_MOST];
    size_t depth;
    struct bytes numbered[NUMBERS_MOST]; /* at NULL: it is no text */
    size_t number_count;
    struct bytes text; /* of the object that ended last; at NULL: none */
};

static bool take(struct walk *w, uint64_t n, struct bytes *out)
{
    if (n > w->in.len - w->at)
        return false;
    *out = bytes_of(w->in.at + w->at, (size_t)n);
    w->at += (size_t)n;
    return true;
}

/* A number of `size` octets, little-endian; of four it is signed. */
static bool take_number(struct walk *w, size_t size, int64_t *out)
{
    struct bytes b;
    uint32_t n = 0;

    if (!take(w, size, &b))
        return false;
    for (size_t i = size; i > 0; i--)
        n = n << 8 | (unsigned char)b.at[i - 1];
    *out = (int32_t)n;
    return true;
}

/* Data after its length. */
static enum import_request_said take_sized(struct walk *w, size_t size,
                                           unsigned each, struct bytes *out)
{
    int64_t n;

    if (!take_number(w, size, &n))
        return IMPORT_REQUEST_CUT;
    if (n < 0 && each == 1)
        return IMPORT_REQUEST_BAD;
    return take(w, (uint64_t)(n < 0 ? -n : n) * each, out) ? IMPORT_REQUEST_OK
                                                           : IMPORT_REQUEST_CUT;
}

static enum import_request_said open_objects(struct walk *w, int64_t count)
{
    if (w->depth == DEPTH_MOST)
        return IMPORT_REQUEST_BAD;
    w->to_come[w->depth++] = count;
    return IMPORT_REQUEST_OK;
}

static enum import_request_said open_counted(struct walk *w, size_t size)
{
    int64_t n;

    if (!take_number(w, size, &n))
        return IMPORT_REQUEST_CUT;
    return n < 0 ? IMPORT_REQUEST_BAD : open_objects(w, n);
}

static enum import_request_said repeat(struct walk *w)
{
    int64_t n;

    if (!take_number(w, 4, &n))
        return IMPORT_REQUEST_CUT;
    if (n < 0 || (uint64_t)n >= w->number_count)
        return IMPORT_REQUEST_BAD;
    if (n < NUMBERS_MOST)
        w->text = w->numbered[n];
    return IMPORT_REQUEST_OK;
}

/* What an object of a constant size has behind its type; -1: it has another. */
static int size_of(unsigned char type)
{
    switch (type) {
    case 'N':
    case 'F':
    case 'T':
    case 'S':
    case '.':
        return 0;
    case 'i':
        return 4;
    case 'I':
    case 'g':
        return 8;
    case 'y':
        return 16;
    default:
        return -1;
    }
}

/* Takes the payload of an object, without the objects in it. */
static enum import_request_said take_payload(struct walk *w, unsigned char type)
{
    enum import_request_said said;
    struct bytes skipped;

    if (size_of(type) >= 0)
        return take(w, (uint64_t)size_of(type), &skipped) ? IMPORT_REQUEST_OK
                                                          : IMPORT_REQUEST_CUT;
    switch (type) {
    case 's':
        return take_sized(w, 4, 1, &skipped);
    case 'f':
        return take_sized(w, 1, 1, &skipped);
    case 'x':
        said = take_sized(w, 1, 1, &skipped);
        return said == IMPORT_REQUEST_OK ? take_sized(w, 1, 1, &skipped) : said;
    case 'l':
        return take_sized(w, 4, 2, &skipped);
    case 't':
    case 'u':
    case 'a':
    case 'A':
        return take_sized(w, 4, 1, &w->text);
    case 'z':
    case 'Z':
        return take_sized(w, 1, 1, &w->text);
    case 'r':
        return repeat(w);
    case '(':
    case '[':
    case '<':
    case '>':
        return open_counted(w, 4);
    case ')':
        return open_counted(w, 1);
    case ':':
        return open_objects(w, 3);
    case '{':
        return open_objects(w, NO_END);
    default:
        return IMPORT_REQUEST_BAD;
    }
}

/* Takes one object's beginning, or the end sign of a dictionary. */
static enum import_request_said step(struct walk *w)
{
    enum import_request_said said;
    unsigned char code;
    size_t number;

    if (w->at == w->in.len)
        return IMPORT_REQUEST_CUT;
    code = (unsigned char)w->in.at[w->at++];
    w->text = bytes_of(NULL, 0);
    if (code == '0') {
        if (w->to_come[w->depth - 1] != NO_END)
            return IMPORT_REQUEST_BAD;
        w->to_come[w->depth - 1] = 0;
        return IMPORT_REQUEST_OK;
    }
    if (w->to_come[w->depth - 1] != NO_END)
        w->to_come[w->depth - 1]--;
    number = w->number_count;
    w->number_count += (code & NUMBERED) != 0;
    said = take_payload(w, code & (unsigned char)~NUMBERED);
    if ((code & NUMBERED) != 0 && number < NUMBERS_MOST)
        w->numbered[number] = w->text;
    return said;
}

static void close_objects(struct walk *w)
{
    while (w->depth > 0 && w->to_come[w->depth - 1] == 0)
        w->depth--;
}

enum import_request_said import_request_marshalled(struct bytes in,
                                                   struct import_request *out)
{
    struct walk w = {.in = in, .at = 1};
    enum import_request_said said = IMPORT_REQUEST_OK;
    struct bytes key = {0};
    bool is_value = false;

    if (in.len == 0)
        return IMPORT_REQUEST_CUT;
    if (((unsigned char)in.at[0] & ~NUMBERED) != '{')
        return IMPORT_REQUEST_BAD;
    w.number_count = (in.at[0] & NUMBERED) != 0;
    w.to_come[w.depth++] = NO_END;
    while (said == IMPORT_REQUEST_OK && w.depth > 0) {
        const bool is_outer = w.depth == 1;

        said = step(&w);
        if (is_outer && is_value && key.at != NULL && w.text.at != NULL)
            import_request_pair(out, key, w.text);
        if (is_outer) {
            key = w.text;
            is_value = !is_value;
        }
        close_objects(&w);
    }
    out->len = w.at;
    return said;
}
