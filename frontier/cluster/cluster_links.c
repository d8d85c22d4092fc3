/* SPDX-License-Identifier: MIT */
/* cluster_links.c - URLs from here to the cluster: seeds, and links of pages.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/cluster/cluster_engine_impl.h"
#include "frontier/cluster_store/cluster_item.h"

#define TEXT_MOST    ((size_t)1 << 30)
#define GATHER       (20 * NS_PER_MS) /* links of some pages */
#define GATHER_MOST  512
#define LINKS_MEMORY ((uint64_t)4 << 20) /* of those that are known there */

/* URLs as the cluster takes them. The text of each, its host and then its item,
 * ends at end[i]. */
struct outgoing {
    struct cluster_url *urls;
    size_t *end;
    size_t count, room;
    struct buf text;
};

static void outgoing_init(struct outgoing *out)
{
    *out = (struct outgoing){.room = 0};
    buf_init(&out->text, TEXT_MOST);
}

static void outgoing_fini(struct outgoing *out)
{
    free(out->urls);
    free(out->end);
    buf_fini(&out->text);
}

/* False: it is too long for the cluster. */
static bool add(struct outgoing *out, const struct engine_item *item,
                uint64_t places)
{
    const struct cluster_item it = {.depth = item->depth,
                                    .hops = item->hops,
                                    .kind = item->kind,
                                    .seed = item->seed,
                                    .places = places,
                                    .url = item->url};

    if (item->key.len < 1 || item->key.len > CLUSTER_HOST_MOST ||
        item->url.len > CLUSTER_ITEM_MOST / 2)
        return false;
    if (out->count == out->room) {
        out->room = out->room == 0 ? 64 : 2 * out->room;
        out->urls = xrealloc(out->urls, out->room * sizeof *out->urls);
        out->end = xrealloc(out->end, out->room * sizeof *out->end);
    }
    buf_add_bytes(&out->text, item->key);
    cluster_item_write(&it, item->key, &out->text);
    out->urls[out->count] =
        (struct cluster_url){.host = bytes_of(NULL, item->key.len),
                             .digest = item->digest};
    out->end[out->count++] = out->text.len;
    return true;
}

/* Call it before the URLs are used: the text may have moved while it grew. */
static void finish(struct outgoing *out)
{
    size_t at = 0;

    for (size_t i = 0; i < out->count; i++) {
        struct cluster_url *u = &out->urls[i];

        u->host.at = out->text.at + at;
        at += u->host.len;
        u->item = bytes_of(out->text.at + at, out->end[i] - at);
        at = out->end[i];
    }
}

/* ---- seeds ---- */

struct seeding {
    bool ended;
    enum status st;
    enum engine_answer *answers; /* NULL: nobody asks */
};

static void seeds_are_in(void *ctx, enum status st, const bool *fresh, size_t n)
{
    struct seeding *s = ctx;

    for (size_t i = 0; s->answers != NULL && i < n; i++)
        s->answers[i] = fresh[i] ? ENGINE_NEW : ENGINE_SEEN;
    s->st = st;
    s->ended = true;
}

enum status cluster_put(struct engine *engine, struct bytes crawl, uint64_t via,
                        const struct engine_item *items, size_t n,
                        int64_t wall_ms, enum engine_answer *answers)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;
    struct seeding s = {.answers = answers};
    struct outgoing out;
    bool fits = true;
    enum status st = cluster_places_add(e, items, n);

    (void)crawl; /* a cluster's name is of one crawl */
    (void)via;
    e->wall_ms = wall_ms;
    outgoing_init(&out);
    for (size_t i = 0; st == STATUS_OK && fits && i < n; i++)
        fits = add(&out, &items[i], e->places_said);
    finish(&out);
    if (st == STATUS_OK)
        st = fits ? cluster_store_put(e->store, out.urls, out.count,
                                      seeds_are_in, &s)
                  : STATUS_LIMIT;
    while (st == STATUS_OK && !s.ended)
        cluster_store_turn(e->store, NS_PER_S);
    outgoing_fini(&out);
    return st == STATUS_OK ? s.st : st;
}

/* ---- links ---- */

/* Most links of a page were put by this worker before. It does not put them
 * again, as long as no server was lost: what one had told may be gone with it.
 */

static uint64_t losses(const struct cluster_engine *e)
{
    struct redis_cluster_stats s;

    cluster_store_get_stats(e->store, &s);
    return s.lost + s.moved + s.readonly + 1;
}

static enum status forget_after_losses(struct cluster_engine *e)
{
    uint64_t now = losses(e);

    if (e->links_since == now)
        return STATUS_OK;
    e->links_since = now;
    hot_cache_fini(&e->links);
    return hot_cache_init(&e->links, LINKS_MEMORY);
}

