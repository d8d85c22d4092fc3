/* SPDX-License-Identifier: MIT */
/*
 * cluster_intake.c - leases of the cluster into the directory, and out of it.
 *
 * A lease is as good as our last word of it to the cluster: it is extended from
 * a quarter of its length on, and a URL goes to a fetcher only while there is
 * time for one and a half requests. The fetcher asks again before each request
 * (engine_lease.until).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/cluster/cluster_engine_impl.h"
#include "frontier/cluster/cluster_reach.h"
#include "frontier/cluster_store/cluster_item.h"

#define PARKED_MS (INT64_C(3650) * 24 * 3600 * 1000)
#define SOON      (100 * NS_PER_MS)

/* A URL whose lease was lost that often has failed. A lost lease says little,
 * as hundreds are lost when one worker is killed, so these are more than the
 * tries of a URL that a process had in hand at its end (frontier_blame.c). */
#define LOST_MOST 5

/* ---- lists ---- */

static struct bytes key_of(const uint64_t *id)
{
    return bytes_of(id, sizeof *id);
}

struct held *cluster_held_find(const struct cluster_engine *e, uint64_t id)
{
    return map_get(e->by_id, key_of(&id));
}

static struct held *held_new(struct cluster_engine *e,
                             const struct cluster_lease *l)
{
    struct held *h = xmalloc(sizeof *h + l->host.len + l->item.len);

    *h = (struct held){.state = HELD_WAITS,
                       .shard = l->shard,
                       .token = l->token,
                       .lost = l->lost,
                       .until = l->until,
                       .delay_ms = l->delay_ms};
    if (!cluster_reach_read(&h->reach, l->state))
        log_warn("the cluster has a state of a host that is not ours",
                 "octets=%zu", l->state.len);
    if (h->reach.given_up) /* a new worker asks it again */
        h->reach = (struct external_reach){.answered = h->reach.answered};
    memcpy(h->text, l->host.at, l->host.len);
    memcpy(h->text + l->host.len, l->item.at, l->item.len);
    h->host = bytes_of(h->text, l->host.len);
    h->item = bytes_of(h->text + l->host.len, l->item.len);
    h->next = e->all;
    if (h->next != NULL)
        h->next->before = h;
    e->all = h;
    e->held++;
    return h;
}

static void unlist(struct cluster_engine *e, struct held *h)
{
    if (h->before != NULL)
        h->before->next = h->next;
    else
        e->all = h->next;
    if (h->next != NULL)
        h->next->before = h->before;
    if (h->id != 0)
        (void)map_remove(e->by_id, key_of(&h->id));
    e->fresh -= h->state == HELD_FRESH;
    e->held--;
}

void cluster_held_free(struct held *h)
{
    h->state = HELD_GONE;
    if (h->asked == 0 && !h->asking_robots)
        free(h);
}

static void forget(struct cluster_engine *e, struct held *h)
{
    unlist(e, h);
    cluster_held_free(h);
}

static void free_list(struct held *h)
{
    while (h != NULL) {
        struct held *next = h->next;

        free(h);
        h = next;
    }
}

void cluster_held_free_all(struct cluster_engine *e)
{
    free_list(e->all);
    free_list(e->ending);
}

void cluster_held_end(struct cluster_engine *e, struct held *h, bool back)
{
    struct external_queue q;

    if (h->id != 0) { /* the directory may forget the host with its last URL */
        e->own->ops->external_get_queue(e->own, h->queue, e->now, &q);
        h->reach = q.reach;
    }
    unlist(e, h);
    h->state = HELD_ENDING;
    h->back = back;
    h->next = e->ending;
    e->ending = h;
    if (e->endings++ == 0)
        e->ending_since = e->now;
}

/* ---- parking ---- */

static enum status postpone(struct cluster_engine *e, uint64_t id,
                            int64_t due_ms)
{
    const struct external_report r = {.due_ms = due_ms};
    enum external_result said;

    return e->own->ops->external_settle(e->own, id, &r, e->now, e->wall_ms,
                                        &said);
}

enum status cluster_park(struct cluster_engine *e, uint64_t id)
{
    return postpone(e, id, e->wall_ms + PARKED_MS);
}

/* The lease is over, and no fetcher has the URL. */
static enum status let_go(struct cluster_engine *e, struct held *h)
{
    enum status st = h->id != 0 ? cluster_park(e, h->id) : STATUS_OK;

    log_info("another worker may have this URL now", "host=%.*s",
             (int)h->host.len, h->host.at);
    forget(e, h);
    return st;
}

/* ---- in ---- */

/* The directory paces its requests by the delay that the cluster has now. */
static enum status take_delay(struct cluster_engine *e, const struct held *h)
{
    struct external_queue q;

    e->own->ops->external_get_queue(e->own, h->queue, e->now, &q);
    if (q.set_delay == (h->delay_ms < 0 ? -1 : h->delay_ms * NS_PER_MS))
        return STATUS_OK;
    return e->own->ops->delay(e->own, e->o.crawl, h->host, h->delay_ms, e->now);
}

