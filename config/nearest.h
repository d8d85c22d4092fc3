/*
 * nearest.h - the word a person may have meant.
 */
#ifndef URLWEIR_CONFIG_NEAREST_H
#define URLWEIR_CONFIG_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

/* Insertions, deletions, changes and swaps of neighbours that lead from `a` to
 * `b` (optimal string alignment distance); `_` and `-` count as one, so does
 * ASCII case. Texts longer than 64 octets are as far away as they are long. */
size_t nearest_distance(struct bytes a, struct bytes b);

/* Near enough that somebody who wrote `text` may have meant `word`: at most a
 * third of it is wrong, or it is the beginning of the word. */
bool nearest_is_alike(struct bytes text, struct bytes word);

#endif
