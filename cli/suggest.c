/* SPDX-License-Identifier: MIT */
/*
 * suggest.c - what was probably meant by a word that is not known.
 *
 * Levenshtein's distance, one row at a time; options are short.
 */
#include "cli/suggest.h"

#include <stddef.h>
#include <string.h>

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(b), row[LONGEST + 1];

    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t corner = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t change = corner + (a[i] == b[j] ? 0 : 1);

            corner = row[j + 1];
            row[j + 1] = least(change, corner + 1, row[j] + 1);
        }
    }
    return row[n];
}

const char *suggest_nearest(const char *word, const char *const *known)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 3 + 1; /* further off is a guess */

    for (; *known != NULL; known++) {
        size_t d;

        if (strlen(*known) > LONGEST)
            continue;
        d = distance(word, *known);
        if (d <= best && (nearest == NULL || d < best)) {
            nearest = *known;
            best = d;
        }
    }
    return nearest;
}
