/*
 * map.h - hash map from bytes to pointer, and a set of numbers.
 *
 * Keys are copied; the caller owns values. Seeded per process, so outsiders
 * cannot choose keys that collide. One thread at a time.
 */
#ifndef URLWEIR_BASE_MAP_H
#define URLWEIR_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct map;

struct map *map_new(void);
/* `free_value` may be NULL; so may `m`. */
void map_free(struct map *m, void (*free_value)(void *));

/* NULL: not there. */
void *map_get(const struct map *m, struct bytes key);
/* Sets `value`, which is not NULL, and returns the old one, or NULL. */
void *map_put(struct map *m, struct bytes key, void *value);
/* Removes and returns the value, or NULL. */
void *map_remove(struct map *m, struct bytes key);
size_t map_count(const struct map *m);

/* Visits every entry once, in no particular order, until `visit` returns false.
 * The map must not change meanwhile. */
void map_each(const struct map *m,
              bool (*visit)(void *ctx, struct bytes key, void *value),
              void *ctx);

/* ---- a set of 64-bit numbers of which many are neighbours ----
 *
 * 64 neighbours share one word, so a dense set takes a quarter of an octet a
 * number, and one without neighbours 32 octets. It grows up to a ceiling and is
 * then full: from there on it says that it has every number. That suits a
 * caller for whom a wrong yes is only a waste. One thread at a time.
 */

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
