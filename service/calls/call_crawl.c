/* SPDX-License-Identifier: MIT */
/*
 * call_crawl.c - struct call_ops for a crawl of our own; runs a call as a task
 * of the crawl's frontier thread.
 *
 *   call_crawl_submit ─► crawl_post ─► run: a slice ─► commit ─► done ─► caller
 *                            ▲                                    │
 *                            └──────────── more to do ────────────┘
 *
 * A slice is short, as all fetchers of the crawl wait for it: it reads some
 * hundred rows, removes a thousand URLs or puts two thousand.
 */
#include "service/calls/call_crawl.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "crawler/crawl.h"
#include "crawler/html/link_values.h"
#include "frontier/frontier.h"
#include "frontier/url/host.h"
#include "service/calls/call.h"
#include "service/calls/call_ops.h"
#include "service/net/proto.h"
#include "service/urlfrontier.pb-c.h"

struct call_crawl {
    struct crawl_task task; /* first */
    struct frontier_call *call;

    /* the crawl's frontier thread */
    struct crawl *crawl;
    struct frontier *frontier;
    int64_t now, wall_ms;   /* of this slice */
    bool begun, again;      /* again: another slice follows */
    size_t from;            /* of a PUT: items that are durable */
    struct url_list walk;   /* for STATS and SET_LIMIT */
    struct removal removal; /* for DELETE_QUEUE and PURGE_URLS */
    bool removing;          /* it has begun */
    size_t name_len;
    char name[]; /* of the crawl */
};

/* ---- metadata: encoded URLInfo messages (frontier_item.metadata) ---- */

/* URLs that other programs found or fetched, put into a crawl of our own.
 *
 *   discovered ─► canonical ─► in scope? ─► seen? ─► queued
 *   known      ─► canonical ─► known here? ─── no ─► in scope? ─► admitted
 *                                  │ yes                            │
 *                                  └──────► done, or due later ◄────┘
 *
 * Adjacent discovered URLs pass the seen check together; a known one between
 * them is handled in its turn.
 */

/* ---- the metadata of URLs that are leased and put back ----
 *
 * Out: depth, kind, via. In: depth, and the status that StormCrawler keeps
 * under fetch.statusCode (stormcrawler.net, "Metadata"). The crawl does not
 * keep any other entry: it has rows, not metadata.
 */

#define ENTRIES 3

struct entry {
    Urlfrontier__URLInfo__MetadataEntry entry;
    Urlfrontier__StringList list;
    ProtobufCBinaryData value;
};

static void set(Urlfrontier__URLInfo *info, struct entry *e, const char *name,
                struct bytes value)
{
    if (value.len == 0)
        return;
    urlfrontier__urlinfo__metadata_entry__init(&e->entry);
    urlfrontier__string_list__init(&e->list);
    e->value = proto_data(value);
    e->list.values = &e->value;
    e->list.n_values = 1;
    e->entry.key = proto_data(bytes_of_str(name));
    e->entry.value = &e->list;
    info->metadata[info->n_metadata++] = &e->entry;
}

/* Replaces the contents of `out` with what a program needs to know about a URL
 * before it fetches it; `via` may be empty. */
static void call_metadata_make(struct buf *out, uint32_t depth, uint8_t kind,
                               struct bytes via)
{
    Urlfrontier__URLInfo info = URLFRONTIER__URLINFO__INIT;
    Urlfrontier__URLInfo__MetadataEntry *list[ENTRIES];
    struct entry entries[ENTRIES];
    char number[16];
    char *at;
    size_t len;

    info.metadata = list;
    snprintf(number, sizeof number, "%u", (unsigned)depth);
    set(&info, &entries[0], "depth", bytes_of_str(number));
    set(&info, &entries[1], "kind",
        bytes_of_str(link_kind_name((enum link_kind)kind)));
    set(&info, &entries[2], "via", via);
    len = urlfrontier__urlinfo__get_packed_size(&info);
    buf_clear(out);
    at = buf_room(out, len);
    if (at == NULL)
        return; /* `via` is too long: leave it out */
    urlfrontier__urlinfo__pack(&info, (uint8_t *)at);
    buf_grew(out, len);
}

