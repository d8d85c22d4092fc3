/*
 * ascii.h - classes of ASCII characters, without a locale.
 *
 * Octets over 0x7f belong to no class. Any thread.
 */
#ifndef URLWEIR_BASE_ASCII_H
#define URLWEIR_BASE_ASCII_H

#include <stdbool.h>

static inline bool ascii_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static inline bool ascii_is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

static inline bool ascii_is_alnum(char c)
{
    return ascii_is_digit(c) || ascii_is_letter(c);
}

/* Space, tab, LF, FF, CR: the white space of HTML. */
static inline bool ascii_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* 0 to 15; -1: not a hexadecimal digit. */
static inline int ascii_hex(char c)
{
    if (ascii_is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
