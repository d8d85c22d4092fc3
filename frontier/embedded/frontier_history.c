/* SPDX-License-Identifier: MIT */
/*
 * frontier_history.c - --keep-history: passes over the fetches of the crawl,
 * some rows a turn (storage/rows/history.h).
 */
#include <stdatomic.h>

#include "frontier/embedded/frontier_fetched.h"

#define KIB  1024u
#define MIB  (1024u * KIB)
#define STEP 256 /* rows in a turn */

enum status frontier_history_open(struct frontier *f)
{
    return history_open(&f->history, f->base->db, f->pages, f->links,
                        seen_store_share(f->base, 1, 256 * KIB, 256 * MIB));
}

bool frontier_history_is_due(const struct frontier *f)
{
    return f->o.refresh.keep_history != 0 &&
           (history_is_running(f->history) ||
            history_is_due(f->history, f->o.refresh.keep_history));
}

static uint64_t first_unread(const struct frontier *f)
{
    return f->o.lines_upto != NULL ? atomic_load(f->o.lines_upto) : UINT64_MAX;
}

enum status frontier_history_step(struct frontier *f, int64_t now)
{
    const unsigned keep = f->o.refresh.keep_history;
    uint64_t removed = 0;
    enum status st;

    if (!frontier_history_is_due(f)) {
        history_stop(f->history);
        return STATUS_OK;
    }
    st = frontier_touch(f, now);
    if (st == STATUS_OK && !history_is_running(f->history))
        st = history_begin(f->history, keep, frontier_store_last_id(f->store),
                           first_unread(f));
    if (st == STATUS_OK)
        st = history_step(f->history, STEP, &removed);
    if (removed > 0)
        frontier_store_add(f->store, "history_removed", removed);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

enum status frontier_add_fetch(struct frontier *f, struct fetch_row *row,
                               uint64_t *seq)
{
    enum status st = page_store_add(f->pages, row, seq);

    if (st == STATUS_OK)
        history_add(f->history, row);
    return st;
}
