/* SPDX-License-Identifier: MIT */
/*
 * map.c - open addressing with linear probing, a map at most 3/4 full.
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
static size_t map_find(const struct map *m, struct bytes key, uint64_t hash)
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

static void map_grow(struct map *m)
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
    size_t i = map_find(m, key, XXH3_64bits_withSeed(key.at, key.len, m->seed));

    return m->slots[i].key != NULL ? m->slots[i].value : NULL;
}

void *map_put(struct map *m, struct bytes key, void *value)
{
    uint64_t hash = XXH3_64bits_withSeed(key.at, key.len, m->seed);
    size_t i = map_find(m, key, hash);
    void *before = NULL;

    if (m->slots[i].key != NULL) {
        before = m->slots[i].value;
        m->slots[i].value = value;
        return before;
    }
    if ((m->count + 1) * 4 > m->cap * 3) {
        map_grow(m);
        i = map_find(m, key, hash);
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
    size_t hole =
        map_find(m, key, XXH3_64bits_withSeed(key.at, key.len, m->seed));
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

/* ---- a set of 64-bit numbers of which many are neighbours ---- */

#define ROOM_LEAST ((size_t)1024) /* words, a power of two */

void number_set_init(struct number_set *s, size_t most_octets)
{
    *s = (struct number_set){.most = most_octets / sizeof *s->words};
}

void number_set_fini(struct number_set *s)
{
    free(s->words);
    s->words = NULL;
    s->room = s->count = 0;
}

/* The place of a block: its own, or an empty one (Knuth 6.4). */
static struct number_word *map_place(const struct number_set *s, uint64_t block)
{
    size_t i = (size_t)((block * UINT64_C(0x9e3779b97f4a7c15)) >> 20);

    for (i &= s->room - 1; s->words[i].block != 0 && s->words[i].block != block;
         i = (i + 1) & (s->room - 1))
        ;
    return &s->words[i];
}

/* False: there is no room left. */
static bool map_make_room(struct number_set *s)
{
    struct number_set old = *s;

    s->room = s->room > 0 ? s->room * 2 : ROOM_LEAST;
    s->words =
        s->room <= s->most ? try_calloc(s->room, sizeof *s->words) : NULL;
    if (s->words == NULL) {
        number_set_fini(&old);
        number_set_fini(s);
        s->full = true;
        return false;
    }
    for (size_t i = 0; i < old.room; i++)
        if (old.words[i].block != 0)
            *map_place(s, old.words[i].block) = old.words[i];
    free(old.words);
    return true;
}

void number_set_add(struct number_set *s, uint64_t n)
{
    struct number_word *w;

    if (s->full || (s->count * 2 >= s->room && !map_make_room(s)))
        return;
    w = map_place(s, n / 64 + 1);
    s->count += w->block == 0;
    w->block = n / 64 + 1;
    w->bits |= UINT64_C(1) << n % 64;
}

bool number_set_has(const struct number_set *s, uint64_t n)
{
    if (s->full || s->room == 0)
        return s->full;
    return (map_place(s, n / 64 + 1)->bits >> n % 64 & 1) != 0;
}

size_t number_set_memory(const struct number_set *s)
{
    return s->room * sizeof *s->words;
}