/* The first value of `name` as a number; false if it has none. */
static bool call_metadata_number(struct bytes metadata, const char *name,
                                 struct arena *a, uint32_t *out)
{
    const Urlfrontier__URLInfo *info;
    uint64_t n;

    if (metadata.len == 0)
        return false;
    info = (const Urlfrontier__URLInfo *)
        proto_unpack(&urlfrontier__urlinfo__descriptor, a, metadata);
    for (size_t i = 0; info != NULL && i < info->n_metadata; i++) {
        const Urlfrontier__URLInfo__MetadataEntry *e = info->metadata[i];

        if (!bytes_is(proto_bytes(e->key), name))
            continue;
        if (e->value == NULL || e->value->n_values == 0 ||
            !bytes_number(proto_bytes(e->value->values[0]), UINT32_MAX, &n))
            return false;
        *out = (uint32_t)n;
        return true;
    }
    return false;
}

/* StormCrawler's fetch.statusCode; 0 if it is missing. */
static uint16_t call_metadata_http_status(struct bytes metadata,
                                          struct arena *a)
{
    uint32_t n;

    return call_metadata_number(metadata, "fetch.statusCode", a, &n) &&
                   n >= 100 && n < 600
               ? (uint16_t)n
               : 0;
}

/* ---- puts ---- */

#define MEMORY_MOST ((size_t)128 << 20) /* texts and metadata of a slice */

struct putting {
    struct call_crawl *c;
    const struct candidate_rules *rules;
    struct arena *arena;
    struct url url;
    /* discovered, not yet put */
    struct url_item *items;
    struct frontier_item **from; /* the item of each */
    size_t count;
    struct url_drop *drops;
    size_t drop_count;
    uint64_t *ids;
};

/* ---- one URL ---- */

/* At least 1: only seeds have depth 0, and a person gives those. */
static uint32_t depth_of(struct putting *p, const struct frontier_item *item)
{
    uint32_t depth = 1;

    return call_metadata_number(item->metadata, "depth", p->arena, &depth) &&
                   depth > 0
               ? depth
               : 1;
}

/* Sets p->url to the form that the URL has in a crawl of our own. */
static bool to_canonical(struct putting *p, struct bytes url)
{
    return candidate_read(p->rules, &p->url, url, NULL) == URL_OK;
}

static void add_drop(struct putting *p, enum outcome_reason reason,
                     const struct url_item *like)
{
    struct bytes text = url_text(&p->url), host = url_host(&p->url);
    char *at = arena_try_copy(p->arena, text.at, text.len);
    char *host_at = arena_try_copy(p->arena, host.at, host.len);

    if (at != NULL && host_at != NULL)
        p->drops[p->drop_count++] =
            (struct url_drop){.reason = reason,
                              .host = bytes_of(host_at, host.len),
                              .url = bytes_of(at, text.len),
                              .whole = true,
                              .kind = like->kind,
                              .depth = like->depth};
}

/* Turns p->url into an item if it is in scope; otherwise drops it. */
static bool to_item(struct putting *p, const struct frontier_item *item,
                    struct url_item *out)
{
    enum outcome_reason no;
    char *at;

    *out = (struct url_item){.depth = depth_of(p, item), .kind = LINK_A};
    no = candidate_take(p->rules, &p->url, out);
    if (no != REASON_NONE) {
        add_drop(p, no, out);
        return false;
    }
    at = arena_try_copy(p->arena, out->url.at, out->url.len);
    if (at != NULL)
        candidate_moved(out, at);
    return at != NULL;
}

/* ---- discovered ---- */

static enum status put_discovered(struct putting *p)
{
    enum status st;

    if (p->count + p->drop_count == 0)
        return STATUS_OK;
    st = external_discover(p->c->frontier, p->items, p->count, p->drops,
                           p->drop_count, p->c->now, p->c->wall_ms, p->ids);
    for (size_t i = 0; st == STATUS_OK && i < p->count; i++)
        p->from[i]->ack =
            p->ids[i] != 0 ? FRONTIER_ACK_OK : FRONTIER_ACK_SKIPPED;
    p->count = p->drop_count = 0;
    return st;
}

