/* SPDX-License-Identifier: MIT */
/*
 * html_markup.c - values of attributes in the markup for libxml2.
 *
 * References would not do: XML has none for most control characters, nor for
 * octets that are not UTF-8. And libxml2 hands out a value of plain ASCII where
 * it stands in its input, while it copies one with references, line ends or
 * other characters, character by character.
 */
#include "crawler/html/html_markup.h"

#include <assert.h>
#include <string.h>

#include "base/ascii.h"
#include "base/octet_block.h"

/* The octets at the beginning of `value` that stand for themselves. */
static size_t same_octets(struct bytes value)
{
    size_t i = 0;

    for (; i < value.len; i += 16) {
        unsigned n = value.len - i < 16 ? (unsigned)(value.len - i) : 16;
        unsigned other = octet_unprintable_or(value.at + i, n, "\"&<\\");

        if (other != 0)
            return i + (unsigned)__builtin_ctz(other);
    }
    return value.len;
}

bool html_markup_is_same(struct bytes value)
{
    return same_octets(value) == value.len;
}

static void write_octet(struct buf *out, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";

    buf_add(out, (char[]){'\\', digits[c >> 4], digits[c & 15]}, 3);
}

void html_markup_write(struct buf *out, struct bytes value)
{
    size_t at = out->len;

    for (size_t i = 0; i < value.len; i++) {
        size_t same = same_octets(bytes_skip(value, i));

        buf_add(out, value.at + i, same);
        i += same;
        if (i < value.len && value.at[i] != '\0')
            write_octet(out, (unsigned char)value.at[i]);
    }
    if (out->len - at > MARKUP_VALUE_MOST)
        buf_truncate(out, at);
}

bool html_markup_is_coded(struct bytes written)
{
    return memchr(written.at, '\\', written.len) != NULL;
}

void html_markup_read(struct buf *out, struct bytes written)
{
    const char *at = written.at, *end = at + written.len, *next;
    int high, low;

    while ((next = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        assert(end - next >= 3);
        buf_add(out, at, (size_t)(next - at));
        high = ascii_hex(next[1]);
        low = ascii_hex(next[2]);
        assert(high >= 0 && low >= 0);
        buf_add_char(out, (char)(high << 4 | low));
        at = next + 3;
    }
    buf_add(out, at, (size_t)(end - at));
}
