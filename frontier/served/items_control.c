/* SPDX-License-Identifier: MIT */
/*
 * items_control.c - removal, delays, blocks, limits.
 *
 * Ids are given in order of arrival, so the URLs of a queue that are removed,
 * all of them or the older ones, are always those up to some id: one number a
 * queue says so. Their rows, holds and heap entries stay where they are and
 * are passed over; nothing is written but the queue's row, and removing a queue
 * takes as long with a million URLs as with one.
 */
#include <stdio.h>

#include "frontier/served/items_impl.h"

/* Counts what the queue has no more, out of crawl and all. */
static void uncount(struct items *t, struct item_queue *q, uint32_t active,
                    uint32_t completed, uint32_t leased, uint32_t logged)
{
    items_count(t, q, -(int32_t)active, -(int32_t)completed, -(int32_t)leased);
    q->logged -= logged;
    t->removed = true;
    t->logged -= logged;
}

static uint64_t remove_queue(struct items *t, struct item_queue *q)
{
    uint64_t gone = (uint64_t)q->active + q->completed;

    uncount(t, q, q->active, q->completed, q->leased, q->logged);
    if (q->tail != 0)
        q->removed_upto = q->tail;
    q->head = q->tail = q->lane = 0;
    due_heap_fini(&q->due);
    q->gone = true;
    q->delay_ms = -1;
    q->blocked_until_ms = q->served_ms = 0;
    q->limit = 0;
    items_queue_vanish(t, q);
    items_queue_dirty(t, q);
    items_place(t, q);
    return gone;
}

enum status items_remove_queue(struct items *t, struct bytes crawl,
                               struct bytes key, int64_t now, uint64_t *gone)
{
    struct item_queue *q = items_find_queue(t, crawl, key);
    enum status st;

    *gone = 0;
    items_tick(t, now);
    if (q == NULL)
        return STATUS_OK;
    st = items_touch(t, now);
    if (st == STATUS_OK)
        *gone = remove_queue(t, q);
    return st;
}

enum status items_remove_crawl(struct items *t, struct bytes crawl, int64_t now,
                               uint64_t *gone)
{
    struct item_crawl *c = items_find_crawl(t, crawl);
    enum status st;

    *gone = 0;
    items_tick(t, now);
    if (c == NULL || c->count == 0)
        return STATUS_OK;
    st = items_touch(t, now);
    while (st == STATUS_OK && c->count > 0) /* from the end: nothing moves */
        *gone += remove_queue(t, t->queues[c->queues[c->count - 1]]);
    return st;
}

/* ---- purge ---- */

static uint64_t purge_queue(struct items *t, struct item_queue *q,
                            uint64_t last)
{
    uint32_t active = 0, completed = 0, leased = 0, logged = 0, id = q->head;
    bool lane_goes = q->lane != 0 && q->lane <= last;

    for (; id != 0 && id <= last; id = item_at(t, id)->next) {
        const struct item *i = item_at(t, id);

        active += (i->flags & ITEM_COMPLETE) == 0;
        completed += (i->flags & ITEM_COMPLETE) != 0;
        leased += (i->flags & ITEM_HELD_FLAG) != 0;
        logged += item_seq(i) != 0;
        q->removed_upto = id;
    }
    if (active + completed == 0)
        return 0;
    q->head = id;
    if (id == 0)
        q->tail = 0;
    if (lane_goes)
        q->lane = id;
    uncount(t, q, active, completed, leased, logged);
    items_queue_dirty(t, q);
    items_place(t, q);
    return (uint64_t)active + completed;
}

enum status items_purge(struct items *t, struct bytes crawl, struct bytes key,
                        int64_t before_ms, int64_t now, uint64_t *gone)
{
    struct item_crawl *c = items_find_crawl(t, crawl);
    struct item_queue *q = key.len > 0 ? items_find_queue(t, crawl, key) : NULL;
    uint64_t last = 0;
    enum status st;

    *gone = 0;
    items_tick(t, now);
    if (c == NULL || (key.len > 0 && q == NULL))
        return STATUS_OK;
    st = items_touch(t, now);
    if (st == STATUS_OK)
        st = frontier_store_last_before(t->f->store, before_ms, &last);
    if (st != STATUS_OK)
        return frontier_broke(t->f, st);
    if (q != NULL)
        *gone = purge_queue(t, q, last);
    for (uint32_t i = 0; q == NULL && i < c->count; i++)
        *gone += purge_queue(t, t->queues[c->queues[i]], last);
    return STATUS_OK;
}

/* ---- delays, blocks, limits ---- */

/* The queue, about to be changed. STATUS_NOT_FOUND: there is none. */
static enum status change(struct items *t, struct bytes crawl, struct bytes key,
                          int64_t now, struct item_queue **q)
{
    enum status st;

    items_tick(t, now);
    *q = items_find_queue(t, crawl, key);
    if (*q == NULL)
        return STATUS_NOT_FOUND;
    st = items_touch(t, now);
    if (st == STATUS_OK)
        items_queue_dirty(t, *q);
    return st;
}

enum status items_block(struct items *t, struct bytes crawl, struct bytes key,
                        int64_t until_ms, int64_t now)
{
    struct item_queue *q;
    enum status st = change(t, crawl, key, now, &q);

    if (st != STATUS_OK)
        return st;
    q->blocked_until_ms = until_ms;
    items_place(t, q);
    return STATUS_OK;
}

enum status items_set_delay(struct items *t, struct bytes crawl,
                            struct bytes key, int64_t delay_ms, int64_t now)
{
    struct item_queue *q;
    enum status st = change(t, crawl, key, now, &q);

    if (st != STATUS_OK)
        return st;
    q->delay_ms = delay_ms;
    items_place(t, q);
    return STATUS_OK;
}

enum status items_set_limit(struct items *t, struct bytes crawl,
                            struct bytes key, uint32_t most, int64_t now)
{
    struct item_queue *q;
    enum status st = change(t, crawl, key, now, &q);

    if (st != STATUS_OK)
        return st;
    q->limit = most;
    items_place(t, q);
    return STATUS_OK;
}

static enum status set_meta_number(struct items *t, const char *name,
                                   int64_t value)
{
    char text[24];
    enum status st = items_touch(t, t->now);

    snprintf(text, sizeof text, "%lld", (long long)value);
    return st == STATUS_OK
               ? frontier_store_set_meta(t->f->store, name, bytes_of_str(text))
               : st;
}

enum status items_set_default_delay(struct items *t, int64_t delay_ms,
                                    int64_t now)
{
    enum status st;

    items_tick(t, now);
    st = set_meta_number(t, "item_delay_ms", delay_ms);
    if (st != STATUS_OK)
        return frontier_broke(t->f, st);
    t->default_delay_ms = delay_ms;
    items_place_all(t);
    return STATUS_OK;
}

enum status items_set_active(struct items *t, bool active)
{
    enum status st = set_meta_number(t, "items_active", active);

    if (st != STATUS_OK)
        return frontier_broke(t->f, st);
    t->active = active;
    return STATUS_OK;
}

bool items_active(const struct items *t)
{
    return t->active;
}
