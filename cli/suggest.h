/*
 * suggest.h - what was probably meant by a word that is not known.
 */
#ifndef URLWEIR_CLI_SUGGEST_H
#define URLWEIR_CLI_SUGGEST_H

/* The word of `known`, which ends in NULL, that is nearest to `word` and may
 * have been meant (config/nearest.h); NULL where none may. */
const char *suggest_nearest(const char *word, const char *const *known);

#endif