struct links_put {
    struct cluster_engine *e;
    uint64_t since;
    size_t count;
    struct digest digests[];
};

static struct links_put *links_put_new(struct cluster_engine *e,
                                       const struct outgoing *out)
{
    struct links_put *p =
        xcalloc(1, sizeof *p + out->count * sizeof *p->digests);

    *p = (struct links_put){.e = e, .since = losses(e), .count = out->count};
    for (size_t i = 0; i < out->count; i++)
        p->digests[i] = out->urls[i].digest;
    return p;
}

static void links_are_in(void *ctx, enum status st, const bool *fresh, size_t n)
{
    struct links_put *p = ctx;
    struct cluster_engine *e = p->e;

    (void)fresh;
    (void)n;
    e->puts--;
    if (st == STATUS_OK && p->since == losses(e) && p->since == e->links_since)
        for (size_t i = 0; i < p->count; i++)
            if (!hot_cache_has(&e->links, p->digests[i]))
                hot_cache_add(&e->links, p->digests[i]);
    free(p);
    cluster_engine_fail(e, st);
}

static void gather(struct cluster_engine *e, const struct engine_item *link)
{
    if (e->gathered == NULL) {
        e->gathered = xmalloc(sizeof *e->gathered);
        outgoing_init(e->gathered);
        e->gathered_since = e->now;
        e->puts++;
    }
    if (!add(e->gathered, link, e->places_said))
        log_warn("a URL is too long for the cluster; it is dropped",
                 "octets=%zu", link->url.len);
}

void cluster_links_send(struct cluster_engine *e)
{
    struct outgoing *out = e->gathered;
    struct links_put *p;
    enum status st;

    if (out == NULL)
        return;
    e->gathered = NULL;
    finish(out);
    p = links_put_new(e, out);
    st = cluster_store_put(e->store, out->urls, out->count, links_are_in, p);
    if (st != STATUS_OK) { /* it was not begun */
        e->puts--;
        free(p);
        cluster_engine_fail(e, st);
    }
    outgoing_fini(out);
    free(out);
}

void cluster_links_tend(struct cluster_engine *e)
{
    if (e->gathered != NULL && e->now - e->gathered_since >= GATHER)
        cluster_links_send(e);
}

void cluster_links_free(struct cluster_engine *e)
{
    if (e->gathered != NULL)
        outgoing_fini(e->gathered);
    free(e->gathered);
    hot_cache_fini(&e->links);
}

/* Links of some pages go together, as each call has its price. What is gathered
 * counts as a put under way, so no commit passes it by. */
static enum status put_links(struct cluster_engine *e,
                             const struct engine_done *done, size_t n)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = cluster_places_add(e, done[i].outlinks, done[i].outlink_count);
    if (st == STATUS_OK)
        st = forget_after_losses(e);
    if (st != STATUS_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < done[i].outlink_count; k++)
            if (!hot_cache_has(&e->links, done[i].outlinks[k].digest))
                gather(e, &done[i].outlinks[k]);
    if (e->gathered != NULL && e->gathered->count >= GATHER_MOST)
        cluster_links_send(e);
    return STATUS_OK;
}

static bool does_not_respond(const struct cluster_engine *e,
                             const struct held *h)
{
    struct external_queue q;

    e->own->ops->external_get_queue(e->own, h->queue, e->now, &q);
    return q.reach.failures > 0;
}

/* What became of the URL: done, or queued for another try. A host that does not
 * respond waits in the cluster, where others know of it. */
static enum status after_ack(struct cluster_engine *e,
                             const struct engine_done *done)
{
    struct held *h = cluster_held_find(e, done->id);
    struct external_facts facts;

    if (h == NULL || done->partial)
        return STATUS_OK;
    cluster_share_note(e, h, done->host.robots);
    h->requested |= done->host.ended != 0;
    e->own->ops->external_get_facts(e->own, done->id, e->now, &facts);
    h->state = HELD_QUEUED;
    if (facts.done)
        cluster_held_end(e, h, false);
    else if (done->host.silent && does_not_respond(e, h))
        return cluster_held_return(e, h);
    return STATUS_OK;
}

enum status cluster_ack(struct engine *engine, struct engine_done *done,
                        size_t n, int64_t now, int64_t wall_ms)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;
    enum status st;

    e->now = now;
    e->wall_ms = wall_ms;
    st = put_links(e, done, n);
    if (st != STATUS_OK) {
        cluster_engine_fail(e, st);
        return e->failed;
    }
    st = e->own->ops->ack(e->own, done, n, now, wall_ms);
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = after_ack(e, &done[i]);
    return st;
}
