/* SPDX-License-Identifier: MIT */
/*
 * served_lease.c - leased URLs, until settled or expired.
 *
 * A lease does not change the URL's date: when it is over, the URL is in its
 * old place in its queue. So only a row of item_lease is written, and nothing
 * when it expires.
 *
 * A lease is named by the URL and the time it began, which neither a sweep of
 * the log nor a restart changes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/served/served_impl.h"

static struct served_lease *lease_at(struct heap_item *until)
{
    return (struct served_lease *)(void *)until;
}

static struct served_queue *queue_waiting(struct heap_item *waiting)
{
    return (
        struct served_queue *)(void *)((char *)waiting -
                                       offsetof(struct served_queue, waiting));
}

struct served_lease *served_lease_of(const struct served *t, uint32_t id)
{
    return served_leases_find(t->leases, id);
}

/* A URL is leased twice at the same value of the time's lowest bits once in a
 * million times: of a shard, whose number takes the place of the others. */
uint64_t served_lease_id(const struct served *t, const struct served_lease *h)
{
    uint32_t at = (uint32_t)h->at_ms;

    if (t->is_shard)
        at = t->shard << SERVED_LEASE_SHARD |
             (at & ((1U << SERVED_LEASE_SHARD) - 1));
    return (uint64_t)h->id << 32 | at;
}

struct served_lease *served_lease_begin(struct served *t, uint32_t id,
                                        int64_t at_ms, int64_t until_ms,
                                        uint64_t seq)
{
    struct served_url *i = served_url_at(t, id);
    struct served_lease *h = served_leases_add(t->leases, id);

    h->at_ms = at_ms;
    h->length_ms = until_ms - at_ms;
    h->seq = seq;
    heap_push(&t->until, &h->until, until_ms);
    i->life = (uint8_t)url_life_after(i->life, LIFE_LEASE);
    i->flags = (uint8_t)((i->flags & ~SERVED_LANE) | SERVED_LEASED);
    served_count(t, t->queues[i->queue], 0, 0, 1);
    return h;
}

void served_lease_end(struct served *t, struct served_lease *h,
                      enum life_event how)
{
    struct served_url *i = served_url_at(t, h->id);

    heap_remove(&t->until, &h->until);
    if (served_url_exists(t, h->id)) { /* else its queue was removed */
        i->life = (uint8_t)url_life_after(i->life, how);
        i->flags &= (uint8_t)~SERVED_LEASED;
        served_count(t, t->queues[i->queue], 0, 0, -1);
    }
    served_leases_remove(t->leases, h);
}

static void expire(struct served *t, struct served_lease *h)
{
    uint32_t id = h->id;
    struct served_queue *q = t->queues[served_url_at(t, id)->queue];

    served_lease_end(t, h, LIFE_GIVE_BACK);
    if (!served_url_exists(t, id))
        return;
    served_wait(t, q, id);
    served_place(t, q);
}

/* The clock was set back: nothing waits longer than it was to. */
static void set_back(struct served *t)
{
    size_t n = heap_count(&t->until);
    struct heap_item **all = xcalloc(n + 1, sizeof(struct heap_item *));

    if (n > 0)
        memcpy(all, t->until.items, n * sizeof(struct heap_item *));
    for (size_t i = 0; i < n; i++) {
        int64_t most = t->now + lease_at(all[i])->length_ms;

        if (all[i]->key > most)
            heap_move(&t->until, all[i], most);
    }
    free(all);
    served_place_all(t);
}

void served_tick(struct served *t, int64_t now)
{
    struct heap_item *top;
    bool back = now < t->now;

    t->now = now;
    if (back)
        set_back(t);
    while ((top = heap_top(&t->until)) != NULL && top->key <= now)
        expire(t, lease_at(top));
    while ((top = heap_top(&t->waiting)) != NULL && top->key <= now)
        served_place(t, queue_waiting(top));
}
