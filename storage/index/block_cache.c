/* SPDX-License-Identifier: MIT */
/*
 * block_cache.c - the exact set's own cache of its blocks, before SQLite's.
 *
 * A set holds the names and slots of its blocks in order of rank, so promotion
 * swaps eight bytes and never a block. Slots are assigned as blocks come in.
 */
#include "storage/index/block_cache.h"

#include <stdlib.h>

#include "base/mem.h"

#define WAYS       8
#define ENTER      5 /* the rank at which a new block enters its set */
#define FREE       UINT32_MAX

#define LEAST_SETS 8

struct set { /* one line of the processor's cache */
    uint32_t id[WAYS];
    uint32_t slot[WAYS];
};

struct block_cache {
    struct set *sets;
    uint32_t set_count;
    uint32_t used; /* slots given out */
    unsigned char *blocks;
    uint64_t size;
};

enum status block_cache_new(struct block_cache **out, uint64_t bytes)
{
    struct block_cache *c = xcalloc(1, sizeof *c);
    uint64_t sets = bytes / (WAYS * (BLOCK_CACHE_BLOCK + 8));

    if (sets < LEAST_SETS)
        sets = LEAST_SETS;
    if (sets > UINT32_MAX / WAYS)
        sets = UINT32_MAX / WAYS;
    c->set_count = (uint32_t)sets;
    c->size = sets * WAYS * BLOCK_CACHE_BLOCK;
    c->sets = try_pages(sets * sizeof *c->sets, NULL);
    c->blocks = try_pages(c->size, NULL);
    if (c->sets == NULL || c->blocks == NULL) {
        block_cache_free(c);
        return STATUS_NOMEM;
    }
    for (uint32_t i = 0; i < c->set_count; i++) {
        for (int k = 0; k < WAYS; k++)
            c->sets[i].id[k] = c->sets[i].slot[k] = FREE;
    }
    *out = c;
    return STATUS_OK;
}

void block_cache_free(struct block_cache *c)
{
    if (c == NULL)
        return;
    mem_free_pages(c->blocks, c->size);
    mem_free_pages(c->sets, (uint64_t)c->set_count * sizeof *c->sets);
    free(c);
}

static struct set *set_of(const struct block_cache *c, uint32_t id)
{
    uint64_t mixed = (id * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

    return &c->sets[mixed * c->set_count >> 32];
}

static unsigned char *block_of(const struct block_cache *c, uint32_t slot)
{
    return c->blocks + (uint64_t)slot * BLOCK_CACHE_BLOCK;
}

static void swap(struct set *s, int a, int b)
{
    uint32_t id = s->id[a], slot = s->slot[a];

    s->id[a] = s->id[b];
    s->slot[a] = s->slot[b];
    s->id[b] = id;
    s->slot[b] = slot;
}

static int way_of(const struct set *s, uint32_t id)
{
    for (int k = 0; k < WAYS; k++) {
        if (s->id[k] == id)
            return k;
    }
    return -1;
}

const unsigned char *block_cache_get(struct block_cache *c, uint32_t id)
{
    struct set *s = set_of(c, id);
    int k = way_of(s, id);

    if (k < 0)
        return NULL;
    if (k > 0)
        swap(s, k, k - 1);
    return block_of(c, s->slot[k > 0 ? k - 1 : 0]);
}

const unsigned char *block_cache_peek(const struct block_cache *c, uint32_t id)
{
    const struct set *s = set_of(c, id);
    int k = way_of(s, id);

    return k >= 0 ? block_of(c, s->slot[k]) : NULL;
}

void block_cache_prefetch(const struct block_cache *c, uint32_t id)
{
    __builtin_prefetch(set_of(c, id));
}

unsigned char *block_cache_put_cheap(struct block_cache *c, uint32_t id)
{
    struct set *s = set_of(c, id);
    int k = way_of(s, id);

    if (k >= 0)
        return block_of(c, s->slot[k]);
    k = way_of(s, FREE);
    if (k < 0)
        return NULL;
    s->id[k] = id;
    s->slot[k] = c->used++;
    return block_of(c, s->slot[k]);
}

unsigned char *block_cache_put(struct block_cache *c, uint32_t id)
{
    unsigned char *block = block_cache_put_cheap(c, id);
    struct set *s;

    if (block != NULL)
        return block;
    s = set_of(c, id);
    s->id[WAYS - 1] = id;
    for (int k = WAYS - 1; k > ENTER; k--)
        swap(s, k, k - 1);
    return block_of(c, s->slot[ENTER]);
}

uint64_t block_cache_memory(const struct block_cache *c)
{
    return (uint64_t)c->set_count * sizeof *c->sets +
           (uint64_t)c->used * BLOCK_CACHE_BLOCK;
}
