/* SPDX-License-Identifier: MIT */
/*
 * items_open.c - what the store holds, at the start.
 *
 * In this order: what was removed (rows of queues), then every URL that was not
 * (in order of arrival, so each chain comes out in order), the latest lease of
 * each, and the updates, which may have ended it. Counters, heaps and turns
 * are made from that, never read. One read transaction, which spares SQLite to
 * lock the file for each row.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/served/items_impl.h"

#define SWEEP_FROM 4096

static void take_queue(void *ctx, uint32_t number,
                       const struct item_queue_row *row)
{
    struct items *t = ctx;
    struct item_queue *q;

    if (number == 0 || number > frontier_store_queue_count(t->f->store))
        return; /* found by verify */
    q = items_queue(t, number);
    q->removed_upto = row->removed_upto;
    q->gone = row->gone;
    q->delay_ms = row->delay_ms;
    q->blocked_until_ms = row->blocked_until_ms;
    q->limit = row->completed_most;
    q->served_ms = row->served_ms;
}

static void take_url(void *ctx, uint64_t id, uint32_t origin, int64_t at_ms)
{
    struct items *t = ctx;
    uint32_t number = frontier_store_origin_queue(t->f->store, origin);
    struct item_queue *q;
    struct item *i;

    if (number == 0 || id > ITEM_ID_MOST ||
        id > frontier_store_last_id(t->f->store))
        return; /* found by verify */
    if (at_ms > t->last_at_ms)
        t->last_at_ms = at_ms;
    q = items_queue(t, number);
    if (id <= q->removed_upto) {
        t->removed = true;
        return;
    }
    i = items_make_room(t, (uint32_t)id);
    *i = (struct item){.due_ms = at_ms, .queue = number, .flags = ITEM_LANE};
    q->gone = false;
    items_append(t, q, (uint32_t)id);
}

/* ---- leases ---- */

static void take_lease(void *ctx, const struct item_lease *e)
{
    struct items *t = ctx;
    uint32_t id = (uint32_t)e->url;
    struct item_queue *q;
    struct hold *h;
    int64_t until; /* never longer than it was given for: clocks are set back */

    if (!item_exists(t, e->url))
        return;
    q = t->queues[item_at(t, id)->queue];
    if (e->at_ms > q->served_ms)
        q->served_ms = e->at_ms;
    h = items_hold_of(t, id);
    if (h != NULL) /* a later lease takes its place */
        items_hold_end(t, h);
    until = clock_earlier(e->until_ms, t->now + (e->until_ms - e->at_ms));
    if (until > t->now)
        (void)items_hold_begin(t, id, e->at_ms, until, e->seq);
}

/* ---- updates ---- */

/* Updates come in no order of URLs; nothing but the item is touched here, so
 * that one costs one cache line. */
static void take_update(void *ctx, const struct item_update *u)
{
    struct items *t = ctx;
    uint32_t id = (uint32_t)u->url;
    struct item *i;

    if (u->url / ITEM_CHUNK >= t->chunk_count || item_at(t, id)->queue == 0)
        return;
    i = item_at(t, id);
    item_set_seq(i, u->seq);
    if ((i->flags & ITEM_HELD_FLAG) != 0 &&
        items_hold_of(t, id)->seq < u->since)
        items_hold_end(t, items_hold_of(t, id));
    if ((i->flags & ITEM_LANE) != 0 && u->due_ms == i->due_ms)
        return; /* metadata of a URL that is as it was put */
    i->due_ms = u->due_ms;
    i->flags = (uint8_t)((i->flags & ITEM_HELD_FLAG) |
                         (u->due_ms == 0 ? ITEM_COMPLETE : 0));
}

/* ---- counters, heaps, turns ---- */

