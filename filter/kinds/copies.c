/* SPDX-License-Identifier: MIT */
/*
 * copies.c - how often fingerprints were added beyond their slots.
 *
 * Open addressing, linear probing, removal by shifting back (Knuth, The Art of
 * Computer Programming, volume 3, section 6.4, algorithm R): no tombstones, so
 * that streams that add and remove for ever do not fill it.
 */
#include "filter/kinds/copies.h"

#include <stdlib.h>

#include "base/mem.h"

#define LEAST_ROOM 16

void copies_fini(struct copies *c)
{
    free(c->at);
    *c = (struct copies){0};
}

uint64_t copies_bytes(const struct copies *c)
{
    return c->room * sizeof *c->at;
}

static uint64_t lower(const struct bucket_place *p)
{
    return p->first < p->second ? p->first : p->second;
}

static uint64_t home(const struct copies *c, uint64_t bucket, uint32_t print)
{
    uint64_t h =
        (bucket ^ (uint64_t)print << 32) * UINT64_C(0x9e3779b97f4a7c15);

    return (h ^ h >> 32) & (c->room - 1);
}

/* The slot of that fingerprint, or the empty one where it would be. */
static struct copies_entry *find(const struct copies *c, uint64_t bucket,
                                 uint32_t print)
{
    uint64_t i = home(c, bucket, print);

    while (c->at[i].print != 0 &&
           (c->at[i].print != print || c->at[i].bucket != bucket))
        i = (i + 1) & (c->room - 1);
    return &c->at[i];
}

static bool make_room(struct copies *c)
{
    struct copies more = *c;

    if (c->count < c->room / 2)
        return true;
    more.room = c->room > 0 ? c->room * 2 : LEAST_ROOM;
    more.at = try_calloc(more.room, sizeof *more.at);
    if (more.at == NULL)
        return false;
    for (uint64_t i = 0; i < c->room; i++)
        if (c->at[i].print != 0)
            *find(&more, c->at[i].bucket, c->at[i].print) = c->at[i];
    free(c->at);
    *c = more;
    return true;
}

bool copies_add(struct copies *c, const struct bucket_place *p, uint32_t n,
                uint64_t most)
{
    struct copies_entry *e = c->room > 0 ? find(c, lower(p), p->print) : NULL;

    if (e == NULL || e->print == 0) {
        if (c->count >= most || !make_room(c))
            return false;
        e = find(c, lower(p), p->print);
        *e = (struct copies_entry){lower(p), p->print, 0};
        c->count++;
    }
    if (e->more == COPIES_STUCK)
        return true;
    e->more = n < COPIES_STUCK - e->more ? e->more + n : COPIES_STUCK;
    c->stuck += e->more == COPIES_STUCK;
    return true;
}

/* Close the gap at slot i. */
static void shift_back(struct copies *c, uint64_t i)
{
    uint64_t mask = c->room - 1;

    for (uint64_t j = (i + 1) & mask; c->at[j].print != 0; j = (j + 1) & mask) {
        uint64_t h = home(c, c->at[j].bucket, c->at[j].print);

        if (((j - h) & mask) >= ((j - i) & mask)) {
            c->at[i] = c->at[j];
            i = j;
        }
    }
    c->at[i] = (struct copies_entry){0};
}

bool copies_take(struct copies *c, const struct bucket_place *p)
{
    struct copies_entry *e = c->room > 0 ? find(c, lower(p), p->print) : NULL;

    if (e == NULL || e->print == 0)
        return false;
    if (e->more != COPIES_STUCK && --e->more == 0) {
        shift_back(c, (uint64_t)(e - c->at));
        c->count--;
    }
    return true;
}

bool copies_stick(const struct copies *c, const struct bucket_place *p)
{
    const struct copies_entry *e =
        c->stuck > 0 ? find(c, lower(p), p->print) : NULL;

    return e != NULL && e->print != 0 && e->more == COPIES_STUCK;
}
