/*
 * round_robin.h - queues that may be served now, each in its turn.
 *
 * Round robin: the one whose turn has the least number goes first, and gets a
 * number behind all others. A caller may refuse queues that have `cap` or more
 * URLs handed out; so they are kept by that number, and what a pick costs does
 * not depend on how many it must pass over. One thread.
 */
#ifndef URLWEIR_FRONTIER_SERVED_ROUND_ROBIN_H
#define URLWEIR_FRONTIER_SERVED_ROUND_ROBIN_H

#include <stdint.h>

#include "base/heap.h"

struct turn {
    struct heap_item item; /* first */
    uint32_t leased;
};

/* All zero: empty. */
struct round_robin {
    struct heap *by_leased; /* the last one: that many or more */
    uint32_t count;
    uint64_t entries;
};

void round_robin_fini(struct round_robin *t);
/* Puts it where number and leased count say, wherever it was before. */
void round_robin_set(struct round_robin *t, struct turn *turn, int64_t number,
                     uint32_t leased);
void round_robin_remove(struct round_robin *t,
                        struct turn *turn); /* if it is there */
/* The least number below `before` of those that hold less than `cap` (0: any
 * number); NULL: there is none. It stays. */
struct turn *round_robin_first(const struct round_robin *t, uint32_t cap,
                               int64_t before);

#endif
