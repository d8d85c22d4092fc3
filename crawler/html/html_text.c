/* SPDX-License-Identifier: MIT */
/*
 * html_text.c - decodes text of a page: character references, line ends, zero
 * octets.
 *
 * Named references take the longest name that matches (section 13.2.5.73). The
 * names are sorted by octets, so those with a common prefix are neighbours, and
 * each further octet narrows the range.
 */
#include "crawler/html/html.h"

#include <stdint.h>
#include <string.h>

#include "base/ascii.h"
#include "base/octet_block.h"
#include "crawler/html/html_entities.h"

#define REPLACEMENT 0xfffd

/* The first of html_entities[low, high) whose octet `at` is not below `c`;
 * their octets before that are equal. */
static size_t first_not_below(size_t low, size_t high, size_t at,
                              unsigned char c)
{
    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if ((unsigned char)html_entities[mid].name[at] < c)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Nearly all references. No name goes on behind its semicolon. */
static const struct html_entity usual[] = {{"nbsp;", "\xc2\xa0"},
                                           {"lt;", "<"},
                                           {"gt;", ">"},
                                           {"quot;", "\""},
                                           {"amp;", "&"}};

static const struct html_entity *find_usual(struct bytes s, size_t *len)
{
    for (size_t i = 0; s.len > 0 && i < sizeof usual / sizeof usual[0]; i++) {
        if (s.at[0] != usual[i].name[0])
            continue;
        *len = strlen(usual[i].name);
        if (s.len >= *len && memcmp(s.at, usual[i].name, *len) == 0)
            return &usual[i];
    }
    return NULL;
}

/* The longest name at the beginning of `s`, or NULL. */
static const struct html_entity *find_entity(struct bytes s, size_t *len)
{
    const struct html_entity *found = NULL;
    size_t low = 0, high = HTML_ENTITY_COUNT;

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];

        if (c == 0 || c > 'z')
            break;
        low = first_not_below(low, high, i, c);
        high = first_not_below(low, high, i, (unsigned char)(c + 1));
        if (low == high)
            break;
        if (html_entities[low].name[i + 1] == '\0') {
            found = &html_entities[low];
            *len = i + 1;
        }
    }
    return found;
}

/* Section 13.2.5.80: numbers of the C1 range mean windows-1252 characters. */
static uint32_t repair_number(uint32_t n)
{
    static const uint16_t windows_1252[32] = {
        0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
        0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
        0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
        0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178,
    };

    if (n >= 0x80 && n < 0xa0 && windows_1252[n - 0x80] != 0)
        return windows_1252[n - 0x80];
    return n == 0 ? REPLACEMENT : n; /* buf_add_utf8 replaces other bad ones */
}

/* `s` begins after `&#`. Returns the octets used, 0 if it is not a
 * reference. */
static size_t add_number(struct buf *out, struct bytes s)
{
    bool hex = s.len > 0 && (s.at[0] | 0x20) == 'x';
    size_t begin = hex ? 1 : 0, i = begin;
    int base = hex ? 16 : 10, digit;
    uint32_t n = 0;

    while (i < s.len && (digit = ascii_hex(s.at[i])) >= 0 && digit < base) {
        n = n * (uint32_t)base + (uint32_t)digit;
        if (n > 0x10ffff)
            n = 0x110000; /* too large, and stays so */
        i++;
    }
    if (i == begin)
        return 0;
    buf_add_utf8(out, repair_number(n));
    return i < s.len && s.at[i] == ';' ? i + 1 : i;
}

/* `s` begins after `&`. Returns the octets used, 0 if it is not a reference. */
static size_t add_name(struct buf *out, struct bytes s, bool attribute)
{
    size_t len = 0;
    const struct html_entity *e = find_usual(s, &len);

    if (e == NULL)
        e = find_entity(s, &len);
    if (e == NULL)
        return 0;
    if (attribute && e->name[len - 1] != ';' && len < s.len &&
        (s.at[len] == '=' || ascii_is_alnum(s.at[len])))
        return 0;
    buf_add_str(out, e->text);
    return len;
}

static size_t add_reference(struct buf *out, struct bytes s, bool attribute)
{
    size_t used;

    if (s.len > 0 && s.at[0] == '#') {
        used = add_number(out, bytes_of(s.at + 1, s.len - 1));
        return used > 0 ? used + 1 : 0;
    }
    return add_name(out, s, attribute);
}

enum html_text_as html_text_as(enum html_state state)
{
    switch (state) {
    case HTML_DATA:
        return HTML_AS_DATA;
    case HTML_RCDATA:
        return HTML_AS_RCDATA;
    case HTML_CDATA:
        return HTML_AS_CDATA;
    default:
        return HTML_AS_RAW;
    }
}

/* The first octet from raw[i] on that may stand for others; raw.len: none. */
static size_t next_special(struct bytes raw, size_t i)
{
    for (; i < raw.len; i += 16) {
        const char *at = raw.at + i;
        unsigned n = raw.len - i < 16 ? (unsigned)(raw.len - i) : 16;
        uint64_t found = octet_equal(at, n, '&') | octet_equal(at, n, '\r') |
                         octet_equal(at, n, '\0');

        found &= octet_below(n);
        if (found != 0)
            return i + (unsigned)__builtin_ctzll(found);
    }
    return raw.len;
}

bool html_text_is_plain(struct bytes raw)
{
    return next_special(raw, 0) == raw.len;
}

/* Decodes the octet raw[i], which is not plain, and those that belong to it.
 * Returns how many there are. */
static size_t add_special(struct buf *out, struct bytes raw, size_t i,
                          enum html_text_as as)
{
    bool references = as != HTML_AS_RAW && as != HTML_AS_CDATA;
    bool keep_zero = as == HTML_AS_DATA || as == HTML_AS_CDATA;
    size_t used = 0;

    switch (raw.at[i]) {
    case '\r':
        if (i + 1 == raw.len || raw.at[i + 1] != '\n')
            buf_add_char(out, '\n');
        return 1;
    case '\0':
        buf_add_utf8(out, keep_zero ? 0 : REPLACEMENT);
        return 1;
    default:
        if (references)
            used = add_reference(out, bytes_of(raw.at + i + 1, raw.len - i - 1),
                                 as == HTML_AS_ATTRIBUTE);
        if (used == 0)
            buf_add_char(out, '&');
        return 1 + used;
    }
}

void html_text(struct buf *out, struct bytes raw, enum html_text_as as)
{
    for (size_t i = 0; i < raw.len;) {
        size_t special = next_special(raw, i);

        buf_add(out, raw.at + i, special - i);
        i = special;
        if (i < raw.len)
            i += add_special(out, raw, i, as);
    }
}
