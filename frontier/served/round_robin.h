/*
 * round_robin.h - queues that may be served now, in turn.
 *
 * The queue whose turn has the least number goes first, and then gets a number
 * after all others. A caller may refuse queues with `cap` or more leased URLs;
 * so queues are kept by that count, and the cost of a pick does not depend on
 * how many it must skip. Threads: one.
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
    struct heap *by_leased; /* the last heap: that many or more */
    uint32_t count;
    uint64_t entries;
};

void round_robin_fini(struct round_robin *t);
/* Puts it in its place by number and leased count, wherever it was before. */
void round_robin_set(struct round_robin *t, struct turn *turn, int64_t number,
                     uint32_t leased);
void round_robin_remove(struct round_robin *t,
                        struct turn *turn); /* if it is there */
/* The turn with the least number below `before`, of queues with fewer than
 * `cap` leases (0: any); NULL: there is none. It is not removed. */
struct turn *round_robin_first(const struct round_robin *t, uint32_t cap,
                               int64_t before);

#endif
