/* SPDX-License-Identifier: MIT */
/*
 * map.c - open addressing with linear probing, at most 3/4 full.
 *
 * Removal moves the entries after the hole back, so there are no tombstones,
 * and a map with many removals stays as fast as a new one.
 */
#include "base/map.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/mem.h"

struct entry {
    uint64_t hash;
    char *key; /* NULL: free */
    size_t len;
    void *value;
};

struct map {
    struct entry *slots;
    size_t cap; /* a power of two */
    size_t count;
    uint64_t seed;
};

struct map *map_new(void)
{
    struct map *m = xcalloc(1, sizeof *m);

    if (getrandom(&m->seed, sizeof m->seed, 0) != (ssize_t)sizeof m->seed)
        m->seed = (uintptr_t)m;
    m->cap = 16;
    m->slots = xcalloc(m->cap, sizeof *m->slots);
    return m;
}

void map_free(struct map *m, void (*free_value)(void *))
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slots[i].key != NULL && free_value != NULL)
            free_value(m->slots[i].value);
        free(m->slots[i].key);
    }
    free(m->slots);
    free(m);
}

/* The slot that holds `key`, or the free one where it would go. */
static size_t find(const struct map *m, struct bytes key, uint64_t hash)
{
    size_t i = hash & (m->cap - 1);

    while (m->slots[i].key != NULL) {
        const struct entry *e = &m->slots[i];

        if (e->hash == hash && bytes_equal(bytes_of(e->key, e->len), key))
            break;
        i = (i + 1) & (m->cap - 1);
    }
    return i;
}

static void grow(struct map *m)
{
    struct entry *old = m->slots;
    size_t old_cap = m->cap;

    m->cap *= 2;
    m->slots = xcalloc(m->cap, sizeof *m->slots);
    for (size_t i = 0; i < old_cap; i++) {
        if (old[i].key != NULL) {
            size_t to = old[i].hash & (m->cap - 1);

            while (m->slots[to].key != NULL)
                to = (to + 1) & (m->cap - 1);
            m->slots[to] = old[i];
        }
    }
    free(old);
}

void *map_get(const struct map *m, struct bytes key)
{
    size_t i = find(m, key, XXH3_64bits_withSeed(key.at, key.len, m->seed));

    return m->slots[i].key != NULL ? m->slots[i].value : NULL;
}

void *map_put(struct map *m, struct bytes key, void *value)
{
    uint64_t hash = XXH3_64bits_withSeed(key.at, key.len, m->seed);
    size_t i = find(m, key, hash);
    void *before = NULL;

    if (m->slots[i].key != NULL) {
        before = m->slots[i].value;
        m->slots[i].value = value;
        return before;
    }
    if ((m->count + 1) * 4 > m->cap * 3) {
        grow(m);
        i = find(m, key, hash);
    }
    m->slots[i] = (struct entry){.hash = hash,
                                 .key = xstrndup(key.at, key.len),
                                 .len = key.len,
                                 .value = value};
    m->count++;
    return NULL;
}

void *map_remove(struct map *m, struct bytes key)
{
    size_t hole = find(m, key, XXH3_64bits_withSeed(key.at, key.len, m->seed));
    size_t i = hole, mask = m->cap - 1;
    void *value;

    if (m->slots[hole].key == NULL)
        return NULL;
    value = m->slots[hole].value;
    free(m->slots[hole].key);
    for (;;) {
        i = (i + 1) & mask;
        if (m->slots[i].key == NULL)
            break;
        /* An entry may move into the hole only if its home slot is not after
         * the hole. */
        if (((i - (m->slots[i].hash & mask)) & mask) >= ((i - hole) & mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole] = (struct entry){0};
    m->count--;
    return value;
}

size_t map_count(const struct map *m)
{
    return m->count;
}

void map_each(const struct map *m,
              bool (*visit)(void *ctx, struct bytes key, void *value),
              void *ctx)
{
    for (size_t i = 0; i < m->cap; i++) {
        const struct entry *e = &m->slots[i];

        if (e->key != NULL && !visit(ctx, bytes_of(e->key, e->len), e->value))
            return;
    }
}
