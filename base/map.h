/*
 * map.h - hash map from bytes to pointer.
 *
 * Keys are copied; the caller owns values. Seeded per process, so outsiders
 * cannot choose keys that collide. One thread at a time.
 */
#ifndef URLWEIR_BASE_MAP_H
#define URLWEIR_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
