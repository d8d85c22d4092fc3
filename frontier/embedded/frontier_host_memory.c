/* SPDX-License-Identifier: MIT */
/*
 * frontier_host_memory.c - which hosts are held in memory.
 *
 * A host that is finished is forgotten. While all hosts, and what the store has
 * of queues, take more than their part of --memory, hosts that wait for nothing
 * but their turn rest (host_table.h): at each commit those that have waited
 * longest, and new ones at once. The schedule wakes them when no other host has
 * been due for longer (frontier_wake).
 *
 * With budgets, politeness groups or other programs each host has more to
 * remember than a resting one can; then none rests.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "frontier/embedded/frontier_host.h"
#include "frontier/embedded/frontier_refresh.h"

#define HOSTS_LOOKED_AT 256                 /* at each commit */
#define REST_MOST       4096                /* the same */
#define KEEP_MOST       1024                /* of these, that may not */
#define WAKE_MOST       64                  /* in one go */
#define STEP_TOLD       (UINT64_C(1) << 20) /* octets */

void frontier_wait_once(struct frontier *f, struct host_queue *h)
{
    h->next_due = f->asked_before + frontier_pause(f, h);
}

struct host_queue *frontier_host(struct frontier *f, uint32_t queue)
{
    struct host_queue *h = host_table_get(&f->hosts, queue);
    bool rested = host_table_rests(&f->hosts, queue);

    if (h != NULL)
        return h;
    h = host_table_make(&f->hosts, queue);
    if (queue <= f->queues_before)
        frontier_wait_once(f, h);
    frontier_budget_join(f, h);
    if (rested) {
        h->next_due = clock_later(h->next_due, f->rested_due);
        frontier_reschedule(f, h);
    }
    return h;
}

static bool may_rest(const struct frontier *f)
{
    return f->hosts_beyond && f->groups == NULL && f->external == NULL &&
           !frontier_budget_counts(f);
}

void frontier_queue_grew(struct frontier *f, uint32_t queue)
{
    if (host_table_rests(&f->hosts, queue))
        return;
    if (host_table_get(&f->hosts, queue) == NULL && may_rest(f)) {
        host_table_rest_unasked(&f->hosts, queue, f->due.entered);
        f->hosts_active++;
        return;
    }
    frontier_reschedule(f, frontier_host(f, queue));
}

/* Also if both turns are the same: then the one on top was woken from the same
 * part of the line, and has not been asked yet. */
static bool goes_before(const struct heap_item *top, struct host_turn turn)
{
    return top->key != turn.due ? top->key < turn.due
                                : top->order <= turn.order;
}

void frontier_wake(struct frontier *f)
{
    for (unsigned i = 0; i < WAKE_MOST && f->hosts.resting > 0; i++) {
        const struct heap_item *top = heap_top(&f->due);
        struct host_turn turn;
        uint32_t queue = host_table_first(&f->hosts, &turn);
        struct host_queue *h;

        if (queue == 0 || (top != NULL && goes_before(top, turn)))
            return;
        host_table_pass(&f->hosts);
        h = frontier_host(f, queue);
        if (h->place.place > 0)
            heap_date_back(&f->due, &h->place, turn.order);
    }
}

/* A host in the middle of a run of URLs has a negative key
 * (frontier_schedule.c); its connection is open. */
static bool may_rest_now(const struct host_queue *h, int64_t now)
{
    return h->place.key >= 0 && host_queue_may_rest(h, now);
}

/* Those that have been due for longest; those among them that may not rest keep
 * their places. */
static void rest_some(struct frontier *f, int64_t now)
{
    struct host_queue *kept[KEEP_MOST];
    unsigned n = 0;

    for (unsigned i = 0; i < REST_MOST && n < KEEP_MOST; i++) {
        struct heap_item *top = heap_top(&f->due);
        struct host_queue *h;

        if (top == NULL || top->key > now)
            break;
        h = host_queue_at(top);
        heap_remove(&f->due, top);
        if (may_rest_now(h, now))
            host_table_rest(&f->hosts, h,
                            (struct host_turn){top->key, top->order});
        else
            kept[n++] = h;
    }
    for (unsigned i = 0; i < n; i++) {
        uint64_t order = kept[i]->place.order;

        heap_push(&f->due, &kept[i]->place, kept[i]->place.key);
        heap_date_back(&f->due, &kept[i]->place, order);
    }
}

static void look_from_the_first(struct frontier *f)
{
    f->host_octets = f->hosts_seen > 0 ? f->octets_seen / f->hosts_seen : 0;
    f->host_looked = 0;
    f->hosts_seen = f->octets_seen = 0;
}

/* Forgets hosts that are finished, a few at a time, and measures the others. */
static void forget_idle(struct frontier *f, int64_t now)
{
    for (unsigned i = 0; i < HOSTS_LOOKED_AT && f->hosts.room > 0; i++) {
        struct host_queue *h = host_table_get(&f->hosts, f->host_looked);

        if (h != NULL && host_queue_is_idle(h, now)) {
            (void)politeness_group_leave(f->groups, h, now);
            frontier_budget_leave(h);
            host_table_forget(&f->hosts, f->host_looked);
        } else if (h != NULL) {
            f->hosts_seen++;
            f->octets_seen += host_queue_octets(h);
        }
        if (++f->host_looked == f->hosts.room)
            look_from_the_first(f);
    }
}

uint64_t frontier_host_memory(const struct frontier *f)
{
    uint64_t each = f->host_octets > 0  ? f->host_octets
                    : f->hosts_seen > 0 ? f->octets_seen / f->hosts_seen
                                        : sizeof(struct host_queue);

    return f->hosts.awake * each + host_table_memory(&f->hosts) +
           link_sketch_memory(f->ordering.links) + frontier_refresh_memory(f) +
           history_memory(f->history);
}

void frontier_weigh_hosts(struct frontier *f)
{
    uint64_t octets = frontier_host_memory(f), told = f->octets_told;
    uint64_t step = told / 64 + STEP_TOLD;
    uint64_t all = octets + frontier_store_memory(f->store);

    f->hosts_beyond = all > f->host_memory;
    if (octets < told + step && octets + step > told)
        return;
    f->octets_told = octets;
    seen_store_note_queues(f->base, all);
}

void frontier_tend_hosts(struct frontier *f, int64_t now)
{
    forget_idle(f, now);
    frontier_weigh_hosts(f);
    if (may_rest(f))
        rest_some(f, now);
}