/* The URL is in the directory as `id`: it was new, parked, or is leased by us
 * already, with a token that the cluster has given up. */
static enum status join(struct cluster_engine *e, struct held *h, uint64_t id,
                        bool fresh)
{
    struct held *other = cluster_held_find(e, id);
    enum status st;

    if (other != NULL) {
        other->shard = h->shard;
        other->token = h->token;
        other->until = h->until;
        other->over = false;
        forget(e, h);
        return STATUS_OK;
    }
    h->id = id;
    h->queue = e->own->ops->find_queue(e->own, e->o.crawl, h->host);
    e->own->ops->external_set_reach(e->own, h->queue, &h->reach, e->now);
    h->state = HELD_FRESH;
    e->fresh++;
    (void)map_put(e->by_id, key_of(&h->id), h);
    st = take_delay(e, h);
    return fresh || st != STATUS_OK ? st : postpone(e, id, e->wall_ms);
}

static enum status enter(struct cluster_engine *e, struct held *h,
                         const struct cluster_item *item)
{
    struct engine *own = e->own;
    const struct engine_item it = {.key = h->host,
                                   .url = item->url,
                                   .digest =
                                       digest_url(own->ops->digest_key(own),
                                                  e->o.crawl, h->host,
                                                  item->url),
                                   .depth = item->depth,
                                   .hops = item->hops,
                                   .kind = item->kind,
                                   .seed = item->seed};
    enum engine_answer answer = ENGINE_SEEN;
    struct external_facts facts;
    uint64_t id = 0;
    enum status st =
        own->ops->put(own, e->o.crawl, 0, &it, 1, e->wall_ms, &answer);

    if (st == STATUS_OK)
        st = own->ops->identify(own, h->host, item->url, &id);
    if (st != STATUS_OK)
        return st;
    if (id != 0)
        own->ops->external_get_facts(own, id, e->now, &facts);
    if (id != 0 && !facts.done && h->lost >= LOST_MOST &&
        cluster_held_find(e, id) == NULL) {
        st = own->ops->blame(own, id, BLAME_LEASES, e->now, e->wall_ms);
        facts.done = true;
    }
    if (id == 0 || facts.done) { /* our rules drop it, or its lease was lost */
        cluster_held_end(e, h, false);
        return st;
    }
    return join(e, h, id, answer == ENGINE_NEW);
}

void cluster_held_take_in(struct cluster_engine *e, struct held *h)
{
    struct cluster_item item;
    struct buf url;

    buf_init(&url, CLUSTER_ITEM_MOST);
    /* what others put is checked as if it had come from the web */
    if (!cluster_item_is_valid(&item, h->item, h->host, e->o.kinds, &url)) {
        log_warn("the cluster has an item that is not a URL of ours; it is "
                 "dropped",
                 "octets=%zu", h->item.len);
        cluster_held_end(e, h, false);
    } else if (item.places > e->places) {
        cluster_places_tend(e, true);
    } else if (!cluster_share_waits(e, h, item.url)) {
        cluster_engine_fail(e, enter(e, h, &item));
    }
    buf_fini(&url);
}

static void take(void *ctx, const struct cluster_lease *l)
{
    struct cluster_engine *e = ctx;

    cluster_held_take_in(e, held_new(e, l));
}

void cluster_intake_places_came(struct cluster_engine *e)
{
    for (struct held *h = e->all, *next; h != NULL; h = next) {
        next = h->next;
        if (h->state == HELD_WAITS)
            cluster_held_take_in(e, h);
    }
}

void cluster_intake_want(struct cluster_engine *e, size_t most, size_t spare)
{
    size_t room = 2 * e->o.in_flight;

    room = e->held < room ? room - e->held : 0;
    if (cluster_budget_is_short(e) && e->held > 0)
        room = 0; /* what is here is more than may be fetched */
    if (most > room)
        most = room;
    cluster_store_set_spare(e->store,
                            spare < room - most ? spare : room - most);
    cluster_store_lease(e->store, most, take, e);
}

/* ---- out ---- */

static bool has_time(const struct cluster_engine *e, const struct held *h)
{
    return !h->over && h->until - e->now > e->o.request + e->o.request / 2;
}

/* The directory gave out something that may not be asked for now. */
static enum status put_back(struct cluster_engine *e, uint64_t id,
                            struct held *h)
{
    enum status st = e->own->ops->release(e->own, id, e->now + SOON, NULL,
                                          e->now, e->wall_ms);

    if (st != STATUS_OK)
        return st;
    if (h == NULL)
        return cluster_park(e, id);
    e->fresh -= h->state == HELD_FRESH;
    h->state = HELD_QUEUED;
    return h->over ? let_go(e, h) : STATUS_OK;
}

/* Leases for `most` free places of fetchers, and for half of all places that
 * become free until the cluster has replied. With a limit none is here that may
 * not be fetched. */
