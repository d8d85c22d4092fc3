/* SPDX-License-Identifier: MIT */
/*
 * frontier_stats.c - stats of the engine, for monitoring.
 *
 * Those of the store and its seen check (seen_stats.c), and the hosts.
 */
#include "frontier/stats.h"

#include "frontier/embedded/frontier_host.h"
#include "frontier/embedded/frontier_ops.h"

#define HOSTS_LOOKED_AT 20000 /* of a census, at once: some two milliseconds */

/* ---- hosts ---- */

static bool is_ready(const struct host_queue *h, int64_t now)
{
    return h->place.place != 0 && h->place.key <= now &&
           (h->group == NULL ||
            (h->group->place.place != 0 && h->group->place.key <= now));
}

static void count_host(struct host_stats *c, const struct host_queue *h,
                       int64_t now)
{
    c->ready += is_ready(h, now);
    c->blocked +=
        host_trouble(h)->blocked_until > now ||
        (host_trouble(h)->silent_until > now && !frontier_is_given_up(h));
    c->dead += frontier_is_draining(h) || frontier_is_given_up(h);
}

/* Goes on with the lap; at its end its counts become the ones shown. */
static void take_census(struct frontier *f, int64_t now)
{
    struct frontier_census *c = &f->census;

    for (unsigned i = 0; i < HOSTS_LOOKED_AT && c->at < f->hosts.room; i++) {
        const struct host_queue *h = host_table_get(&f->hosts, c->at++);

        if (h != NULL)
            count_host(&c->counting, h, now);
    }
    if (c->at < f->hosts.room)
        return;
    c->last = c->counting;
    c->last.ready += f->hosts.resting;
    c->counting = (struct host_stats){0};
    c->at = 0;
}

/* ---- the whole ---- */

void frontier_get_stats(struct engine *e, int64_t now,
                        struct frontier_stats *out)
{
    struct frontier *f = (struct frontier *)e;

    frontier_stats_of_seen(f->base, out);
    take_census(f, now);
    out->hosts = f->census.last;
}
