/* SPDX-License-Identifier: MIT */
/* crawl_leases.c - passes the engine's leases to the fetchers. */
#include "base/clock.h"
#include "crawler/crawl_impl.h"

/* Only records of the response need to know how the URL was found. */
static struct assignment *assignment_for(struct crawl *c,
                                         const struct engine_lease *l)
{
    struct found_by by = {{"", 0}, {"", 0}};

    if (c->hop_path != NULL)
        crawl_note_failure(c, hop_path_of(c->hop_path, l, &by));
    return assignment_of(l, &by);
}

/* Passes on the host's rules of an earlier run, another fetcher or another
 * process, so that a robots.txt that is still fresh is not fetched again. */
static void hand_over_robots(struct crawl *c, struct fetcher *f,
                             const struct engine_lease *l)
{
    size_t len = url_origin_length(l->url);
    struct robots_row row;
    struct buf text;

    if (len == 0)
        return;
    buf_init(&text, (size_t)1 << 20);
    if (c->engine->ops->robots(c->engine, bytes_of(l->url.at, len), &row,
                               &text) == STATUS_OK)
        fetcher_know_robots(f, &row);
    buf_fini(&text);
}

void crawl_assign(struct crawl *c, struct assignment *a, bool first)
{
    bool fresh;
    unsigned i = crawl_balance_give(c->balance, a->lease.queue, first, &fresh);

    if (fresh)
        hand_over_robots(c, c->fetchers[i], &a->lease);
    fetcher_give(c->fetchers[i], a);
}

static void lease_once(struct crawl *c)
{
    int64_t now = clock_mono();
    size_t n = 0;
    enum status st;

    if (c->out >= c->in_force)
        return;
    st = c->engine->ops->lease(c->engine, c->in_force - c->out, now,
                               clock_wall_ms(), c->leases, &n);
    for (size_t i = 0; i < n; i++) {
        turn_pace_leased(&c->pace, c->leases[i].pause, now);
        crawl_assign(c, assignment_for(c, &c->leases[i]), c->leases[i].first);
    }
    c->out += n;
    crawl_note_failure(c, st);
}

/* With --queue-key ip the engine names due hosts whose address, and so whose
 * queue, is unknown. True: some have a queue now. */
static bool place_hosts(struct crawl *c)
{
    int64_t now = clock_mono();
    struct resolver_answer a;
    struct bytes host;
    uint32_t queue;
    bool placed = false;

    if (c->resolver == NULL)
        return false;
    while (resolver_has_room(c->resolver) &&
           (queue = c->engine->ops->next_unplaced(c->engine, &host)) != 0)
        resolver_ask(c->resolver, queue, host, now);
    while (resolver_take(c->resolver, now, &a)) {
        crawl_note_failure(c,
                           c->engine->ops->place(c->engine, a.queue,
                                                 a.found ? &a.ip : NULL, now));
        placed = true;
    }
    return placed;
}

void crawl_lease_due(struct crawl *c)
{
    if (c->end != CRAWL_RUNNING || atomic_load(&c->paused))
        return;
    do {
        lease_once(c);
    } while (c->status == STATUS_OK && place_hosts(c));
}
