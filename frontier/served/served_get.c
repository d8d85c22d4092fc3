/* SPDX-License-Identifier: MIT */
/*
 * served_get.c - chooses queue and URL, and leases it.
 *
 * Queues that may be served are in order of turn; the others wait in a heap by
 * the time at which they may. So the cost of a call depends on what it leases,
 * not on the number of queues. A served queue gets a number after all others,
 * which also ends the call when every queue has had its turn.
 */
#include "base/clock.h"
#include "frontier/served/served_impl.h"

static enum status view_of(struct served *t, uint32_t id, uint64_t lease,
                           struct url_view *view)
{
    const struct served_url *i = served_url_at(t, id);
    int64_t found_at_ms = 0;
    enum status st =
        frontier_store_get_url(t->base->store, id, &t->text, &found_at_ms);

    buf_clear(&t->metadata);
    if (st == STATUS_OK && served_url_seq(i) != 0)
        st = served_log_metadata(t->log, served_url_seq(i), &t->metadata);
    if (st != STATUS_OK)
        return st;
    *view = (struct url_view){
        .url = buf_bytes(&t->text),
        .metadata = buf_bytes(&t->metadata),
        .due_ms = i->due_ms,
        .created_ms = found_at_ms,
        .lease = lease,
    };
    frontier_store_queue_name(t->base->store, i->queue, &view->crawl,
                              &view->key);
    t->shown_created_ms = found_at_ms;
    return STATUS_OK;
}

enum status served_show(struct served *t, uint32_t id, uint64_t lease,
                        url_visit visit, void *ctx, bool *go_on)
{
    struct url_view view;
    enum status st = view_of(t, id, lease, &view);

    if (st == STATUS_OK)
        *go_on = visit(ctx, &view);
    return st;
}

static enum status hand_out(struct served *t, const struct url_ask *g,
                            uint32_t id, url_visit visit, void *ctx,
                            bool *go_on)
{
    uint64_t seq;
    int64_t until = t->now + g->lease_ms;
    struct url_view view;
    struct served_lease *h;
    enum status st = served_log_lease(t->log, id, t->now, until, &seq);

    if (st != STATUS_OK)
        return st;
    h = served_lease_begin(t, id, t->now, until, seq);
    st = view_of(t, id, served_lease_id(t, h), &view);
    if (st != STATUS_OK)
        return st;
    served_leases_set_digest(t->leases, h,
                             digest_url(&t->base->key, view.crawl, view.key,
                                        view.url));
    *go_on = visit(ctx, &view);
    return STATUS_OK;
}

/* Goes on where the call before stopped, if it did. */
static enum status serve(struct served *t, struct url_ask *g,
                         struct served_queue *q, url_visit visit, void *ctx,
                         bool *go_on)
{
    uint32_t id = 0;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && *go_on &&
           (g->most_urls == 0 || g->urls < g->most_urls) &&
           (id = served_queue_take(t, q)) != 0) {
        st = hand_out(t, g, id, visit, ctx, go_on);
        q->served_ms = t->now; /* as a restart finds it, by the lease's row */
        g->urls++;
    }
    if (g->urls > 0 && g->queue == 0) { /* charged once */
        served_queue_to_back(t, q);
        g->queues++;
    }
    served_place(t, q);
    g->queue = *go_on ? 0 : q->number;
    if (*go_on)
        g->urls = 0;
    return st;
}

/* The requested queue, if it may be served. */
static struct served_queue *queue_asked(struct served *t,
                                        const struct url_ask *g)
{
    struct served_queue *q =
        g->any_crawl ? NULL : served_find_queue(t, g->crawl, g->key);

    return q != NULL && q->in_all.item.place != 0 &&
                   (g->most_urls == 0 || q->leased < g->most_urls)
               ? q
               : NULL;
}

static struct served_queue *next_queue(struct served *t,
                                       const struct url_ask *g);

/* The queue that the call before was at, unless it was blocked meanwhile. */
static struct served_queue *queue_begun(struct served *t, struct url_ask *g)
{
    struct served_queue *q = t->queues[g->queue];