/* A crawl of our own decides when a new URL is due: one with a date is skipped
 * rather than served at another time. */
static void take_discovered(struct putting *p, struct frontier_item *item)
{
    item->ack = FRONTIER_ACK_SKIPPED;
    if (item->refetch_s > 0 || !to_canonical(p, item->url) ||
        !to_item(p, item, &p->items[p->count]))
        return;
    item->ack = FRONTIER_ACK_FAIL; /* until it is put */
    p->from[p->count++] = item;
}

/* ---- known ---- */

/* Adds a row for a URL that the crawl has not seen; *id is 0 if it is out of
 * scope. */
static enum status admit(struct putting *p, const struct frontier_item *item,
                         uint64_t *id)
{
    struct url_item e;
    bool wanted = to_item(p, item, &e);
    enum status st =
        external_discover(p->c->frontier, &e, wanted ? 1 : 0, p->drops,
                          p->drop_count, p->c->now, p->c->wall_ms, p->ids);

    *id = wanted && st == STATUS_OK ? p->ids[0] : 0;
    p->drop_count = 0;
    return st;
}

static enum status take_known(struct putting *p, struct frontier_item *item)
{
    struct call_crawl *c = p->c;
    const struct external_report word = {
        .final = item->refetch_s == 0,
        .due_ms = wire_ms(item->refetch_s),
        .http_status = call_metadata_http_status(item->metadata, p->arena),
    };
    enum external_result said = EXTERNAL_SETTLED;
    uint64_t id = 0;
    enum status st = put_discovered(p); /* keeps the order */

    item->ack = FRONTIER_ACK_SKIPPED;
    if (st != STATUS_OK || !to_canonical(p, item->url))
        return st;
    st = frontier_identify(c->frontier, url_host(&p->url), url_text(&p->url),
                           &id);
    if (st == STATUS_OK && id == 0)
        st = admit(p, item, &id);
    if (st != STATUS_OK || id == 0)
        return st;
    st = external_settle(c->frontier, id, &word, c->now, c->wall_ms, &said);
    if (st == STATUS_OK && (said != EXTERNAL_WAS_DONE || word.final))
        item->ack = FRONTIER_ACK_OK;
    return st;
}

/* ---- a slice ---- */

static struct putting *putting_new(struct call_crawl *c, size_t n)
{
    struct putting *p = xcalloc(1, sizeof *p);

    p->c = c;
    p->rules = &crawl_fetching(c->crawl)->rules;
    p->arena = arena_new(MEMORY_MOST);
    url_init(&p->url);
    p->items = xcalloc(n, sizeof *p->items);
    p->from = xcalloc(n, sizeof(struct frontier_item *));
    p->drops = xcalloc(n, sizeof *p->drops);
    p->ids = xcalloc(n, sizeof *p->ids);
    return p;
}

static void putting_free(struct putting *p)
{
    url_fini(&p->url);
    arena_free(p->arena);
    free(p->items);
    free(p->from);
    free(p->drops);
    free(p->ids);
    free(p);
}

/* Entries of struct call_ops; `of` points to a struct call_crawl. */
static enum status call_crawl_put(void *of, struct frontier_item *const *items,
                                  size_t n)
{
    struct call_crawl *c = of;
    struct putting *p = putting_new(c, n);
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        if (items[i]->kind == FRONTIER_ITEM_DISCOVERED)
            take_discovered(p, items[i]);
        else
            st = take_known(p, items[i]);
    }
    if (st == STATUS_OK)
        st = put_discovered(p);
    putting_free(p);
    c->task.durable = true;
    return st;
}

/* ---- reads: one URL, lists, counts, queues ----
 *
 * The store has rows in order of arrival and no index by queue or text, so
 * lists and most counts walk over them, some hundred rows per slice. If the
 * frontier keeps a count anyway, the answer comes from there.
 */

#define SLICE    500 /* rows */
#define URL_MOST ((size_t)16 << 20)

