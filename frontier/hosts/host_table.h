/*
 * host_table.h - the hosts of a crawl by queue number, and those that rest.
 *
 * A host with URLs has a struct host_queue of some 250 to 400 octets, which
 * matters with ten million of them. One that waits for nothing but its turn,
 * and of which nothing is known that a new struct would lack, can rest: eight
 * octets of the table say how far its queue was read, and four more stand in a
 * line, first in, first out. Those that have been due from the beginning, since
 * they were never asked or need no delay, have a line of their own, which goes
 * first.
 *
 * A host that is woken out of its turn leaves its place in the line behind;
 * that place is passed over, or wakes the host early if it rests again.
 *
 * Frontier thread only.
 */
#ifndef URLWEIR_FRONTIER_HOSTS_HOST_TABLE_H
#define URLWEIR_FRONTIER_HOSTS_HOST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontier/hosts/host_queue.h"

struct host_line_part; /* host_table.c */

/* A place in the schedule's heap (base/heap.h). */
struct host_turn {
    int64_t due;
    uint64_t order;
};

struct host_line {
    struct host_line_part *first, *last;
    uint32_t taken; /* places of `first` */
};

struct host_table {
    /* By queue: the address of its struct, which is even; an odd number if it
     * rests; 0: nothing is known. */
    uintptr_t *at;
    size_t room;
    uint64_t awake, resting; /* hosts */
    struct host_line at_once, rested;
    uint64_t parts; /* of both lines */
};

void host_table_init(struct host_table *t);
/* Frees the hosts as well. */
void host_table_fini(struct host_table *t);

/* NULL: none, or it rests. */
static inline struct host_queue *host_table_get(const struct host_table *t,
                                                uint32_t queue)
{
    uintptr_t p = queue < t->room ? t->at[queue] : 0;

    return (p & 1) == 0 ? (struct host_queue *)p : NULL;
}

static inline bool host_table_rests(const struct host_table *t, uint32_t queue)
{
    return queue < t->room && (t->at[queue] & 1) != 0;
}

/* Fetches the memory of an entry that will soon be asked for. */
static inline void host_table_prefetch(const struct host_table *t,
                                       uint32_t queue)
{
    if (queue < t->room)
        __builtin_prefetch(&t->at[queue]);
}

/* Makes the host of a queue that has none; one that rested goes on where it
 * was. */
struct host_queue *host_table_make(struct host_table *t, uint32_t queue);
/* Frees the host of a queue. */
void host_table_forget(struct host_table *t, uint32_t queue);

/* A queue without a host rests until it is asked for the first time; it would
 * have entered the schedule as number `order`. */
void host_table_rest_unasked(struct host_table *t, uint32_t queue,
                             uint64_t order);
/* Frees `h`, for which host_queue_may_rest holds and which is in no heap. Hosts
 * rest in the order of their turns, or nearly. */
void host_table_rest(struct host_table *t, struct host_queue *h,
                     struct host_turn turn);

/* The resting queue whose turn is next, 0 if there is none; its turn was no
 * sooner than *turn. */
uint32_t host_table_first(struct host_table *t, struct host_turn *turn);
/* Removes that place, since its host is woken. */
void host_table_pass(struct host_table *t);

/* Octets, without those of hosts. */
uint64_t host_table_memory(const struct host_table *t);

#endif
