/* SPDX-License-Identifier: MIT */
/* bytes.c - a borrowed run of bytes. */
#include "base/bytes.h"

static unsigned char lower(char c)
{
    unsigned char u = (unsigned char)c;

    return u >= 'A' && u <= 'Z' ? (unsigned char)(u + ('a' - 'A')) : u;
}

bool bytes_equal_nocase(struct bytes a, struct bytes b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.at[i]) != lower(b.at[i]))
            return false;
    return true;
}

bool bytes_starts_with(struct bytes a, const char *prefix)
{
    size_t n = strlen(prefix);

    return a.len >= n && memcmp(a.at, prefix, n) == 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

struct bytes bytes_trim(struct bytes a)
{
    while (a.len > 0 && is_space(a.at[0])) {
        a.at++;
        a.len--;
    }
    while (a.len > 0 && is_space(a.at[a.len - 1]))
        a.len--;
    return a;
}
