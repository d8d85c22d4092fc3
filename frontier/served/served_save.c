/* SPDX-License-Identifier: MIT */
/*
 * served_save.c - commit, upkeep and checkpoints.
 *
 * A log is swept when more than half of its rows no longer count, a few rows
 * for each one appended, so that no commit takes much longer than another and a
 * log has at most twice the rows that count.
 */
#include "frontier/served/served_impl.h"

#define SWEEP_MOST 4096

static enum status write_queues(struct served *t)
{
    enum status st = STATUS_OK;

    for (uint32_t i = 0; i < t->dirty_count && st == STATUS_OK; i++) {
        struct served_queue *q = t->queues[t->dirty[i]];
        struct served_queue_row row = {
            .removed_upto = q->removed_upto,
            .gone = q->gone,
            .delay_ms = q->delay_ms,
            .blocked_until_ms = q->blocked_until_ms,
            .completed_most = q->limit,
            .served_ms = q->served_ms,
        };

        q->dirty = false;
        st = served_log_set_queue(t->log, q->number, &row);
    }
    t->dirty_count = 0;
    return st;
}

/* ---- rows that still count ---- */

static bool update_counts(void *ctx, const struct served_update_row *u)
{
    struct served *t = ctx;

    return served_url_exists(t, u->url) &&
           served_url_seq(served_url_at(t, (uint32_t)u->url)) == u->seq;
}

static void update_moved(void *ctx, uint64_t url, uint64_t seq)
{
    served_url_set_seq(served_url_at(ctx, (uint32_t)url), seq);
}

/* An ended lease may be the only record of when its queue was served. */
static bool lease_counts(void *ctx, const struct served_lease_row *e)
{
    struct served *t = ctx;
    const struct served_lease *h;
    struct served_queue *q;

    if (!served_url_exists(t, e->url))
        return false;
    h = served_lease_of(t, (uint32_t)e->url);
    if (h != NULL && h->seq == e->seq)
        return true;
    q = t->queues[served_url_at(t, (uint32_t)e->url)->queue];
    if (q->served_ms == e->at_ms)
        served_queue_dirty(t, q);
    return false;
}

static void lease_moved(void *ctx, uint64_t url, uint64_t seq)
{
    served_lease_of(ctx, (uint32_t)url)->seq = seq;
}

static uint64_t sweep_rows(uint64_t appended)
{
    uint64_t rows = 2 * appended + 64;

    return rows < SWEEP_MOST ? rows : SWEEP_MOST;
}

static enum status sweep(struct served *t)
{
    const struct served_log_keep keep = {update_counts, update_moved,
                                         lease_counts, lease_moved, t};
    struct served_log_counts c = served_log_counts(t->log);
    enum status st = STATUS_OK;

    if (c.updates > 2 * t->logged + t->sweep_from)
        st = served_log_sweep_updates(t->log, sweep_rows(c.new_updates), &keep);
    if (st == STATUS_OK &&
        c.leases > 2 * served_leases_count(t->leases) + t->sweep_from)
        st = served_log_sweep_leases(t->log, sweep_rows(c.new_leases), &keep);
    return st;
}

static enum status write_changes(struct served *t)
{
    enum status st = served_touch(t);

    if (st == STATUS_OK)
        st = sweep(t);
    if (st == STATUS_OK)
        st = write_queues(t);
    return st;
}

enum status served_commit(struct served *t)
{
    enum status st;

    if (!t->changed)
        return STATUS_OK;
    seen_store_poll(t->base);
    st = write_changes(t);
    if (st == STATUS_OK)
        st = seen_store_commit(t->base);
    if (st != STATUS_OK)
        return seen_store_broke(t->base, st);
    t->changed = false;
    return STATUS_OK;
}

static enum status checkpoint(struct served *t,
                              const struct seen_store_checkpoint *c,
                              int64_t now)
{
    enum status st = served_commit(t);

    if (st == STATUS_OK)
        st = seen_store_prepare(t->base, c);
    if (st == STATUS_OK)
        st = seen_store_commit(t->base);
    return st == STATUS_OK ? seen_store_save(t->base, c, now) : st;
}

enum status served_checkpoint(struct served *t, bool wait, int64_t now)
{
    const struct seen_store_checkpoint c = {.state = "running", .wait = wait};

    return checkpoint(t, &c, now);
}

enum status served_stop(struct served *t, int64_t now)
{
    const struct seen_store_checkpoint c = {"stopped", true, true};

    return checkpoint(t, &c, now);
}

bool served_dirty(const struct served *t)
{
    return t->changed;
}

uint64_t served_memory(const struct served *t)
{
    uint64_t bytes = seen_store_memory(t->base).all + sizeof *t +
                     (uint64_t)t->chunk_count * sizeof(struct served_chunk) +
                     served_leases_memory(t->leases) + t->room * 64;

    for (uint32_t i = 0; i < t->queue_room; i++) {
        const struct served_queue *q = t->queues[i];

        if (q != NULL)
            bytes += sizeof *q + ((uint64_t)q->back.cap + q->due.cap) *
                                     sizeof *q->due.entries;
    }
    return bytes;
}

uint64_t served_rows(const struct served *t)
{
    return frontier_store_last_id(t->base->store);
}

void served_get_stats(struct served *t, struct frontier_stats *out)
{
    frontier_stats_of_seen(t->base, out);
}
