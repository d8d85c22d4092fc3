/*
 * suggest.h - finds the word that was probably meant by an unknown one.
 */
#ifndef URLWEIR_CLI_SUGGEST_H
#define URLWEIR_CLI_SUGGEST_H

/* The word of `known`, which ends in NULL, that is nearest to `word` and may
 * have been meant (config/nearest.h); NULL if no word is near enough. */
const char *suggest_nearest(const char *word, const char *const *known);

#endif
