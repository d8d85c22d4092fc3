/* SPDX-License-Identifier: MIT */
/*
 * nearest.c - finds the word that a user may have meant.
 *
 * Plain dynamic programming over three rows; option names are short, and it
 * runs once, before an error message.
 */
#include "config/nearest.h"

#include "base/ascii.h"

#define LONGEST 64

static char fold(char c)
{
    return c == '_' ? '-' : ascii_lower(c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_distance(struct bytes a, struct bytes b)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    if (a.len > LONGEST || b.len > LONGEST)
        return a.len > b.len ? a.len : b.len;
    for (size_t j = 0; j <= b.len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *spare = before;

        now[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            char x = fold(a.at[i - 1]), y = fold(b.at[j - 1]);

            now[j] =
                least(last[j - 1] + (x != y), least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && x == fold(b.at[j - 2]) &&
                y == fold(a.at[i - 2]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
        now = spare;
    }
    return last[b.len];
}

bool nearest_is_alike(struct bytes text, struct bytes word)
{
    size_t d = nearest_distance(text, word);
    size_t longer = text.len > word.len ? text.len : word.len;

    if (text.len >= 3 && text.len < word.len &&
        memcmp(text.at, word.at, text.len) == 0)
        return true;
    return d <= 1 || d <= longer / 3;
}