/* The number of rows. */
static uint64_t urls_of(const struct call_crawl *c)
{
    struct frontier_counts s;

    frontier_get_counts(c->frontier, &s);
    return s.urls;
}

/* ---- one URL ---- */

/* Builds `metadata` if the URL has some. */
static struct url_view call_crawl_view_of(const struct call_crawl *c,
                                          const struct url_row *row,
                                          struct bytes via,
                                          struct buf *metadata)
{
    struct url_view v = {.url = row->url, .created_ms = row->found_at_ms};
    struct external_facts facts;

    external_get_facts(c->frontier, row->id, c->now, &facts);
    v.key = frontier_queue_key(c->frontier, row->queue);
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

    external_get_facts(c->frontier, row->id, c->now, &f);
    external_get_queue(c->frontier, row->queue, c->now, &q);
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

static enum status show_row(const struct call_crawl *c, uint64_t id,
                            struct url_facts *facts, url_visit visit, void *ctx)
{
    struct url_row row, from;
    struct buf text, via, metadata;
    struct url_view v;
    enum status st;

    buf_init(&text, URL_MOST);
    buf_init(&via, URL_MOST);
    buf_init(&metadata, URL_MOST);
    st = frontier_url(c->frontier, id, &row, &text);
    if (st == STATUS_OK && row.via != 0)
        st = frontier_url(c->frontier, row.via, &from, &via);
    if (st == STATUS_OK) {
        *facts = facts_of(c, &row);
        v = call_crawl_view_of(c, &row, buf_bytes(&via), &metadata);
        (void)visit(ctx, &v);
    }
    buf_fini(&text);
    buf_fini(&via);
    buf_fini(&metadata);
    return st;
}

static enum status call_crawl_find(void *of, struct bytes crawl,
                                   struct bytes key, struct bytes url,
                                   struct url_facts *facts, url_visit visit,
                                   void *ctx)
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
        st = frontier_identify(c->frontier, url_host(&u), url_text(&u), &id);
    url_fini(&u);
    if (st == STATUS_OK && id == 0)
        return STATUS_NOT_FOUND;
    return st == STATUS_OK ? show_row(c, id, facts, visit, ctx) : st;
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
    v = call_crawl_view_of(w->c, row, (struct bytes){NULL, 0}, &w->metadata);
    w->enough = !w->visit(w->ctx, &v);
}

/* Walks one slice; l->budget is that of a slice. */
static enum status call_crawl_list(void *of, struct url_list *l,
                                   url_visit visit, void *ctx, bool *more)
{
    struct call_crawl *c = of;
    struct walk w = {.c = c, .l = l, .visit = visit, .ctx = ctx};
    uint64_t last = urls_of(c);
    enum status st = STATUS_OK;

    if (l->key.len > 0)
        w.queue = frontier_find_queue(c->frontier, l->key);
    buf_init(&w.metadata, URL_MOST);
    if (l->key.len == 0 || w.queue != 0)
        st = frontier_each_url(c->frontier, l->id + 1, l->id + SLICE, walk_one,
                               &w);
    else
        l->id = last; /* no such queue */
    buf_fini(&w.metadata);
    *more = l->id < last && !url_list_is_full(l);
    return st;
}

/* Known without a walk if the call names neither queue nor text. */
static bool call_crawl_count(void *of, struct bytes crawl, struct bytes key,
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
        st = removal_count(c->frontier, queue, &removed);
    external_get_queue(c->frontier, queue, c->now, &q);
    *completed = c->walk.passed - q.pending - removed;
    return st;
}

static enum status stats_of_queue(struct call_crawl *c, struct bytes key,
                                  struct url_counts *out, bool *more)
{
    uint32_t queue = frontier_find_queue(c->frontier, key);
    struct external_queue q;
    uint64_t completed;
    enum status st;

    if (queue == 0)
        return STATUS_OK;
    st = completed_of(c, queue, key, &completed, more);
    if (st != STATUS_OK || *more)
        return st;
    external_get_queue(c->frontier, queue, c->now, &q);
    *out = (struct url_counts){
        .active = q.pending,
        .leased = q.leased,
        .completed = completed,
        .queues = 1,
        .active_queues = q.pending > 0,
    };
    return STATUS_OK;
}

