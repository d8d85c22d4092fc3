/* SPDX-License-Identifier: MIT */
/*
 * frontier_limit.c - limits that people set for single queues.
 *
 * As beyond a budget (frontier_budget.c), URLs beyond it stay queued. The
 * store does not count the done URLs of a queue, so the caller that sets the
 * limit counts them once, and the count is kept up to date from then on.
 */
#include "frontier/embedded/frontier_host.h"
#include "frontier/embedded/frontier_ops.h"
#include "frontier/embedded/frontier_refresh.h"

uint64_t frontier_limit_left(const struct host_queue *h)
{
    const struct host_orders *x = host_orders(h);

    if (x->set_limit == 0)
        return UINT64_MAX;
    return x->set_limit > x->done ? x->set_limit - x->done : 0;
}

enum status frontier_count_done(struct frontier *f, struct host_queue *h)
{
    if (host_orders(h)->set_limit == 0)
        return STATUS_OK;
    host_orders_of(h)->done++;
    return external_set_queue(f, h);
}

enum status frontier_limit_queue(struct engine *e, uint32_t queue,
                                 uint32_t most, uint64_t done, int64_t now)
{
    struct frontier *f = (struct frontier *)e;
    struct host_queue *h;
    struct host_orders *x;
    enum status st = frontier_touch(f, now);

    if (st != STATUS_OK)
        return st;
    h = frontier_host(f, queue);
    x = host_orders_of(h);
    x->set_limit = most;
    x->done = most > 0 ? done : 0;
    st = external_set_queue(f, h);
    frontier_refresh_unhold(f, h);
    frontier_reschedule(f, h);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
