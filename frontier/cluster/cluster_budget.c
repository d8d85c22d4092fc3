/* SPDX-License-Identifier: MIT */
/*
 * cluster_budget.c - a worker's part of the pages that a crawl may fetch.
 *
 * As many permits are wanted as URLs leased here could be fetched at once, so
 * one that has nothing to fetch holds none that another one could use. Pages
 * count from this run on, as the name of the worker, which the cluster counts
 * by, is of this run; they are told of without a limit, too, as one may be set
 * later.
 */
#include "base/clock.h"
#include "frontier/cluster/cluster_engine_impl.h"
#include "frontier/cluster_store/cluster_permits.h"

#define AGAIN (100 * NS_PER_MS) /* when there were too few */
#define TELL  (1 * NS_PER_S)    /* what was used, and what is not needed */
#define LEAVE (2 * NS_PER_S)    /* longest wait at the end */

static uint64_t pages_of(const struct cluster_engine *e)
{
    struct engine_stats s;

    e->own->ops->stats(e->own, &s);
    return s.pages;
}

static uint64_t used(const struct cluster_engine *e)
{
    uint64_t pages = pages_of(e);

    /* one that is fetched again is taken back first */
    return pages > e->budget.pages_before ? pages - e->budget.pages_before : 0;
}

void cluster_budget_begin(struct cluster_engine *e, uint64_t limit)
{
    e->budget.limit = limit;
    e->budget.pages_before = pages_of(e);
}

void cluster_budget_committed(struct cluster_engine *e)
{
    e->budget.durable = used(e);
}

static void came(void *ctx, enum status st, const struct cluster_permits *p)
{
    struct cluster_engine *e = ctx;
    struct budget *b = &e->budget;

    b->asking = false;
    if (st != STATUS_OK)
        return; /* others show when the cluster does not answer */
    b->known = true;
    b->told = b->telling;
    b->held = p->held;
    b->pages = p->pages;
    b->is_short = p->held < b->wanted;
}

/* A page that a kill would undo is not reported yet, but its permit is not free
 * either. */
static void ask(struct cluster_engine *e, uint64_t want)
{
    struct budget *b = &e->budget;
    uint64_t n = used(e);

    b->asking = true;
    b->asked_at = e->now;
    b->telling = b->durable < n ? b->durable : n;
    b->wanted = want + n - b->telling;
    cluster_store_ask_permits(e->store, e->present.name, b->telling, b->wanted,
                              b->limit, came, e);
}

/* Of those that it holds, used ones that were not told of. */
static uint64_t untold(const struct cluster_engine *e)
{
    uint64_t n = used(e);

    return n > e->budget.told ? n - e->budget.told : 0;
}

void cluster_budget_tend(struct cluster_engine *e)
{
    struct budget *b = &e->budget;
    uint64_t want = 0, left;
    int64_t since = e->now - b->asked_at;

    if (b->asking)
        return;
    if (b->limit > 0)
        want = e->held < e->o.in_flight ? e->held : e->o.in_flight;
    left = b->held > untold(e) ? b->held - untold(e) : 0;
    if (!b->known || (want > left && (!b->is_short || since >= AGAIN)) ||
        ((want != b->held || untold(e) > 0) && since >= TELL))
        ask(e, want);
}

size_t cluster_budget_room(const struct cluster_engine *e)
{
    const struct budget *b = &e->budget;
    uint64_t spent = untold(e);

    if (b->limit == 0)
        return SIZE_MAX;
    for (const struct held *h = e->all; h != NULL; h = h->next)
        spent += h->state == HELD_OUT;
    return b->held > spent ? (size_t)(b->held - spent) : 0;
}

bool cluster_budget_is_short(const struct cluster_engine *e)
{
    return e->budget.limit > 0 && (e->budget.is_short || !e->budget.known);
}

bool cluster_budget_is_spent(const struct cluster_engine *e)
{
    return e->budget.limit > 0 && e->budget.known &&
           e->budget.pages >= e->budget.limit;
}

void cluster_budget_end(struct cluster_engine *e)
{
    int64_t end = clock_mono() + LEAVE;

    while (e->budget.asking && clock_mono() < end)
        cluster_store_turn(e->store, end - clock_mono());
    if (!e->budget.asking)
        ask(e, 0);
    while (e->budget.asking && clock_mono() < end)
        cluster_store_turn(e->store, end - clock_mono());
}
