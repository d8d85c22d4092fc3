/*
 * hex.h - hexadecimal digits of percent-escapes.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_HEX_H
#define URLWEIR_TESTS_SUPPORT_WEB_HEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

/* Value of a digit, either case; -1: not a digit. */
static inline int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The octet of the escape at s[i]; -1: there is none. */
static inline int hex_escape(struct bytes s, size_t i)
{
    int high, low;

    if (i + 2 >= s.len || s.at[i] != '%')
        return -1;
    high = hex_digit(s.at[i + 1]);
    low = hex_digit(s.at[i + 2]);
    return high >= 0 && low >= 0 ? high << 4 | low : -1;
}

#endif
