/* SPDX-License-Identifier: MIT */
/*
 * call_crawl_read.c - reads from a crawl of our own: one URL, lists, counts,
 * queues.
 *
 * The store has rows in order of arrival and no index by queue or text, so
 * lists and most counts walk over them, some hundred rows per slice. If the
 * engine keeps a count anyway, the answer comes from there.
 */
#include "base/clock.h"
#include "frontier/url/queue_key.h"
#include "service/calls/call_crawl_impl.h"

#define SLICE    500 /* rows */
#define URL_MOST ((size_t)16 << 20)

/* The number of rows. */
static uint64_t urls_of(const struct call_crawl *c)
{
    struct engine_stats s;

    c->engine->ops->stats(c->engine, &s);
    return s.urls;
}

/* ---- one URL ---- */

/* Builds `metadata` if the URL has some. */
static struct url_view view_of(const struct call_crawl *c,
                               const struct url_row *row, struct bytes via,
                               struct buf *metadata)
{
    struct url_view v = {.url = row->url, .created_ms = row->found_at_ms};
    struct external_facts facts;

    c->engine->ops->external_get_facts(c->engine, row->id, c->now, &facts);
    v.key = c->engine->ops->queue_key(c->engine, row->queue);
    v.crawl = bytes_of(c->name, c->name_len);
    if (facts.done)
        return v;
    call_metadata_make(metadata, row->depth, row->kind, via);
    v.metadata = buf_bytes(metadata);
    v.due_ms = facts.due_for > 0 ? c->wall_ms + facts.due_for / NS_PER_MS
                                 : row->found_at_ms;
    return v;
}

static struct url_facts facts_of(const struct call_crawl *c,
                                 const struct url_row *row)
{
    struct external_facts f;
    struct external_queue q;
    struct url_facts out;

    c->engine->ops->external_get_facts(c->engine, row->id, c->now, &f);
    c->engine->ops->external_get_queue(c->engine, row->queue, c->now, &q);
    out = (struct url_facts){
        .state = f.done     ? URL_STATE_COMPLETED
                 : f.leased ? URL_STATE_LEASED
                            : URL_STATE_QUEUED,
        .due_ms = row->found_at_ms,
        .created_ms = row->found_at_ms,
        .delay_ms = q.delay / NS_PER_MS,
        .limit = q.limit,
    };
    if (f.due_for > 0)
        out.due_ms = c->wall_ms + f.due_for / NS_PER_MS;
    if (f.ends_in > 0)
        out.leased_until_ms = c->wall_ms + f.ends_in / NS_PER_MS;
    if (q.blocked_for > 0)
        out.blocked_until_ms = c->wall_ms + q.blocked_for / NS_PER_MS;
    return out;
}

static enum status show(const struct call_crawl *c, uint64_t id,
                        struct url_facts *facts, url_visit visit, void *ctx)
{
    struct url_row row, from;
    struct buf text, via, metadata;
    struct url_view v;
    enum status st;

    buf_init(&text, URL_MOST);
    buf_init(&via, URL_MOST);
    buf_init(&metadata, URL_MOST);
    st = c->engine->ops->url(c->engine, id, &row, &text);
    if (st == STATUS_OK && row.via != 0)
        st = c->engine->ops->url(c->engine, row.via, &from, &via);
    if (st == STATUS_OK) {
        *facts = facts_of(c, &row);
        v = view_of(c, &row, buf_bytes(&via), &metadata);
        (void)visit(ctx, &v);
    }
    buf_fini(&text);
    buf_fini(&via);
    buf_fini(&metadata);
    return st;
}

enum status call_crawl_find(void *of, struct bytes crawl, struct bytes key,
                            struct bytes url, struct url_facts *facts,
                            url_visit visit, void *ctx)
{
    struct call_crawl *c = of;
    uint64_t id = 0;
    enum status st = STATUS_OK;
    struct url u;

    (void)crawl;
    (void)key; /* the crawl takes its own from the URL */
    url_init(&u);
    if (candidate_read(&crawl_fetching(c->crawl)->rules, &u, url, NULL) ==
        URL_OK)
        st = c->engine->ops->identify(c->engine, queue_key_of(&u), url_text(&u),
                                      &id);
    url_fini(&u);
    if (st == STATUS_OK && id == 0)
        return STATUS_NOT_FOUND;
    return st == STATUS_OK ? show(c, id, facts, visit, ctx) : st;
}

/* ---- walks ---- */

struct walk {
    struct call_crawl *c;
    struct url_list *l;
    uint32_t queue; /* of l->key */
    url_visit visit;
    void *ctx;
    bool enough; /* `visit` asked to stop */
    struct buf metadata;
};

static void walk_one(void *ctx, const struct url_row *row)
{
    struct walk *w = ctx;
    struct url_list *l = w->l;
    struct url_view v;

    if (w->enough || url_list_is_full(l))
        return; /* not examined */
    l->id = row->id;
    if ((l->key.len > 0 && row->queue != w->queue) ||
        !url_list_matches(l, row->url))
        return;
    if (l->passed++ < l->skip || w->visit == NULL)
        return;
    v = view_of(w->c, row, (struct bytes){NULL, 0}, &w->metadata);
    w->enough = !w->visit(w->ctx, &v);
}

