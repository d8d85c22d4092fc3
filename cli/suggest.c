/* SPDX-License-Identifier: MIT */
/* suggest.c - finds the word that was probably meant by an unknown one. */
#include "cli/suggest.h"

#include <stddef.h>
#include <stdint.h>

#include "config/nearest.h"

const char *suggest_nearest(const char *word, const char *const *known)
{
    struct bytes text = bytes_of_str(word);
    const char *nearest = NULL;
    size_t best = SIZE_MAX;

    for (; *known != NULL; known++) {
        struct bytes candidate = bytes_of_str(*known);
        size_t d = nearest_distance(text, candidate);

        if (d < best && nearest_is_alike(text, candidate)) {
            nearest = *known;
            best = d;
        }
    }
    return nearest;
}
