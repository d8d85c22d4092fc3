/* SPDX-License-Identifier: MIT */
/*
 * refresh_counts.c - how many URLs are overdue, and how many copies are up to
 * date.
 *
 * What depends on the calendar alone is a counter of the store, in the
 * transaction of the row: how many dated URLs have a known rate of change, and
 * the sum of their freshness if each is asked at its date, and how many wait for
 * another try. What depends on the time is counted in memory (due_count.h).
 * After a start the calendar is read for that a step at a time; rows that it has
 * not come to are not counted yet.
 */
#include "frontier/embedded/frontier_refresh.h"
#include "frontier/refresh/refresh_rate.h"

#define STEP  2000  /* rows in a turn */
#define PARTS 1e6   /* the sum of freshness is in millionths */
#define LATE  60000 /* ms after its date, a URL is overdue */

/* ---- what the store counts ---- */

static uint64_t freshness_of(const struct refresh_row *row)
{
    double ms = (double)(row->due_ms - row->at_ms);

    return (uint64_t)(PARTS *
                      refresh_freshness(refresh_rate(row->known, 1), ms));
}

static void count_rate(struct frontier *f, const struct refresh_row *row,
                       bool added)
{
    uint64_t fresh;

    if (!refresh_rate_is_told(row->known))
        return;
    fresh = freshness_of(row);
    frontier_store_add(f->store, "refresh_rated", added ? 1 : UINT64_MAX);
    frontier_store_add(f->store, "refresh_fresh", added ? fresh : -fresh);
}

/* ---- what is counted in memory ---- */

/* Has the first reading of the calendar come to this row? */
static bool is_read(const struct refreshing *r, const struct refresh_row *row)
{
    const struct refresh_row *at = &r->read_upto;

    if (!r->reading)
        return true;
    if (row->queue != at->queue)
        return row->queue < at->queue;
    if (row->due_ms != at->due_ms)
        return row->due_ms < at->due_ms;
    return row->url <= at->url;
}

static bool take(void *ctx, const struct refresh_row *row)
{
    struct refreshing *r = ctx;

    due_count_add(&r->counts, row->due_ms);
    r->read_upto = *row;
    return ++r->read < STEP;
}

enum status frontier_refresh_count_step(struct frontier *f)
{
    struct refreshing *r = &f->refresh;
    enum status st;

    if (!r->reading)
        return STATUS_OK;
    r->read = 0;
    st = refresh_store_each(r->store, &r->read_upto, take, r);
    r->reading = st == STATUS_OK && r->read == STEP;
    return st;
}

void frontier_refresh_count(struct frontier *f, const struct refresh_row *row,
                            bool added)
{
    struct refreshing *r = &f->refresh;

    count_rate(f, row, added);
    if (row->tries > 0)
        frontier_store_add(f->store, "refresh_retries", added ? 1 : UINT64_MAX);
    if (!is_read(r, row))
        return;
    if (added)
        due_count_add(&r->counts, row->due_ms);
    else
        due_count_remove(&r->counts, row->due_ms);
}

void frontier_refresh_stats(struct frontier *f, struct engine_stats *out)
{
    int64_t by = f->refresh.wall_ms - LATE, oldest;

    out->overdue = due_count_passed(&f->refresh.counts, by, &oldest);
    if (out->overdue > 0)
        out->overdue_for = (uint64_t)(by + LATE - oldest) / 1000;
}