static enum status call_crawl_stats(void *of, struct bytes crawl,
                                    struct bytes key, struct url_counts *out,
                                    bool *more)
{
    struct call_crawl *c = of;
    struct frontier_counts s;

    (void)crawl;
    if (key.len > 0)
        return stats_of_queue(c, key, out, more);
    frontier_get_counts(c->frontier, &s);
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
static enum status call_crawl_limit(void *of, struct bytes crawl,
                                    struct bytes key, uint32_t most, bool *more)
{
    struct call_crawl *c = of;
    uint32_t queue = frontier_find_queue(c->frontier, key);
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
    return frontier_limit_queue(c->frontier, queue, most, completed, c->now);
}

/* ---- queues ---- */

static uint64_t call_crawl_each_queue(
    void *of, struct bytes crawl, bool inactive, uint64_t skip, uint64_t most,
    void (*visit)(void *ctx, struct bytes key), void *ctx)
{
    const struct call_crawl *c = of;
    struct frontier_counts s;
    uint64_t passed = 0;

    (void)crawl;
    frontier_get_counts(c->frontier, &s);
    for (uint32_t q = 1; q <= s.queues && passed < skip + most; q++) {
        struct external_queue look;

        external_get_queue(c->frontier, q, c->now, &look);
        if (!inactive && (look.pending == 0 || look.blocked_for > 0))
            continue;
        if (passed++ >= skip)
            visit(ctx, frontier_queue_key(c->frontier, q));
    }
    return passed;
}

#define NUMBER_MASK  ((UINT64_C(1) << EXTERNAL_NUMBER_BITS) - 1)
#define NAME_MASK    UINT64_C(0xffff)
#define OURS         (UINT64_C(1) << 63)
#define LONGEST_MS   INT64_C(3000000000000) /* about ninety years */
#define LONGEST_WAIT INT64_C(86400000)      /* most delay of a queue, ms */
#define REMOVE_SLICE 1024 /* URLs with their final fetch rows, about 5 ms */

/* ---- leases ---- */

/* FNV-1a (Fowler, Noll, Vo, 1991), folded to 16 bits. */
static uint64_t call_crawl_tag_of(struct bytes name)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < name.len; i++)
        h = (h ^ (unsigned char)name.at[i]) * 16777619u;
    return OURS | ((h ^ h >> 16) & NAME_MASK) << EXTERNAL_NUMBER_BITS;
}

bool call_crawl_is_lease(uint64_t lease)
{
    return (lease & OURS) != 0;
}

bool call_crawl_may_have(uint64_t lease, struct bytes name)
{
    return (lease & ~NUMBER_MASK) == call_crawl_tag_of(name);
}

static struct bytes call_crawl_name_of(const struct call_crawl *c)
{
    return bytes_of(c->name, c->name_len);
}

/* ---- lease ---- */

struct showing {
    struct call_crawl *c;
    url_visit visit;
    void *ctx;
    struct buf metadata, via;
};

/* The page it was found on, or empty. */
static struct bytes via_of(struct showing *s, const struct url_lease *l)
{
    struct url_row row;

    return l->via != 0 && frontier_url(s->c->frontier, l->via, &row, &s->via) ==
                              STATUS_OK
               ? row.url
               : (struct bytes){NULL, 0};
}

/* Hands out every leased URL, however large the answer gets. */
static void show(struct showing *s, const struct external_url *u)
{
    const struct url_lease *l = &u->lease;

    call_metadata_make(&s->metadata, l->depth, l->kind, via_of(s, l));
    (void)s->visit(s->ctx,
                   &(struct url_view){
                       .crawl = call_crawl_name_of(s->c),
                       .key = l->key,
                       .url = l->url,
                       .metadata = buf_bytes(&s->metadata),
                       .due_ms = s->c->wall_ms,
                       .created_ms = s->c->wall_ms,
                       .lease = call_crawl_tag_of(call_crawl_name_of(s->c)) |
                                u->number,
                   });
}

