/* SPDX-License-Identifier: MIT */
/*
 * round_robin.c - queues that may be served now, in turn.
 *
 * There is a heap for each number of leased URLs, up to a few hundred. Queues
 * with more, which takes a client that leases hundreds of URLs of one host, are
 * in the last heap, which is searched linearly.
 */
#include "frontier/served/round_robin.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

#define MOST_HEAPS 512

static uint32_t heap_of(uint32_t leased)
{
    return leased < MOST_HEAPS ? leased : MOST_HEAPS - 1;
}

void round_robin_fini(struct round_robin *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        heap_fini(&t->by_leased[i]);
    free(t->by_leased);
    *t = (struct round_robin){0};
}

static void make_room(struct round_robin *t, uint32_t heap)
{
    if (heap < t->count)
        return;
    t->by_leased = xrealloc(t->by_leased, (heap + 1) * sizeof *t->by_leased);
    while (t->count <= heap)
        heap_init(&t->by_leased[t->count++]);
}

void round_robin_remove(struct round_robin *t, struct turn *turn)
{
    if (turn->item.place == 0)
        return;
    heap_remove(&t->by_leased[heap_of(turn->leased)], &turn->item);
    t->entries--;
}

void round_robin_set(struct round_robin *t, struct turn *turn, int64_t number,
                     uint32_t leased)
{
    if (turn->item.place != 0 && turn->item.key == number &&
        turn->leased == leased)
        return;
    round_robin_remove(t, turn);
    turn->leased = leased;
    make_room(t, heap_of(leased));
    heap_push(&t->by_leased[heap_of(leased)], &turn->item, number);
    t->entries++;
}

static bool is_better(const struct turn *a, const struct turn *best,
                      uint32_t cap, int64_t before)
{
    return (cap == 0 || a->leased < cap) && a->item.key < before &&
           (best == NULL || a->item.key < best->item.key);
}

static struct turn *turn_of(struct heap_item *item)
{
    return (struct turn *)(void *)item;
}

struct turn *round_robin_first(const struct round_robin *t, uint32_t cap,
                               int64_t before)
{
    struct turn *best = NULL;

    for (uint32_t i = 0; i < t->count && (cap == 0 || i < cap); i++) {
        const struct heap *h = &t->by_leased[i];
        /* In the last heap the top may have too many leases, and others not. */
        size_t look = h->count > 1 && i == MOST_HEAPS - 1 ? h->count : 1;

        for (size_t k = 0; k < look && k < h->count; k++) {
            if (is_better(turn_of(h->items[k]), best, cap, before))
                best = turn_of(h->items[k]);
        }
    }
    return best;
}
