/* SPDX-License-Identifier: MIT */
/*
 * frontier_hosts.c - lists hosts of a crawl for display.
 *
 * Nothing is kept sorted for this: a bounded number of queues is scanned, and
 * the first few in the wanted order go into a short sorted list. Finished hosts
 * are forgotten (frontier_host_memory.c), so only those with work or some state
 * are found; of one that rests, how many URLs it has.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/embedded/frontier_host.h"
#include "frontier/embedded/frontier_ops.h"

#define WALK_MOST 200000 /* most queues scanned: some milliseconds */

struct order {
    struct frontier *f;
    enum engine_host_order by;
    int64_t now;
};

static bool is_blocked(const struct host_queue *h, int64_t now)
{
    const struct host_trouble *x;

    if (h == NULL)
        return false;
    x = host_trouble(h);
    return x->blocked_until > now || x->silent_until > now ||
           frontier_is_draining(h) || h->held_by == HOST_HELD_BUDGET;
}

/* The sort key, larger first; 0: do not show. */
static uint64_t weight(const struct order *o, uint32_t queue)
{
    const struct host_queue *h = host_table_get(&o->f->hosts, queue);

    switch (o->by) {
    case ENGINE_HOSTS_SLOWEST:
        return h != NULL ? h->latency_us : 0;
    case ENGINE_HOSTS_BLOCKED:
        return is_blocked(h, o->now)
                   ? 1 + frontier_store_pending(o->f->store, queue)
                   : 0;
    case ENGINE_HOSTS_BIGGEST:
        break;
    }
    return frontier_store_pending(o->f->store, queue);
}

static enum engine_host_state state_of(const struct frontier *f,
                                       const struct host_queue *h, int64_t now,
                                       int64_t due)
{
    if (frontier_is_draining(h) || frontier_is_given_up(h))
        return ENGINE_HOST_DEAD;
    if (host_trouble(h)->blocked_until > now ||
        host_trouble(h)->silent_until > now || h->held_by == HOST_HELD_BUDGET)
        return ENGINE_HOST_BLOCKED;
    if (h->leased + h->guests >= f->o.conns_per_host)
        return ENGINE_HOST_BUSY;
    return due > now ? ENGINE_HOST_WAITING : ENGINE_HOST_READY;
}

static const char *why_of(const struct frontier *f, const struct host_queue *h,
                          int64_t now)
{
    const char *which = NULL;

    if (frontier_is_draining(h))
        return outcome_reason_name(host_trouble(h)->origins->why.reason);
    if (h->held_by == HOST_HELD_BUDGET &&
        frontier_budget_left(f, h, &which) == 0)
        return which;
    if (host_trouble(h)->silent_until > now)
        return outcome_reason_name(host_trouble(h)->silent.reason);
    if (host_trouble(h)->blocked_until <= now ||
        host_trouble(h)->why_blocked == NULL)
        return "";
    return strcmp(host_trouble(h)->why_blocked, "blocked") == 0
               ? "operator"
               : host_trouble(h)->why_blocked;
}

static struct schedule_options usual(const struct frontier *f,
                                     const struct host_queue *h,
                                     struct schedule_host *host)
{
    struct schedule_options o =
        h != NULL ? frontier_schedule(f, h) : f->o.schedule;

    *host = (struct schedule_host){.own = -1};
    if (h != NULL)
        *host = frontier_schedule_host(h);
    o.random_delay = false;
    return o;
}

int64_t frontier_usual_pause(const struct frontier *f,
                             const struct host_queue *h)
{
    struct schedule_random none = {.state = 1};
    struct schedule_host host;
    const struct schedule_options o = usual(f, h, &host);

    return schedule_pause(&o, &host, &none);
}

/* Sets the delay in force, and why it is that. */
static void set_delay(const struct frontier *f, const struct host_queue *h,
                      struct engine_host_row *row)
{
    struct schedule_host host;
    const struct schedule_options o = usual(f, h, &host);

    row->delay = frontier_usual_pause(f, h);
    row->delay_why = schedule_why(&o, &host);
    row->crawl_delay = host.own;
    row->set_delay = h != NULL ? host_orders(h)->set_delay : -1;
    if (row->set_delay >= 0 && strcmp(row->delay_why, "delay") == 0)
        row->delay_why = "operator";
}

static void fill_row(struct frontier *f, uint32_t queue, int64_t now,
                     struct engine_host_row *row)
{
    const struct host_queue *h = host_table_get(&f->hosts, queue);
    struct bytes crawl;

    *row = (struct engine_host_row){
        .queued = frontier_store_pending(f->store, queue),
        .latency_us = h != NULL ? h->latency_us : 0,
        .due = now,
        .why = "",
    };
    set_delay(f, h, row);
    frontier_store_queue_name(f->store, queue, &crawl, &row->host);
    if (h == NULL)
        return;
    row->fetched = h->answers;
    row->requests = h->requests;
    row->connections = h->connections;
    row->handshakes = h->handshakes;
    row->http_status = h->http_status;
    row->failures = h->errors > host_trouble(h)->failures
                        ? h->errors
                        : host_trouble(h)->failures;
    row->limit = host_orders(h)->set_limit;
    row->over_budget = h->held_by == HOST_HELD_BUDGET;
    row->due = h->held_by == HOST_HELD_BUDGET ? INT64_MAX
                                              : host_queue_due(h, row->queued);
    if (h->group != NULL && row->due < h->group->next_due)
        row->due = h->group->next_due;
    row->state = state_of(f, h, now, row->due);
    row->why = why_of(f, h, now);
}

size_t frontier_hosts(struct engine *e, enum engine_host_order by, size_t most,
                      int64_t now, struct engine_host_row *out, bool *all)
{
    struct order o = {(struct frontier *)e, by, now};
    uint32_t last = frontier_store_queue_count(o.f->store);
    uint64_t *weights = xcalloc(most + 1, sizeof *weights);
    uint32_t *queues = xcalloc(most + 1, sizeof *queues);
    size_t n = 0;

    *all = last <= WALK_MOST;
    for (uint32_t q = 1; q <= last && q <= WALK_MOST; q++) {
        uint64_t w = weight(&o, q);
        size_t at = n;

        if (w == 0 || most == 0 || (n == most && w <= weights[n - 1]))
            continue;
        for (; at > 0 && weights[at - 1] < w; at--) {
            weights[at] = weights[at - 1];
            queues[at] = queues[at - 1];
        }
        weights[at] = w;
        queues[at] = q;
        n += n < most;
    }
    for (size_t i = 0; i < n; i++)
        fill_row(o.f, queues[i], now, &out[i]);
    free(weights);
    free(queues);
    return n;
}
