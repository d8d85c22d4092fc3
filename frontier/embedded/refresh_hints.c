/* SPDX-License-Identifier: MIT */
/*
 * refresh_hints.c - what sitemaps and servers say of when URLs change.
 *
 * <changefreq> is what is assumed of a URL until its fetches say more; without
 * it, how long the response stays fresh by its Cache-Control or Expires. A
 * <lastmod> after the last fetch makes the URL due; since the calendar is in
 * order of queue and date, and names no URL that one could look for, the rows
 * of its queue are read, a step at a time, once for all such URLs that a
 * sitemap lists. Which queues are to be read is in memory alone, and not of
 * many: a hint that is lost leaves the URL its own date.
 *
 * The request is then made without conditions (frontier_find_last). A lastmod
 * in the future is no date of a change.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/embedded/frontier_refresh.h"
#include "frontier/refresh/refresh_rate.h"

#define STEP    500 /* rows in a turn */
#define HOUR_MS 3600e3

/* Mean time between changes; 0: not said. */
static double ms_of(enum url_changefreq f)
{
    static const double hours[CHANGEFREQ_COUNT_] = {
        [CHANGEFREQ_ALWAYS] = 1,        [CHANGEFREQ_HOURLY] = 1,
        [CHANGEFREQ_DAILY] = 24,        [CHANGEFREQ_WEEKLY] = 7 * 24,
        [CHANGEFREQ_MONTHLY] = 30 * 24, [CHANGEFREQ_YEARLY] = 365 * 24,
        [CHANGEFREQ_NEVER] = 3650 * 24,
    };

    return f < CHANGEFREQ_COUNT_ ? hours[f] * HOUR_MS : 0;
}

enum status frontier_refresh_guess(struct frontier *f, uint64_t id,
                                   int64_t fresh_ms, uint64_t *known)
{
    struct url_hint hint = {0};
    enum status st = STATUS_OK;
    double ms;

    *known = 0;
    if (f->o.refresh.every_ms == 0)
        return STATUS_OK;
    st = hint_store_get(f->hints, id, &hint);
    ms = ms_of((enum url_changefreq)hint.changefreq);
    if (st == STATUS_OK && ms > 0)
        *known = refresh_rate_guess(1 / ms);
    else if (fresh_ms > 0)
        *known = refresh_guess_fresh(&f->o.refresh, fresh_ms);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void flag(struct refreshing *r, uint32_t queue)
{
    for (unsigned i = 0; i < r->hinted; i++)
        if (r->hinted_queues[i] == queue && (i > 0 || r->hints_at.url == 0))
            return;
    if (r->hinted < REFRESH_HINTED_MOST)
        r->hinted_queues[r->hinted++] = queue;
}

enum status frontier_refresh_hint(struct frontier *f, uint64_t id,
                                  const struct url_hint *hint)
{
    struct url_hint was = {.lastmod_ms = HINT_NO_LASTMOD};
    struct url_row row;
    enum status st;

    if (f->o.refresh.every_ms == 0 || hint->lastmod_ms == HINT_NO_LASTMOD ||
        !frontier_store_is_done(f->store, id))
        return STATUS_OK;
    st = hint_store_get(f->hints, id, &was);
    if (st != STATUS_NOT_FOUND &&
        (st != STATUS_OK || was.lastmod_ms >= hint->lastmod_ms))
        return st;
    st = frontier_store_get(f->store, id, &row, &f->text);
    if (st == STATUS_OK)
        flag(&f->refresh, row.queue);
    return st;
}

/* ---- the calendar of a queue ---- */

struct reading {
    uint32_t queue;
    size_t n;
    struct refresh_row rows[STEP];
};

static bool take(void *ctx, const struct refresh_row *row)
{
    struct reading *g = ctx;

    if (row->queue != g->queue)
        return false;
    g->rows[g->n++] = *row;
    return g->n < STEP;
}

static enum status look(struct frontier *f, const struct refresh_row *row,
                        int64_t wall_ms)
{
    struct refresh_row to = *row;
    struct url_hint hint;
    enum status st = hint_store_get(f->hints, row->url, &hint);

    to.due_ms = clock_later(row->at_ms + f->o.refresh.min_ms, wall_ms);
    if (st != STATUS_OK || hint.lastmod_ms == HINT_NO_LASTMOD ||
        hint.lastmod_ms <= row->at_ms || hint.lastmod_ms > wall_ms ||
        to.due_ms >= row->due_ms || row->tries > 0 ||
        url_life_after(frontier_refresh_life(f, row->url), LIFE_ASK) ==
            LIFE_NONE)
        return st == STATUS_NOT_FOUND ? STATUS_OK : st;
    return frontier_refresh_move(f, row, &to);
}

enum status frontier_refresh_hints_step(struct frontier *f, int64_t now,
                                        int64_t wall_ms)
{
    struct refreshing *r = &f->refresh;
    struct reading *g;
    enum status st;

    if (r->hinted == 0)
        return STATUS_OK;
    g = xcalloc(1, sizeof *g);
    g->queue = r->hinted_queues[0];
    if (r->hints_at.url == 0)
        r->hints_at = (struct refresh_row){.queue = g->queue};
    st = refresh_store_each(r->store, &r->hints_at, take, g);
    if (st == STATUS_OK && g->n > 0)
        st = frontier_touch(f, now);
    for (size_t i = 0; st == STATUS_OK && i < g->n; i++)
        st = look(f, &g->rows[i], wall_ms);
    if (g->n == STEP) {
        r->hints_at = g->rows[STEP - 1];
    } else {
        r->hints_at = (struct refresh_row){.queue = 0};
        r->hinted_queues[0] = r->hinted_queues[--r->hinted];
    }
    free(g);
    return st;
}