static int by_last_served(const void *a, const void *b)
{
    const struct item_queue *x = *(struct item_queue *const *)a;
    const struct item_queue *y = *(struct item_queue *const *)b;

    if (x->served_ms != y->served_ms)
        return x->served_ms < y->served_ms ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void add_counts(struct url_counts *c, const struct item_queue *q)
{
    c->active += q->active;
    c->completed += q->completed;
    c->active_queues += q->active > 0;
}

static void take_item(struct items *t, const struct item *i, uint32_t id)
{
    const uint8_t both = ITEM_COMPLETE | ITEM_HELD_FLAG;
    struct item_queue *q = t->queues[i->queue];

    if ((i->flags & both) == both) /* no completed URL is ever handed out */
        items_hold_end(t, items_hold_of(t, id));
    if ((i->flags & ITEM_COMPLETE) != 0)
        q->completed++;
    else
        q->active++;
    if (item_seq(i) != 0) {
        q->logged++;
        t->logged++;
    }
    if (i->flags == 0)
        items_wait(t, q, id);
}

static void take_items(struct items *t)
{
    for (uint32_t c = 0; c < t->chunk_count; c++) {
        for (uint32_t k = 0; k < ITEM_CHUNK; k++) {
            const struct item *i = &t->chunks[c]->items[k];

            if (i->queue != 0)
                take_item(t, i, c * ITEM_CHUNK + k);
        }
    }
}

static void set_turns(struct items *t)
{
    struct item_queue **order =
        xcalloc(t->queue_room + 1, sizeof(struct item_queue *));
    size_t n = 0;

    for (uint32_t i = 0; i < t->queue_room; i++) {
        struct item_queue *q = t->queues[i];

        if (q != NULL && (q->head != 0 || !q->gone))
            order[n++] = q;
    }
    for (size_t i = 0; i < n; i++) {
        items_queue_appear(t, order[i]);
        add_counts(&items_crawl_of(t, order[i])->counts, order[i]);
        add_counts(&t->counts, order[i]);
    }
    qsort(order, n, sizeof(struct item_queue *), by_last_served);
    for (size_t i = 0; i < n; i++) {
        t->turn++;
        order[i]->turn = t->turn;
    }
    free(order);
}

static enum status read_settings(struct items *t)
{
    int64_t active = 1;
    enum status st = frontier_store_meta_time(t->f->store, "item_delay_ms",
                                              &t->default_delay_ms);

    if (st == STATUS_OK)
        st = frontier_store_meta_time(t->f->store, "items_active", &active);
    t->active = active != 0;
    return st;
}

static enum status read_store(struct items *t)
{
    enum status st = item_log_open(&t->log, t->f->db);

    if (st == STATUS_OK)
        st = read_settings(t);
    if (st == STATUS_OK)
        st = item_log_each_queue(t->log, take_queue, t);
    if (st == STATUS_OK)
        st = item_log_each_url(t->log, take_url, t);
    if (st == STATUS_OK)
        st = item_log_each_lease(t->log, take_lease, t);
    if (st == STATUS_OK)
        st = item_log_each_update(t->log, take_update, t);
    if (st != STATUS_OK)
        return st;
    take_items(t);
    set_turns(t);
    items_place_all(t);
    return STATUS_OK;
}

enum status items_open(struct items **out, struct engine *e,
                       const struct items_options *o, int64_t now)
{
    struct items *t = xcalloc(1, sizeof *t);
    enum status st;

    t->f = (struct frontier *)e;
    t->now = now;
    t->sweep_from = o->sweep_from > 0 ? o->sweep_from : SWEEP_FROM;
    t->default_delay_ms = DEFAULT_DELAY_MS;
    t->crawl_of = map_new();
    t->holds = holds_new();
    heap_init(&t->waiting);
    heap_init(&t->until);
    buf_init(&t->metadata, ITEM_BYTES_MOST);
    buf_init(&t->text, ITEM_BYTES_MOST);
    st = db_begin(t->f->db);
    if (st == STATUS_OK) {
        st = read_store(t);
        db_rollback(t->f->db);
        db_forget_pages(t->f->db);
    }
    if (st != STATUS_OK) {
        items_close(t);
        return st;
    }
    *out = t;
    return STATUS_OK;
}

static void free_crawl(struct item_crawl *c)
{
    turns_fini(&c->turns);
    free(c->queues);
    free(c);
}

void items_close(struct items *t)
{
    if (t == NULL)
        return;
    for (uint32_t i = 0; i < t->queue_room; i++) {
        if (t->queues[i] != NULL)
            due_heap_fini(&t->queues[i]->due);
        free(t->queues[i]);
    }
    for (uint32_t i = 0; i < t->crawl_count; i++)
        free_crawl(t->crawls[i]);
    for (uint32_t i = 0; i < t->chunk_count; i++)
        free(t->chunks[i]);
    holds_free(t->holds);
    map_free(t->crawl_of, NULL);
    turns_fini(&t->turns);
    heap_fini(&t->waiting);
    heap_fini(&t->until);
    item_log_close(t->log);
    free(t->chunks);
    free(t->queues);
    free(t->crawls);
    free(t->dirty);
    free(t->digests);
    free(t->fresh);
    free(t->asked);
    free(t->answers);
    free(t->heard);
    free(t->ids);
    free(t->found);
    free(t->open);
    buf_fini(&t->metadata);
    buf_fini(&t->text);
    free(t);
}
