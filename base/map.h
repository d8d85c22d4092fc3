/*
 * map.h - hash map from bytes to pointer.
 *
 * Keys are copied; values stay the caller's. Seeded per process, so outsiders
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
/* Sets and returns what stood there before, or NULL. `value` is not NULL. */
void *map_put(struct map *m, struct bytes key, void *value);
/* Removes and returns what stood there, or NULL. */
void *map_remove(struct map *m, struct bytes key);
size_t map_count(const struct map *m);

/* Every entry once, in no order; stops when `visit` answers false. The map
 * must not be changed meanwhile. */
void map_each(const struct map *m,
              bool (*visit)(void *ctx, struct bytes key, void *value),
              void *ctx);

#endif
