/* SPDX-License-Identifier: MIT */
/*
 * items_save.c - commit and upkeep.
 *
 * The two logs are swept when more than half of their rows no longer count, a
 * few rows for each that was appended, so that no commit takes much longer
 * than another and the logs stay within twice of what counts.
 */
#include "frontier/served/items_impl.h"

#define SWEEP_MOST 4096

static enum status write_queues(struct items *t)
{
    enum status st = STATUS_OK;

    for (uint32_t i = 0; i < t->dirty_count && st == STATUS_OK; i++) {
        struct item_queue *q = t->queues[t->dirty[i]];
        struct item_queue_row row = {
            .removed_upto = q->removed_upto,
            .gone = q->gone,
            .delay_ms = q->delay_ms,
            .blocked_until_ms = q->blocked_until_ms,
            .completed_most = q->limit,
            .served_ms = q->served_ms,
        };

        q->dirty = false;
        st = item_log_set_queue(t->log, q->number, &row);
    }
    t->dirty_count = 0;
    return st;
}

/* ---- what still counts ---- */

static bool update_counts(void *ctx, const struct item_update *u)
{
    struct items *t = ctx;

    return item_exists(t, u->url) &&
           item_seq(item_at(t, (uint32_t)u->url)) == u->seq;
}

static void update_moved(void *ctx, uint64_t url, uint64_t seq)
{
    item_set_seq(item_at(ctx, (uint32_t)url), seq);
}

/* A lease that is over may be all that says when its queue was served. */
static bool lease_counts(void *ctx, const struct item_lease *e)
{
    struct items *t = ctx;
    const struct hold *h;
    struct item_queue *q;

    if (!item_exists(t, e->url))
        return false;
    h = items_hold_of(t, (uint32_t)e->url);
    if (h != NULL && h->seq == e->seq)
        return true;
    q = t->queues[item_at(t, (uint32_t)e->url)->queue];
    if (q->served_ms == e->at_ms)
        items_queue_dirty(t, q);
    return false;
}

static void lease_moved(void *ctx, uint64_t url, uint64_t seq)
{
    items_hold_of(ctx, (uint32_t)url)->seq = seq;
}

static uint64_t sweep_rows(uint64_t appended)
{
    uint64_t rows = 2 * appended + 64;

    return rows < SWEEP_MOST ? rows : SWEEP_MOST;
}

static enum status sweep(struct items *t)
{
    const struct item_log_keep keep = {update_counts, update_moved,
                                       lease_counts, lease_moved, t};
    struct item_log_counts c = item_log_counts(t->log);
    enum status st = STATUS_OK;

    if (c.updates > 2 * t->logged + t->sweep_from)
        st = item_log_sweep_updates(t->log, sweep_rows(c.new_updates), &keep);
    if (st == STATUS_OK && c.leases > 2 * holds_count(t->holds) + t->sweep_from)
        st = item_log_sweep_leases(t->log, sweep_rows(c.new_leases), &keep);
    return st;
}

enum status items_commit(struct items *t, int64_t now)
{
    struct engine *e = &t->f->engine;
    enum status st;

    if (!t->changed)
        return STATUS_OK;
    t->now = now;
    st = items_touch(t, now);
    if (st == STATUS_OK)
        st = sweep(t);
    if (st == STATUS_OK)
        st = write_queues(t);
    if (st == STATUS_OK)
        st = e->ops->turn(e, true, INT64_MIN, now, NULL);
    if (st != STATUS_OK)
        return frontier_broke(t->f, st);
    t->changed = false;
    return STATUS_OK;
}

enum status items_begin(struct items *t, int64_t now)
{
    enum status st = items_touch(t, now);

    if (st == STATUS_OK)
        st = frontier_store_set_meta(t->f->store, "seeds_complete",
                                     bytes_of_str("1"));
    return st == STATUS_OK ? items_commit(t, now) : frontier_broke(t->f, st);
}

bool items_dirty(const struct items *t)
{
    return t->changed;
}

uint64_t items_memory(const struct items *t)
{
    uint64_t bytes = sizeof *t +
                     (uint64_t)t->chunk_count * sizeof(struct item_chunk) +
                     holds_memory(t->holds) + t->room * 64;

    for (uint32_t i = 0; i < t->queue_room; i++) {
        const struct item_queue *q = t->queues[i];

        if (q != NULL)
            bytes += sizeof *q + q->due.cap * sizeof *q->due.entries;
    }
    return bytes;
}
