/* SPDX-License-Identifier: MIT */
/*
 * readmit.c - queues a done URL again.
 *
 * Rows and done bits are never changed back, so that a crash finds either the
 * old state or the new one. The URL gets a new row (URL_ROW_AGAIN), which its
 * digest belongs to from then on; its old tries stay with the old row.
 */
#include "frontier/embedded/frontier_host.h"
#include "frontier/embedded/frontier_links.h"
#include "frontier/embedded/frontier_refresh.h"
#include "frontier/seen/row_digest.h"

static enum status uncount(struct frontier *f, const struct url_row *row,
                           struct outcome o, int64_t now, int64_t wall_ms)
{
    struct host_queue *h = frontier_host(f, row->queue);

    frontier_count_outcome(f, o, row->kind, true);
    if ((row->flags & URL_ROW_SEED) != 0 && outcome_fails_seed(o))
        frontier_store_add(f->store, "seeds_failed", UINT64_MAX);
    return frontier_counts_as_page(f, o, row->kind)
               ? frontier_budget_return(f, h, now, wall_ms)
               : STATUS_OK;
}

enum status frontier_readmit(struct frontier *f, const struct url_row *row,
                             struct outcome o, int64_t now, int64_t wall_ms,
                             bool *back)
{
    struct digest d = row_digest(&f->base->key, f->store, row);
    struct url_row again = *row;
    uint64_t id = 0, same;
    enum status st = exact_set_find(f->base->exact, &d, 1, &id);

    *back = false;
    if (st != STATUS_OK || id != row->id ||
        !frontier_store_is_done(f->store, id) ||
        frontier_refresh_life(f, id) == LIFE_AGAIN) /* it is asked just now */
        return st;
    again.flags =
        (uint8_t)((row->flags & ~URL_ROW_FALSE_POSITIVE) | URL_ROW_AGAIN);
    again.found_at_ms = wall_ms;
    st = uncount(f, row, o, now, wall_ms);
    if (st == STATUS_OK)
        st = frontier_store_admit(f->store, &again, &id);
    if (st != STATUS_OK)
        return st;
    seen_store_replace(f->base, d, id);
    frontier_store_add(f->store, "readmitted", 1);
    st = frontier_note_root(f, again.depth, id);
    if (st != STATUS_OK)
        return st;
    again.id = id;
    st = frontier_order_row(f, &again);
    if (st != STATUS_OK)
        return st;
    frontier_reschedule(f, frontier_host(f, row->queue));
    *back = true;
    same = id; /* paths to the old row go on to the new one */
    return f->keeps_paths ? path_log_add(f->path_log, row->id, true, &same, 1)
                          : STATUS_OK;
}
