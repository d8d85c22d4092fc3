/* SPDX-License-Identifier: MIT */
/* bytes.c - a borrowed run of bytes. */
#include "base/bytes.h"
#include "base/ascii.h"

bool bytes_equal_nocase(struct bytes a, struct bytes b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (ascii_lower(a.at[i]) != ascii_lower(b.at[i]))
            return false;
    return true;
}

bool bytes_starts_with(struct bytes a, const char *prefix)
{
    size_t n = strlen(prefix);

    return a.len >= n && memcmp(a.at, prefix, n) == 0;
}

bool bytes_ends_with(struct bytes a, const char *suffix)
{
    size_t n = strlen(suffix);

    return a.len >= n && memcmp(a.at + (a.len - n), suffix, n) == 0;
}

size_t bytes_past_space(struct bytes a, size_t i)
{
    while (i < a.len && ascii_is_space(a.at[i]))
        i++;
    return i;
}

struct bytes bytes_trim(struct bytes a)
{
    while (a.len > 0 && ascii_is_space(a.at[0])) {
        a.at++;
        a.len--;
    }
    while (a.len > 0 && ascii_is_space(a.at[a.len - 1]))
        a.len--;
    return a;
}

/* The length of the blank that `a` begins with, 0: none. */
static size_t blank_length(struct bytes a)
{
    static const char *const more[] = {"\xc2\x85",     "\xc2\xa0",
                                       "\xe1\x9a\x80", "\xe2\x80\xa8",
                                       "\xe2\x80\xa9", "\xe2\x80\xaf",
                                       "\xe2\x81\x9f", "\xe3\x80\x80",
                                       "\xef\xbb\xbf"};

    if (a.len > 0 && ascii_is_space(a.at[0]))
        return 1;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (bytes_starts_with(a, more[i]))
            return strlen(more[i]);
    /* U+2000 to U+200B */
    return bytes_starts_with(a, "\xe2\x80") && a.len > 2 &&
                   (unsigned char)a.at[2] <= 0x8b
               ? 3
               : 0;
}

struct bytes bytes_trim_blanks(struct bytes a)
{
    size_t n;

    while ((n = blank_length(a)) > 0)
        a = bytes_of(a.at + n, a.len - n);
    for (n = 1; n <= 3 && n <= a.len;)
        if (blank_length(bytes_of(a.at + a.len - n, n)) == n) {
            a.len -= n;
            n = 1;
        } else {
            n++;
        }
    return a;
}

/* Table 3-7 of the Unicode Standard: the first octet narrows only the second.
 */
size_t bytes_utf8_length(struct bytes a)
{
    const unsigned char *p = (const unsigned char *)a.at;
    unsigned char low = 0x80, high = 0xbf;
    size_t n;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    if (a.len < n || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    return n;
}

bool bytes_is_utf8(struct bytes a)
{
    while (a.len > 0) {
        size_t n = bytes_utf8_length(a);

        if (n == 0)
            return false;
        a = bytes_of(a.at + n, a.len - n);
    }
    return true;
}

bool bytes_from_hex(struct bytes text, unsigned char *out, size_t n)
{
    if (text.len / 2 != n || text.len % 2 != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        int high = ascii_hex(text.at[2 * i]),
            low = ascii_hex(text.at[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

bool bytes_take_number(struct bytes *s, size_t places, uint64_t *n)
{
    size_t most = places > 0 && places < s->len ? places : s->len, i = 0;
    uint64_t sum = 0;

    for (; i < most && ascii_is_digit(s->at[i]); i++)
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(s->at[i] - '0'), &sum))
            sum = UINT64_MAX;
    if (i == 0 || i < places)
        return false;
    *s = bytes_skip(*s, i);
    *n = sum;
    return true;
}

bool bytes_number(struct bytes s, uint64_t most, uint64_t *n)
{
    uint64_t read = 0;
    size_t digits = 1;

    for (uint64_t rest = most; rest > 9; rest /= 10)
        digits++;
    if (s.len == 0 || s.len > digits)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned char)s.at[i] - (unsigned)'0';

        if (digit > 9 || read > most / 10 || digit > most - read * 10)
            return false;
        read = read * 10 + digit;
    }
    *n = read;
    return true;
}
