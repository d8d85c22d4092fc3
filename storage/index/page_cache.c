/* SPDX-License-Identifier: MIT */
/*
 * page_cache.c - the exact set's own cache of its pages, before SQLite's.
 *
 * A set holds the names and slots of its pages in order of rank, so promotion
 * swaps eight bytes and never a page. Slots are assigned as pages come in.
 */
#include "storage/index/page_cache.h"

#include <stdlib.h>

#include "base/mem.h"

#define WAYS       8
#define ENTER      5 /* the rank at which a new page enters its set */
#define FREE       UINT32_MAX

#define LEAST_SETS 8

struct set { /* one line of the processor's cache */
    uint32_t id[WAYS];
    uint32_t slot[WAYS];
};

struct page_cache {
    struct set *sets;
    uint32_t set_count;
    uint32_t used; /* slots given out */
    unsigned char *pages;
    uint64_t pages_size;
};

enum status page_cache_new(struct page_cache **out, uint64_t bytes)
{
    struct page_cache *c = xcalloc(1, sizeof *c);
    uint64_t sets = bytes / (WAYS * (PAGE_CACHE_PAGE + 8));

    if (sets < LEAST_SETS)
        sets = LEAST_SETS;
    if (sets > UINT32_MAX / WAYS)
        sets = UINT32_MAX / WAYS;
    c->set_count = (uint32_t)sets;
    c->pages_size = sets * WAYS * PAGE_CACHE_PAGE;
    c->sets = try_pages(sets * sizeof *c->sets, NULL);
    c->pages = try_pages(c->pages_size, NULL);
    if (c->sets == NULL || c->pages == NULL) {
        page_cache_free(c);
        return STATUS_NOMEM;
    }
    for (uint32_t i = 0; i < c->set_count; i++) {
        for (int k = 0; k < WAYS; k++)
            c->sets[i].id[k] = c->sets[i].slot[k] = FREE;
    }
    *out = c;
    return STATUS_OK;
}

void page_cache_free(struct page_cache *c)
{
    if (c == NULL)
        return;
    mem_free_pages(c->pages, c->pages_size);
    mem_free_pages(c->sets, (uint64_t)c->set_count * sizeof *c->sets);
    free(c);
}

static struct set *set_of(const struct page_cache *c, uint32_t id)
{
    uint64_t mixed = (id * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

    return &c->sets[mixed * c->set_count >> 32];
}

static unsigned char *page_of(const struct page_cache *c, uint32_t slot)
{
    return c->pages + (uint64_t)slot * PAGE_CACHE_PAGE;
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

const unsigned char *page_cache_get(struct page_cache *c, uint32_t id)
{
    struct set *s = set_of(c, id);
    int k = way_of(s, id);

    if (k < 0)
        return NULL;
    if (k > 0)
        swap(s, k, k - 1);
    return page_of(c, s->slot[k > 0 ? k - 1 : 0]);
}

const unsigned char *page_cache_peek(const struct page_cache *c, uint32_t id)
{
    const struct set *s = set_of(c, id);
    int k = way_of(s, id);

    return k >= 0 ? page_of(c, s->slot[k]) : NULL;
}

void page_cache_prefetch(const struct page_cache *c, uint32_t id)
{
    __builtin_prefetch(set_of(c, id));
}

unsigned char *page_cache_put_cheap(struct page_cache *c, uint32_t id)
{
    struct set *s = set_of(c, id);
    int k = way_of(s, id);

    if (k >= 0)
        return page_of(c, s->slot[k]);
    k = way_of(s, FREE);
    if (k < 0)
        return NULL;
    s->id[k] = id;
    s->slot[k] = c->used++;
    return page_of(c, s->slot[k]);
}

unsigned char *page_cache_put(struct page_cache *c, uint32_t id)
{
    unsigned char *page = page_cache_put_cheap(c, id);
    struct set *s;

    if (page != NULL)
        return page;
    s = set_of(c, id);
    s->id[WAYS - 1] = id;
    for (int k = WAYS - 1; k > ENTER; k--)
        swap(s, k, k - 1);
    return page_of(c, s->slot[ENTER]);
}

uint64_t page_cache_memory(const struct page_cache *c)
{
    return (uint64_t)c->set_count * sizeof *c->sets +
           (uint64_t)c->used * PAGE_CACHE_PAGE;
}