static void want(struct cluster_engine *e, size_t most)
{
    size_t spare = e->budget.limit > 0 ? 0 : e->o.in_flight / 2,
           missing = most + spare > e->fresh ? most + spare - e->fresh : 0;

    most = most > e->fresh ? most - e->fresh : 0;
    cluster_intake_want(e, most, missing - most);
}

enum status cluster_lease_out(struct engine *engine, size_t most, int64_t now,
                              int64_t wall_ms, struct engine_lease *out,
                              size_t *n)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;
    size_t got = 0, room = cluster_budget_room(e);
    enum status st;

    *n = 0;
    e->now = now;
    e->wall_ms = wall_ms;
    st = e->own->ops->lease(e->own, most < room ? most : room, now, wall_ms,
                            out, &got);
    for (size_t i = 0; st == STATUS_OK && i < got; i++) {
        struct held *h = cluster_held_find(e, out[i].id);

        if (h == NULL || !has_time(e, h)) {
            st = put_back(e, out[i].id, h);
            continue;
        }
        e->fresh -= h->state == HELD_FRESH;
        h->state = HELD_OUT;
        out[*n] = out[i];
        out[*n].robots_news = cluster_share_is_news(e, out[i].url);
        out[(*n)++].until = h->until;
    }
    if (st == STATUS_OK)
        want(e, most - *n);
    return st;
}

/* A host that does not respond is not waited for: see count_silence(). */
enum status cluster_release(struct engine *engine, uint64_t id,
                            int64_t not_before,
                            const struct engine_host_news *host, int64_t now,
                            int64_t wall_ms)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;
    struct held *h = cluster_held_find(e, id);
    struct engine_host_news news = *host;
    enum status st;

    e->now = now;
    e->wall_ms = wall_ms;
    news.silent = false;
    st = e->own->ops->release(e->own, id, not_before, &news, now, wall_ms);
    if (st != STATUS_OK || h == NULL)
        return st;
    cluster_share_note(e, h, host->robots);
    h->requested |= news.ended != 0;
    h->state = HELD_QUEUED;
    return STATUS_OK;
}

/* ---- while they last ---- */

struct extension {
    struct cluster_engine *e;
    struct held *h;
    uint64_t token;
};

static void extended(void *ctx, enum status st, bool over)
{
    struct extension *x = ctx;
    struct held *h = x->h;

    if (h->state == HELD_GONE) {
        h->asked = 0;
        cluster_held_free(h);
    } else {
        if (st == STATUS_OK && h->token == x->token) {
            h->over = over;
            x->e->lost += over;
            if (!over)
                h->until = h->asked + x->e->o.lease -
                           CLUSTER_LEASE_MARGIN_MS * NS_PER_MS;
        }
        h->asked = 0;
    }
    free(x);
}

static void extend(struct cluster_engine *e, struct held *h)
{
    struct extension *x = xcalloc(1, sizeof *x);

    x->e = e;
    x->h = h;
    x->token = h->token;
    h->asked = e->now;
    cluster_store_extend(e->store, h->shard, h->host, h->token, extended, x);
}

/* How long the URL, or its host, has to wait. */
static int64_t wait_of(const struct cluster_engine *e, const struct held *h)
{
    struct external_facts facts;
    struct external_queue q;

    e->own->ops->external_get_facts(e->own, h->id, e->now, &facts);
    e->own->ops->external_get_queue(e->own, h->queue, e->now, &q);
    return clock_later(facts.due_for, q.polite_for);
}

enum status cluster_held_return(struct cluster_engine *e, struct held *h)
{
    enum status st = h->id != 0 ? cluster_park(e, h->id) : STATUS_OK;

    cluster_held_end(e, h, true);
    return st;
}

/* By a setting that has changed since it was found. */
static bool was_dropped(const struct cluster_engine *e, const struct held *h)
{
    struct external_facts facts;

    if (h->state != HELD_FRESH && h->state != HELD_QUEUED)
        return false;
    e->own->ops->external_get_facts(e->own, h->id, e->now, &facts);
    return facts.done;
}

enum status cluster_held_tend(struct cluster_engine *e)
{
    enum status st = STATUS_OK;

    for (struct held *h = e->all, *next; st == STATUS_OK && h != NULL;
         h = next) {
        next = h->next;
        if (h->over && h->state != HELD_OUT)
            st = let_go(e, h);
        else if (was_dropped(e, h))
            cluster_held_end(e, h, false);
        else if (h->state == HELD_QUEUED && wait_of(e, h) > e->o.lease)
            st = cluster_held_return(e, h);
        else if (h->asked == 0 && !h->over &&
                 h->until - e->now < e->o.lease / 4 * 3)
            extend(e, h);
    }
    return st;
}

enum status cluster_held_give_back(struct cluster_engine *e)
{
    enum status st = STATUS_OK;

    for (struct held *h = e->all, *next; st == STATUS_OK && h != NULL;
         h = next) {
        next = h->next;
        if (h->state != HELD_OUT)
            st = cluster_held_return(e, h);
    }
    return st;
}