static enum status lease(void *of, struct url_ask *a, url_visit visit,
                         void *ctx, bool *more)
{
    struct call_crawl *c = of;
    const struct external_request ask = {
        .one_queue = a->one_queue,
        .key = a->key,
        .most_urls = a->most_urls,
        .most_queues = a->most_queues,
        .most = ANSWER_PART_URLS,
        .length = a->lease_ms * NS_PER_MS,
    };
    struct external_url *urls = xcalloc(ANSWER_PART_URLS, sizeof *urls);
    struct showing s = {.c = c, .visit = visit, .ctx = ctx};
    size_t n = 0;
    enum status st =
        external_grant(c->frontier, &ask, c->now, c->wall_ms, urls, &n);

    (void)more; /* there is only one part */
    buf_init(&s.metadata, URL_MOST);
    buf_init(&s.via, URL_MOST);
    for (size_t i = 0; i < n; i++)
        show(&s, &urls[i]);
    c->task.durable = n > 0;
    buf_fini(&s.metadata);
    buf_fini(&s.via);
    free(urls);
    return st;
}

/* ---- settle ---- */

static uint16_t http_status_of(const struct bytes *metadata)
{
    struct arena *a = arena_new(URL_MOST);
    uint16_t n = metadata != NULL ? call_metadata_http_status(*metadata, a) : 0;

    arena_free(a);
    return n;
}

static enum status call_crawl_settle(void *of, uint64_t lease_id,
                                     enum url_settle how, int64_t due_ms,
                                     const struct bytes *metadata)
{
    struct call_crawl *c = of;
    uint64_t number = lease_id & NUMBER_MASK;
    uint64_t id = external_find(c->frontier, number, c->now);
    struct external_report word = {.final =
                                       how == URL_SETTLE_ACK && due_ms == 0,
                                   .due_ms = due_ms};
    enum external_result said;

    c->task.durable = id != 0;
    if (id == 0)
        return STATUS_NOT_FOUND;
    if (how == URL_SETTLE_EXTEND)
        return external_extend(c->frontier, number,
                               (due_ms - c->wall_ms) * NS_PER_MS, c->now,
                               c->wall_ms);
    word.http_status = http_status_of(metadata);
    return external_settle(c->frontier, id, &word, c->now, c->wall_ms, &said);
}

/* ---- queues ---- */

static int64_t moment(const struct call_crawl *c, int64_t ms)
{
    int64_t in = ms - c->wall_ms;

    if (ms == 0 || in <= 0)
        return 0;
    return c->now + (in < LONGEST_MS ? in : LONGEST_MS) * NS_PER_MS;
}

static enum status call_crawl_block(void *of, struct bytes crawl,
                                    struct bytes key, int64_t until_ms)
{
    struct call_crawl *c = of;

    (void)crawl;
    c->task.durable = true;
    return frontier_block(c->frontier, key, moment(c, until_ms), c->now,
                          c->wall_ms);
}

static enum status call_crawl_delay(void *of, struct bytes crawl,
                                    struct bytes key, int64_t delay_ms)
{
    struct call_crawl *c = of;

    (void)crawl;
    c->task.durable = true;
    return frontier_delay(c->frontier, key,
                          delay_ms < LONGEST_WAIT ? delay_ms : LONGEST_WAIT,
                          c->now);
}

/* Works in slices; the sum is complete when the last one is committed. */
static enum status call_crawl_purge(void *of, struct bytes crawl,
                                    struct bytes key, int64_t before_ms,
                                    uint64_t *gone, bool *more)
{
    struct call_crawl *c = of;
    enum status st = STATUS_OK;
    bool over = false;

    (void)crawl;
    if (!c->removing)
        st = removal_begin(c->frontier, key, before_ms, &c->removal);
    c->removing = true;
    if (st == STATUS_OK)
        st = removal_step(c->frontier, &c->removal, REMOVE_SLICE, c->now,
                          c->wall_ms, &over);
    c->task.durable = true;
    *more = !over;
    *gone = c->removal.gone;
    return st;
}