/* Walks one slice; l->budget is that of a slice. */
enum status call_crawl_list(void *of, struct url_list *l, url_visit visit,
                            void *ctx, bool *more)
{
    struct call_crawl *c = of;
    struct walk w = {.c = c, .l = l, .visit = visit, .ctx = ctx};
    uint64_t last = urls_of(c);
    enum status st = STATUS_OK;

    if (l->key.len > 0)
        w.queue =
            c->engine->ops->find_queue(c->engine, call_crawl_id(c), l->key);
    buf_init(&w.metadata, URL_MOST);
    if (l->key.len == 0 || w.queue != 0)
        st = c->engine->ops->each_url(c->engine, l->id + 1, l->id + SLICE,
                                      walk_one, &w);
    else
        l->id = last; /* no such queue */
    buf_fini(&w.metadata);
    *more = l->id < last && !url_list_is_full(l);
    return st;
}

/* Known without a walk if the call names neither queue nor text. */
bool call_crawl_count(void *of, struct bytes crawl, struct bytes key,
                      uint64_t *n)
{
    const struct call_crawl *c = of;

    (void)crawl;
    *n = urls_of(c);
    return key.len == 0;
}

/* ---- counts ---- */

/* No counter has the completed URLs of a queue: subtracts the pending and the
 * removed ones from its rows. Valid once *more is false. */
static enum status completed_of(struct call_crawl *c, uint32_t queue,
                                struct bytes key, uint64_t *completed,
                                bool *more)
{
    struct external_queue q;
    uint64_t removed = 0;
    enum status st;

    c->walk.key = key;
    st = call_crawl_list(c, &c->walk, NULL, NULL, more);
    if (st == STATUS_OK && !*more)
        st = c->engine->ops->removal_count(c->engine, queue, &removed);
    c->engine->ops->external_get_queue(c->engine, queue, c->now, &q);
    *completed = c->walk.passed - q.pending - removed;
    return st;
}

static enum status stats_of_queue(struct call_crawl *c, struct bytes key,
                                  struct url_counts *out, bool *more)
{
    uint32_t queue =
        c->engine->ops->find_queue(c->engine, call_crawl_id(c), key);
    struct external_queue q;
    uint64_t completed;
    enum status st;

    if (queue == 0)
        return STATUS_OK;
    st = completed_of(c, queue, key, &completed, more);
    if (st != STATUS_OK || *more)
        return st;
    c->engine->ops->external_get_queue(c->engine, queue, c->now, &q);
    *out = (struct url_counts){
        .active = q.pending,
        .leased = q.leased,
        .completed = completed,
        .queues = 1,
        .active_queues = q.pending > 0,
    };
    return STATUS_OK;
}

enum status call_crawl_stats(void *of, struct bytes crawl, struct bytes key,
                             struct url_counts *out, bool *more)
{
    struct call_crawl *c = of;
    struct engine_stats s;

    (void)crawl;
    if (key.len > 0)
        return stats_of_queue(c, key, out, more);
    c->engine->ops->stats(c->engine, &s);
    *out = (struct url_counts){
        .active = s.queued,
        .leased = s.leased,
        .completed = s.urls - s.queued - s.removed,
        .queues = s.queues,
        .active_queues = s.queues_active,
    };
    return STATUS_OK;
}

/* The limit counts completed URLs like GetStats, whatever their outcome. */
enum status call_crawl_limit(void *of, struct bytes crawl, struct bytes key,
                             uint32_t most, bool *more)
{
    struct call_crawl *c = of;
    uint32_t queue =
        c->engine->ops->find_queue(c->engine, call_crawl_id(c), key);
    uint64_t completed = 0;
    enum status st = STATUS_OK;

    (void)crawl;
    if (queue == 0)
        return STATUS_NOT_FOUND;
    if (most > 0)
        st = completed_of(c, queue, key, &completed, more);
    if (st != STATUS_OK || *more)
        return st;
    c->task.durable = true;
    return c->engine->ops->limit_queue(c->engine, queue, most, completed,
                                       c->now);
}

/* ---- queues ---- */

uint64_t call_crawl_each_queue(void *of, struct bytes crawl, bool inactive,
                               uint64_t skip, uint64_t most,
                               void (*visit)(void *ctx, struct bytes key),
                               void *ctx)
{
    const struct call_crawl *c = of;
    struct engine_stats s;
    uint64_t passed = 0;

    (void)crawl;
    c->engine->ops->stats(c->engine, &s);
    for (uint32_t q = 1; q <= s.queues && passed < skip + most; q++) {
        struct external_queue look;

        c->engine->ops->external_get_queue(c->engine, q, c->now, &look);
        if (!inactive && (look.pending == 0 || look.blocked_for > 0))
            continue;
        if (passed++ >= skip)
            visit(ctx, c->engine->ops->queue_key(c->engine, q));
    }
    return passed;
}