    if (q->there && q->blocked_until_ms <= t->now)
        return q;
    g->queue = g->urls = 0;
    return next_queue(t, g);
}

/* The next queue in turn; NULL: the call has ended. */
static struct served_queue *next_queue(struct served *t,
                                       const struct url_ask *g)
{
    struct served_crawl *c;
    struct turn *turn;

    if (g->most_queues > 0 && g->queues >= g->most_queues)
        return NULL;
    if (g->one_queue)
        return g->queues == 0 ? queue_asked(t, g) : NULL;
    if (g->any_crawl) {
        turn = round_robin_first(&t->robin, g->most_urls, g->turn);
        return (struct served_queue *)(void *)turn;
    }
    c = served_find_crawl(t, g->crawl);
    turn =
        c != NULL ? round_robin_first(&c->robin, g->most_urls, g->turn) : NULL;
    return turn == NULL
               ? NULL
               : (struct served_queue *)(void *)((char *)turn -
                                                 offsetof(struct served_queue,
                                                          in_crawl));
}

enum status served_get(struct served *t, struct url_ask *g, int64_t now,
                       url_visit visit, void *ctx, bool *more)
{
    struct served_queue *q;
    bool go_on = true;
    enum status st = STATUS_OK;

    *more = false;
    served_tick(t, now);
    if (!t->active)
        return STATUS_OK;
    if (g->turn == 0)
        g->turn = t->turn + 1; /* queues served in this call come after it */
    q = g->queue != 0 ? queue_begun(t, g) : next_queue(t, g);
    for (; st == STATUS_OK && go_on && q != NULL; q = next_queue(t, g)) {
        st = served_touch(t);
        if (st == STATUS_OK)
            st = serve(t, g, q, visit, ctx, &go_on);
    }
    *more = !go_on;
    return st == STATUS_OK ? STATUS_OK : seen_store_broke(t->base, st);
}

/* ---- settling ---- */

static struct served_lease *leased_as(struct served *t, uint64_t lease)
{
    uint32_t id = (uint32_t)(lease >> 32);
    struct served_lease *h =
        served_url_exists(t, id) ? served_lease_of(t, id) : NULL;

    return h != NULL && served_lease_id(t, h) == lease ? h : NULL;
}

/* A lease that began by a clock which was set back since is logged as ending so
 * long after its beginning: a row ends after it begins, and a restart goes by
 * its length. */
static enum status extend(struct served *t, struct served_lease *h,
                          int64_t until_ms)
{
    int64_t length_ms = until_ms - clock_earlier(h->at_ms, t->now);
    enum status st = served_log_lease(t->log, h->id, h->at_ms,
                                      h->at_ms + length_ms, &h->seq);

    if (st != STATUS_OK)
        return st;
    h->length_ms = length_ms;
    heap_move(&t->until, &h->until, until_ms);
    return STATUS_OK;
}

enum status served_settle(struct served *t, uint64_t lease, enum url_settle how,
                          int64_t due_ms, const struct bytes *metadata,
                          int64_t now)
{
    struct served_lease *h;
    enum status st;

    served_tick(t, now);
    h = leased_as(t, lease);
    if (h == NULL)
        return STATUS_NOT_FOUND;
    st = served_touch(t);
    if (st == STATUS_OK && how == URL_SETTLE_EXTEND)
        st = extend(t, h, due_ms);
    if (st == STATUS_OK && how != URL_SETTLE_EXTEND) {
        const struct served_url *i = served_url_at(t, h->id);
        struct served_queue *q = t->queues[i->queue];

        buf_clear(&t->metadata);
        if (metadata == NULL && served_url_seq(i) != 0)
            st = served_log_metadata(t->log, served_url_seq(i), &t->metadata);
        if (st == STATUS_OK)
            st = served_update(t, h->id, due_ms,
                               metadata != NULL ? *metadata
                                                : buf_bytes(&t->metadata));
        if (st == STATUS_OK)
            served_place(t, q);
    }
    return st == STATUS_OK ? STATUS_OK : seen_store_broke(t->base, st);
}
