/* SPDX-License-Identifier: MIT */
/*
 * served_control.c - removal, delays, blocks, limits.
 *
 * Ids are given in order of arrival, so the removed URLs of a queue, all of
 * them or the older ones, are always those up to some id, which is one number
 * for each queue. Their rows, leases and heap entries stay and are skipped;
 * only the queue's row is written, and removing a queue takes as long with a
 * million URLs as with one.
 */
#include <stdio.h>

#include "frontier/served/served_impl.h"

/* Subtracts what the queue has lost from the counts of crawl and total. */
static void uncount(struct served *t, struct served_queue *q, uint32_t active,
                    uint32_t completed, uint32_t leased, uint32_t logged)
{
    served_count(t, q, -(int32_t)active, -(int32_t)completed, -(int32_t)leased);
    q->logged -= logged;
    t->removed = true;
    t->logged -= logged;
}

static uint64_t remove_queue(struct served *t, struct served_queue *q)
{
    uint64_t gone = (uint64_t)q->active + q->completed;

    uncount(t, q, q->active, q->completed, q->leased, q->logged);
    if (q->tail != 0)
        q->removed_upto = q->tail;
    q->head = q->tail = q->lane = 0;
    due_heap_fini(&q->back);
    due_heap_fini(&q->due);
    q->gone = true;
    q->delay_ms = -1;
    q->blocked_until_ms = q->served_ms = 0;
    q->limit = 0;
    served_queue_vanish(t, q);
    served_queue_dirty(t, q);
    served_place(t, q);
    return gone;
}

enum status served_remove_queue(struct served *t, struct bytes crawl,
                                struct bytes key, int64_t now, uint64_t *gone)
{
    struct served_queue *q = served_find_queue(t, crawl, key);
    enum status st;

    *gone = 0;
    served_tick(t, now);
    if (q == NULL)
        return STATUS_OK;
    st = served_touch(t);
    if (st == STATUS_OK)
        *gone = remove_queue(t, q);
    return st;
}

enum status served_remove_crawl(struct served *t, struct bytes crawl,
                                int64_t now, uint64_t *gone)
{
    struct served_crawl *c = served_find_crawl(t, crawl);
    enum status st;

    *gone = 0;
    served_tick(t, now);
    if (c == NULL || c->count == 0)
        return STATUS_OK;
    st = served_touch(t);
    while (st == STATUS_OK && c->count > 0) /* backwards: nothing moves */
        *gone += remove_queue(t, t->queues[c->queues[c->count - 1]]);
    return st;
}

/* ---- purge ---- */

static uint64_t purge_queue(struct served *t, struct served_queue *q,
                            uint64_t last)
{
    uint32_t active = 0, completed = 0, leased = 0, logged = 0, id = q->head;
    bool lane_goes = q->lane != 0 && q->lane <= last;

    for (; id != 0 && id <= last; id = served_url_at(t, id)->next) {
        const struct served_url *i = served_url_at(t, id);

        active += i->life != LIFE_DONE;
        completed += i->life == LIFE_DONE;
        leased += (i->flags & SERVED_LEASED) != 0;
        logged += served_url_seq(i) != 0;
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
    served_queue_dirty(t, q);
    served_place(t, q);
    return (uint64_t)active + completed;
}

enum status served_purge(struct served *t, struct bytes crawl, struct bytes key,
                         int64_t before_ms, int64_t now, uint64_t *gone)
{
    struct served_crawl *c = served_find_crawl(t, crawl);
    struct served_queue *q =
        key.len > 0 ? served_find_queue(t, crawl, key) : NULL;
    uint64_t last = 0;
    enum status st;

    *gone = 0;
    served_tick(t, now);
    if (c == NULL || (key.len > 0 && q == NULL))
        return STATUS_OK;
    st = served_touch(t);
    if (st == STATUS_OK)
        st = frontier_store_last_before(t->base->store, before_ms, &last);
    if (st != STATUS_OK)
        return seen_store_broke(t->base, st);
    if (q != NULL)
        *gone = purge_queue(t, q, last);
    for (uint32_t i = 0; q == NULL && i < c->count; i++)
        *gone += purge_queue(t, t->queues[c->queues[i]], last);
    return STATUS_OK;
}

/* ---- delays, blocks, limits ---- */

/* Finds the queue and begins a change. STATUS_NOT_FOUND: there is none. */
static enum status change(struct served *t, struct bytes crawl,
                          struct bytes key, int64_t now,
                          struct served_queue **q)
{
    enum status st;

    served_tick(t, now);
    *q = served_find_queue(t, crawl, key);
    if (*q == NULL)
        return STATUS_NOT_FOUND;
    st = served_touch(t);
    if (st == STATUS_OK)
        served_queue_dirty(t, *q);
    return st;
}

enum status served_block(struct served *t, struct bytes crawl, struct bytes key,
                         int64_t until_ms, int64_t now)
{
    struct served_queue *q;
    enum status st = change(t, crawl, key, now, &q);

    if (st != STATUS_OK)
        return st;
    q->blocked_until_ms = until_ms;
    served_place(t, q);
    return STATUS_OK;
}

enum status served_set_delay(struct served *t, struct bytes crawl,
                             struct bytes key, int64_t delay_ms, int64_t now)
{
    struct served_queue *q;
    enum status st = change(t, crawl, key, now, &q);

    if (st != STATUS_OK)
        return st;
    q->delay_ms = delay_ms;
    served_place(t, q);
    return STATUS_OK;
}

enum status served_set_limit(struct served *t, struct bytes crawl,
                             struct bytes key, uint32_t most, int64_t now)
{
    struct served_queue *q;
    enum status st = change(t, crawl, key, now, &q);

    if (st != STATUS_OK)
        return st;
    q->limit = most;
    served_place(t, q);
    return STATUS_OK;
}

static enum status set_meta_number(struct served *t, const char *name,
                                   int64_t value)
{
    char text[24];
    enum status st = served_touch(t);

    snprintf(text, sizeof text, "%lld", (long long)value);
    return st == STATUS_OK ? frontier_store_set_meta(t->base->store, name,
                                                     bytes_of_str(text))
                           : st;
}

enum status served_set_default_delay(struct served *t, int64_t delay_ms,
                                     int64_t now)
{
    enum status st;

    served_tick(t, now);
    st = set_meta_number(t, "item_delay_ms", delay_ms);
    if (st != STATUS_OK)
        return seen_store_broke(t->base, st);
    t->default_delay_ms = delay_ms;
    served_place_all(t);
    return STATUS_OK;
}

enum status served_set_active(struct served *t, bool active)
{
    enum status st = set_meta_number(t, "items_active", active);

    if (st != STATUS_OK)
        return seen_store_broke(t->base, st);
    t->active = active;
    return STATUS_OK;
}

bool served_active(const struct served *t)
{
    return t->active;
}
