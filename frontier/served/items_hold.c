/* SPDX-License-Identifier: MIT */
/*
 * items_hold.c - URLs handed out, until settled or expired.
 *
 * A hold does not touch the URL's date: when it is over, the URL stands in its
 * queue where it stood before. So a row of item_lease is all there is to write,
 * and nothing when it expires.
 *
 * A lease is named by the URL and the moment it began, which no sweep of the
 * log and no restart changes.
 */
#include "frontier/served/items_impl.h"

static struct hold *hold_at(struct heap_item *until)
{
    return (struct hold *)(void *)until;
}

static struct item_queue *queue_waiting(struct heap_item *waiting)
{
    return (struct item_queue *)(void *)((char *)waiting -
                                         offsetof(struct item_queue, waiting));
}

struct hold *items_hold_of(const struct items *t, uint32_t id)
{
    return holds_find(t->holds, id);
}

uint64_t items_lease_id(const struct hold *h)
{
    return (uint64_t)h->id << 32 | (uint32_t)h->at_ms;
}

struct hold *items_hold_begin(struct items *t, uint32_t id, int64_t at_ms,
                              int64_t until_ms, uint64_t seq)
{
    struct item *i = item_at(t, id);
    struct hold *h = holds_add(t->holds, id);

    h->at_ms = at_ms;
    h->seq = seq;
    heap_push(&t->until, &h->until, until_ms);
    i->flags = (uint8_t)((i->flags & ~ITEM_LANE) | ITEM_HELD_FLAG);
    items_count(t, t->queues[i->queue], 0, 0, 1);
    return h;
}

void items_hold_end(struct items *t, struct hold *h)
{
    struct item *i = item_at(t, h->id);

    heap_remove(&t->until, &h->until);
    if (item_exists(t, h->id)) { /* else its queue was removed */
        i->flags &= (uint8_t)~ITEM_HELD_FLAG;
        items_count(t, t->queues[i->queue], 0, 0, -1);
    }
    holds_remove(t->holds, h);
}

static void expire(struct items *t, struct hold *h)
{
    uint32_t id = h->id;
    struct item_queue *q = t->queues[item_at(t, id)->queue];

    items_hold_end(t, h);
    if (!item_exists(t, id))
        return;
    items_wait(t, q, id);
    items_place(t, q);
}

void items_tick(struct items *t, int64_t now)
{
    struct heap_item *top;
    bool back = now < t->now;

    t->now = now;
    if (back) /* moments that were waited for are further away now */
        items_place_all(t);
    while ((top = heap_top(&t->until)) != NULL && top->key <= now)
        expire(t, hold_at(top));
    while ((top = heap_top(&t->waiting)) != NULL && top->key <= now)
        items_place(t, queue_waiting(top));
}
