/*
 * nearest.h - finds the word that a user may have meant.
 */
#ifndef URLWEIR_CONFIG_NEAREST_H
#define URLWEIR_CONFIG_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

/* The number of insertions, deletions, changes and swaps of neighbours from `a`
 * to `b` (optimal string alignment distance); `_` and `-` count as one, so does
 * ASCII case. Texts longer than 64 octets are as far away as they are long. */
size_t nearest_distance(struct bytes a, struct bytes b);

/* Might a user who wrote `text` have meant `word`? True if at most a third of
 * it is wrong, or it is the beginning of the word. */
bool nearest_is_alike(struct bytes text, struct bytes word);

#endif
