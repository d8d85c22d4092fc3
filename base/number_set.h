/*
 * number_set.h - a set of 64-bit numbers of which many are neighbours.
 *
 * 64 neighbours share one word, so a dense set takes a quarter of an octet a
 * number, and one without neighbours 32 octets. It grows up to a ceiling and is
 * then full: from there on it says that it has every number. That suits a
 * caller for whom a wrong yes is only a waste. One thread at a time.
 */
#ifndef URLWEIR_BASE_NUMBER_SET_H
#define URLWEIR_BASE_NUMBER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_word {
    uint64_t block; /* number / 64 + 1; 0: an empty place */
    uint64_t bits;
};

struct number_set {
    struct number_word *words; /* open addressing, at most half full */
    size_t room, count, most;
    bool full;
};

/* `most_octets`: the ceiling. */
void number_set_init(struct number_set *s, size_t most_octets);
void number_set_fini(struct number_set *s);

void number_set_add(struct number_set *s, uint64_t n);
bool number_set_has(const struct number_set *s, uint64_t n);
size_t number_set_memory(const struct number_set *s);

#endif
