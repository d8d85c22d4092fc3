/* SPDX-License-Identifier: MIT */
/*
 * hot_cache.c - the digests that links name most, in memory.
 *
 * Sets are so many that none has more than 2^16 places, so the low 16 bits of a
 * place and the number of the set say which one it is.
 */
#include "frontier/seen/hot_cache.h"

#include <string.h>

#include "base/mem.h"

#define ENTRY      2 /* place at which a new digest enters: the third */
#define LEAST      (HOT_LEAST / sizeof(struct hot_set))
#define MOST       (UINT32_C(1) << HOT_PLACE_BITS)
#define MORE_BITS  5
#define MORE_SHIFT (64 - HOT_PLACE_BITS - MORE_BITS)
#define MORE_MASK  ((UINT32_C(1) << MORE_BITS) - 1)

_Static_assert(sizeof(struct hot_set) == 64, "a line of the processor's cache");
_Static_assert(LEAST >= 1 << (HOT_PLACE_BITS - 16), "places of a set");
_Static_assert(HOT_WAYS *MORE_BITS <= 32, "more bits than there is room for");

/* As one way of a set has it. */
struct entry {
    uint64_t hi;
    uint32_t more;
    uint16_t place;
};

static struct entry entry_of(struct digest d)
{
    return (struct entry){.hi = d.hi,
                          .more = (uint32_t)(d.lo >> MORE_SHIFT) & MORE_MASK,
                          .place = (uint16_t)hot_place(d)};
}

static struct entry get(const struct hot_set *set, int way)
{
    return (struct entry){.hi = set->hi[way],
                          .more = set->more >> way * MORE_BITS & MORE_MASK,
                          .place = set->place[way]};
}

static void put(struct hot_set *set, int way, struct entry e)
{
    set->hi[way] = e.hi;
    set->place[way] = e.place;
    set->more &= ~(MORE_MASK << way * MORE_BITS);
    set->more |= e.more << way * MORE_BITS;
}

static uint32_t sets_in(uint64_t bytes, uint32_t most)
{
    uint64_t sets = bytes / sizeof(struct hot_set);

    return sets < LEAST ? LEAST : sets < most ? (uint32_t)sets : most;
}

enum status hot_cache_init(struct hot_cache *c, uint64_t bytes)
{
    uint32_t sets = sets_in(bytes, MOST);

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

/* The place of an entry of set `number` of `count`. */
static uint32_t place_of(struct entry e, uint32_t number, uint32_t count)
{
    uint64_t first = (((uint64_t)number << HOT_PLACE_BITS) + count - 1) / count;

    return (uint32_t)(first + (uint16_t)(e.place - first));
}

/* Puts the digests of one set of `before` into those that they belong to now,
 * behind what is there. What does not fit is dropped. */
static void move_set(struct hot_cache *c, uint32_t number, uint32_t before)
{
    const struct hot_set old = c->sets[number];

    c->sets[number] = (struct hot_set){0};
    for (int i = 0; i < HOT_WAYS && old.hi[i] != 0; i++) {
        struct entry e = get(&old, i);
        struct hot_set *to = hot_cache_set_at(c, place_of(e, number, before));
        int k = 0;

        while (k < HOT_WAYS && to->hi[k] != 0)
            k++;
        if (k < HOT_WAYS)
            put(to, k, e);
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
            move_set(c, i - 1, before);
    } else if (c->count < before) {
        for (uint32_t i = 0; i < before; i++)
            move_set(c, i, before);
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
    struct entry want = entry_of(d);

    for (int i = 0; i < HOT_WAYS && want.hi != 0; i++) {
        if (set->hi[i] != want.hi || set->place[i] != want.place ||
            get(set, i).more != want.more)
            continue;
        if (i > 0) {
            put(set, i, get(set, i - 1));
            put(set, i - 1, want);
        }
        return true;
    }
    return false;
}

/* The set fills up before anything is evicted. A digest whose hi is 0 would
 * look like a free way. */
void hot_cache_add(struct hot_cache *c, struct digest d)
{
    struct hot_set *set = hot_cache_set(c, d);
    int at = ENTRY;

    if (d.hi == 0)
        return;
    c->touched = true;
    while (at > 0 && set->hi[at - 1] == 0)
        at--;
    if (set->hi[at] != 0) {
        for (int i = HOT_WAYS - 1; i > at; i--)
            put(set, i, get(set, i - 1));
    }
    put(set, at, entry_of(d));
}