static enum status call_crawl_remove_queue(void *of, struct bytes crawl,
                                           struct bytes key, uint64_t *gone,
                                           bool *more)
{
    return call_crawl_purge(of, crawl, key, INT64_MAX, gone, more);
}

static const struct call_ops crawl_ops = {
    .put = call_crawl_put,
    .lease = lease,
    .settle = call_crawl_settle,
    .find = call_crawl_find,
    .list = call_crawl_list,
    .count = call_crawl_count,
    .stats = call_crawl_stats,
    .each_queue = call_crawl_each_queue,
    .remove_queue = call_crawl_remove_queue,
    .purge = call_crawl_purge,
    .block = call_crawl_block,
    .delay = call_crawl_delay,
    .limit = call_crawl_limit,
};

/* ---- the task ---- */

static enum status run_call(struct crawl_task *t, struct frontier *e,
                            int64_t now, int64_t wall_ms)
{
    struct call_crawl *c = (struct call_crawl *)t;

    c->begun = true;
    c->frontier = e;
    c->now = now;
    c->wall_ms = wall_ms;
    t->durable = false;
    return call_execute(&crawl_ops, c, c->call, wall_ms, &c->again);
}

/* A stopped crawl hands out no URLs and takes none. */
static void answer_stopped(struct frontier_call *call, struct bytes name,
                           const struct frontier_counts *s)
{
    answer_begin(call);
    call->crawl_id = answer_keep(call, name);
    if (call->verb == FRONTIER_STATS && call->in.key.len == 0)
        call->counts = (struct url_counts){
            .active = s->queued,
            .completed = s->urls - s->queued - s->removed,
            .queues = s->queues,
            .active_queues = s->queues_active,
        };
    else if (call->verb == FRONTIER_PUT)
        answer_fail(call, STATUS_OK);
    else if (call->verb != FRONTIER_GET)
        answer_refuse(call, "the crawl is stopped");
}

/* Items put in earlier slices are durable and keep their acknowledgement. */
static void call_crawl_fail(struct call_crawl *c, enum status st)
{
    struct frontier_call *call = c->call;

    if (call->verb != FRONTIER_PUT) {
        answer_fail(call, st);
        return;
    }
    call->status = STATUS_OK;
    for (size_t i = c->from; i < call->in.put.n; i++)
        call->in.put.items[i].ack = FRONTIER_ACK_FAIL;
}

static void done(struct crawl_task *t)
{
    struct call_crawl *c = (struct call_crawl *)t;
    struct frontier_call *call = c->call;
    static const struct frontier_counts nothing = {0};

    if (t->status == STATUS_OK && c->again) {
        c->from = (size_t)call->cursor.place;
        t->status = crawl_post(c->crawl, t);
        if (t->status == STATUS_OK)
            return;
    }
    if (t->status == STATUS_CLOSED && !c->begun)
        answer_stopped(call, call_crawl_name_of(c), &nothing);
    else if (t->status != STATUS_OK)
        call_crawl_fail(c, t->status);
    free(c);
    call->done(call); /* no longer ours */
}

static enum status post(struct crawl *crawl, void *ctx)
{
    struct call_crawl *c = ctx;

    c->crawl = crawl;
    return crawl_post(crawl, &c->task);
}

enum status call_crawl_submit(struct crawls *crawls, struct bytes name,
                              struct frontier_call *call)
{
    struct call_crawl *c = xcalloc(1, sizeof *c + name.len);
    struct crawls_view view;
    enum status st;

    c->call = call;
    c->task.run = run_call;
    c->task.done = done;
    c->name_len = name.len;
    memcpy(c->name, name.at, name.len);
    st = crawls_use(crawls, name, post, c);
    if (st == STATUS_OK)
        return STATUS_OK;
    free(c);
    if (st != STATUS_CLOSED)
        return st;
    st = crawls_find_view(crawls, name, &view);
    if (st != STATUS_OK)
        return st;
    answer_stopped(call, name, &view.stats.counts);
    call->done(call);
    return STATUS_OK;
}
