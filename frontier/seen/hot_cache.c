/* SPDX-License-Identifier: MIT */
/* hot_cache.c - the digests that links name most, in memory. */
#include "frontier/seen/hot_cache.h"

#include <string.h>

#include "base/mem.h"

#define ENTRY 2 /* place at which a new digest enters: the third */
#define LEAST 64

static uint32_t sets_in(uint64_t bytes, uint32_t most)
{
    uint64_t sets = bytes / sizeof(struct hot_set);

    return sets < LEAST ? LEAST : sets < most ? (uint32_t)sets : most;
}

enum status hot_cache_init(struct hot_cache *c, uint64_t bytes)
{
    uint32_t sets = sets_in(bytes, UINT32_MAX);

    *c = (struct hot_cache){.sets =
                                try_pages(sets * sizeof(struct hot_set), NULL),
                            .count = sets,
                            .most = sets};
    return c->sets != NULL ? STATUS_OK : STATUS_NOMEM;
}

void hot_cache_fini(struct hot_cache *c)
{
    mem_free_pages(c->sets, c->most * sizeof *c->sets);
    *c = (struct hot_cache){0};
}

static bool is_free(struct digest d)
{
    return d.hi == 0 && d.lo == 0;
}

/* Puts the digests of one set into those that they belong to now, behind what
 * is there. What does not fit is dropped. */
static void move_set(struct hot_cache *c, struct hot_set *from)
{
    const struct hot_set old = *from;

    memset(from, 0, sizeof *from);
    for (int i = 0; i < HOT_WAYS && !is_free(old.way[i]); i++) {
        struct hot_set *to = hot_cache_set(c, old.way[i]);
        int k = 0;

        while (k < HOT_WAYS && !is_free(to->way[k]))
            k++;
        if (k < HOT_WAYS)
            to->way[k] = old.way[i];
    }
}

/* Sets move away from those that have not had their turn. */
void hot_cache_resize(struct hot_cache *c, uint64_t bytes)
{
    uint32_t before = c->count;

    c->count = sets_in(bytes, c->most);
    if (!c->touched)
        return;
    if (c->count > before) {
        for (uint32_t i = before; i > 0; i--)
            move_set(c, &c->sets[i - 1]);
    } else if (c->count < before) {
        for (uint32_t i = 0; i < before; i++)
            move_set(c, &c->sets[i]);
        mem_clear_pages(&c->sets[c->count],
                        (before - c->count) * sizeof *c->sets);
    }
}

uint64_t hot_cache_memory(const struct hot_cache *c)
{
    return c->count * sizeof *c->sets;
}

bool hot_cache_has(struct hot_cache *c, struct digest d)
{
    struct hot_set *set = hot_cache_set(c, d);

    for (int i = 0; i < HOT_WAYS; i++) {
        if (!digest_equal(set->way[i], d))
            continue;
        if (i > 0) {
            set->way[i] = set->way[i - 1];
            set->way[i - 1] = d;
        }
        return true;
    }
    return false;
}

/* The set fills up before anything is evicted. */
void hot_cache_add(struct hot_cache *c, struct digest d)
{
    struct hot_set *set = hot_cache_set(c, d);
    int at = ENTRY;

    c->touched = true;
    while (at > 0 && is_free(set->way[at - 1]))
        at--;
    if (!is_free(set->way[at]))
        memmove(&set->way[at + 1], &set->way[at],
                (size_t)(HOT_WAYS - at - 1) * sizeof *set->way);
    set->way[at] = d;
}
