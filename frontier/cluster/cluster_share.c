/* SPDX-License-Identifier: MIT */
/*
 * cluster_share.c - robots.txt of others, and for others.
 *
 * A lease of a host whose robots.txt this worker does not know, or whose copy
 * is stale, waits for what the cluster says (cluster_robots.h). If that has
 * none, our fetcher gets it, and as the host is leased to us nobody else does
 * meanwhile. The others hear of it when its sitemaps are in the cluster: they
 * take these for known.
 *
 * What is known is forgotten as a whole when it grows beyond a bound; then the
 * cluster is asked once more.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/cluster/cluster_engine_impl.h"
#include "frontier/cluster_store/cluster_robots.h"
#include "frontier/url/url.h"

#define MEMORY_MOST ((size_t)16 << 20)
#define ENTRY_COST  64 /* in the map, about */

/* An origin. `row`: as others fetched it; otherwise the directory has it. */
struct known {
    int64_t until; /* monotonic; then it is stale */
    bool from_others, news;
    size_t cost;
    struct robots_row row;
    char text[];
};

static struct bytes origin_of(struct bytes url)
{
    return bytes_of(url.at, url_origin_length(url));
}

/* ---- what is known ---- */

static void forget_all(struct cluster_engine *e)
{
    map_free(e->robots, free);
    e->robots = map_new();
    e->robots_memory = 0;
}

static void keep(struct cluster_engine *e, struct bytes origin, struct known *k)
{
    struct known *before;

    if (e->robots_memory + k->cost > MEMORY_MOST)
        forget_all(e);
    e->robots_memory += k->cost;
    before = map_put(e->robots, origin, k);
    if (before != NULL)
        e->robots_memory -= before->cost;
    free(before);
}

static struct known *known_new(int64_t until, struct bytes origin, size_t more)
{
    struct known *k = xcalloc(1, sizeof *k + more);

    k->until = until;
    k->cost = sizeof *k + more + origin.len + ENTRY_COST;
    return k;
}

static void keep_of_others(struct cluster_engine *e, struct bytes origin,
                           const struct cluster_robots *r)
{
    struct known *k = known_new(e->now + r->expires_in * NS_PER_MS, origin,
                                origin.len + r->body.len);
    int64_t unreachable = r->unreachable_for;

    memcpy(k->text, origin.at, origin.len);
    if (r->body.len > 0)
        memcpy(k->text + origin.len, r->body.at, r->body.len);
    k->from_others = k->news = true;
    k->row =
        (struct robots_row){.origin = bytes_of(k->text, origin.len),
                            .fetched_at_ms = e->wall_ms - r->fetched_ago,
                            .expires_at_ms = e->wall_ms + r->expires_in,
                            .unreachable_since_ms =
                                unreachable < 0 ? 0 : e->wall_ms - unreachable,
                            .http_status = r->http_status,
                            .body =
                                bytes_of(k->text + origin.len, r->body.len)};
    keep(e, origin, k);
}

bool cluster_share_is_news(struct cluster_engine *e, struct bytes url)
{
    struct known *k = map_get(e->robots, origin_of(url));
    bool news = k != NULL && k->news;

    if (news)
        k->news = false;
    return news;
}

enum status cluster_share_robots(struct engine *engine, struct bytes origin,
                                 struct robots_row *row, struct buf *text)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;
    const struct known *k = map_get(e->robots, origin);

    if (k == NULL || !k->from_others)
        return e->own->ops->robots(e->own, origin, row, text);
    *row = k->row; /* valid until the next lease is taken in */
    return STATUS_OK;
}

/* ---- of others ---- */

struct robots_wait {
    struct cluster_engine *e;
    struct held *h;
    char origin[];
};

static void robots_came(void *ctx, const struct cluster_robots *r)
{
    struct robots_wait *w = ctx;
    struct cluster_engine *e = w->e;
    struct held *h = w->h;

    h->asking_robots = false;
    if (h->state == HELD_GONE) {
        cluster_held_free(h);
    } else if (e->failed == STATUS_OK) {
        if (r != NULL)
            keep_of_others(e, bytes_of_str(w->origin), r);
        if (h->state == HELD_WAITS)
            cluster_held_take_in(e, h);
    }
    free(w);
}

bool cluster_share_waits(struct cluster_engine *e, struct held *h,
                         struct bytes url)
{
    struct bytes origin = origin_of(url);
    const struct known *k = map_get(e->robots, origin);
    struct robots_wait *w;

    if (!e->o.robots || origin.len == 0 || (k != NULL && k->until > e->now))
        return false;
    if (h->asked_robots)
        return h->asking_robots;
    h->asked_robots = h->asking_robots = true;
    w = xcalloc(1, sizeof *w + origin.len + 1);
    w->e = e;
    w->h = h;
    memcpy(w->origin, origin.at, origin.len);
    cluster_store_ask_robots(e->store, h->host, origin, robots_came, w);
    return true;
}

/* ---- for others ---- */

static struct bytes copy(char **to, struct bytes text)
{
    char *at = *to;

    if (text.len > 0)
        memcpy(at, text.at, text.len);
    *to += text.len;
    return bytes_of(at, text.len);
}

void cluster_share_note(struct cluster_engine *e, const struct held *h,
                        const struct robots_row *row)
{
    struct robots_news *n;
    char *to;

    if (row == NULL || !e->o.robots)
        return;
    n = xmalloc(sizeof *n + row->origin.len + row->body.len + h->host.len);
    to = n->text;
    n->row = *row;
    n->row.origin = copy(&to, row->origin);
    n->row.body = copy(&to, row->body);
    n->host = copy(&to, h->host);
    n->next = e->news;
    e->news = n;
    keep(e, row->origin,
         known_new(e->now + (row->expires_at_ms - e->wall_ms) * NS_PER_MS,
                   row->origin, 0));
}

static void tell(struct cluster_engine *e, const struct robots_news *n)
{
    const struct robots_row *row = &n->row;
    const struct cluster_robots r = {
        .fetched_ago = clock_later(e->wall_ms - row->fetched_at_ms, 0),
        .expires_in = row->expires_at_ms - e->wall_ms,
        .unreachable_for =
            row->unreachable_since_ms == 0
                ? -1
                : clock_later(e->wall_ms - row->unreachable_since_ms, 0),
        .http_status = row->http_status,
        .body = row->body};

    cluster_store_share_robots(e->store, n->host, row->origin, &r);
}

void cluster_share_tell(struct cluster_engine *e)
{
    while (e->news != NULL) {
        struct robots_news *n = e->news;

        e->news = n->next;
        tell(e, n);
        free(n);
    }
}

void cluster_share_free(struct cluster_engine *e)
{
    while (e->news != NULL) {
        struct robots_news *n = e->news;

        e->news = n->next;
        free(n);
    }
    map_free(e->robots, free);
}
