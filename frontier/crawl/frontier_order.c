/* SPDX-License-Identifier: MIT */
/*
 * frontier_order.c - which URL of a host goes before its turn (order.h).
 *
 * A host's queue on disk stays in order of arrival and holds every URL. Beside
 * it a table (storage/rows/early_store.h) names those that go first, by class:
 *
 *   class 2 to 15   before their turn: read from the table, the highest first
 *   class 1         in turn
 *   class 0         later: passed over, until the queue is at its end; then it
 *                   is read once more (host_queue_defer)
 *
 * The table holds hints only. If a row is missing or stale, its URL goes in its
 * turn: nothing here can lose a URL or fetch one twice. A crash keeps what was
 * committed with the page that had the link.
 *
 * In-links are counted by a sketch (link_sketch.h), for every link that passes
 * the scope; with each doubling the URL is looked up and its class raised. So
 * what a restart forgets is less than half of a count: the class is stored with
 * the count that it was given for, on which the next doubling builds.
 *
 * Hosts take turns as they do in any order: a class never holds up or favours a
 * host. If the rules have changed, all URLs that are queued are given their
 * classes anew, some in each turn; meta.order says how far that is:
 *
 *   last id done, last id of all, a line feed, the rules (order_describe)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_links.h"
#include "frontier/order.h"
#include "storage/db/url_kind.h"

#define MARK      "order"
#define MARK_MOST ((size_t)8 << 20) /* of the rules in the mark */
#define STEP_ROWS 500               /* sorted anew in a turn */
#define URL_MOST  ((size_t)16 << 20)

static bool is_on(const struct frontier *f)
{
    return order_mode(f->o.order) != ORDER_BREADTH;
}

/* ---- classes ---- */

static enum status priority_of(struct frontier *f, uint64_t id,
                               int16_t *priority)
{
    struct url_hint hint = {0};
    enum status st = STATUS_NOT_FOUND;

    *priority = HINT_NO_PRIORITY;
    if (f->ordering.hints)
        st = hint_store_get(f->hints, id, &hint);
    if (st == STATUS_OK)
        *priority = hint.priority;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* Puts the URL in its class; `was`: the one it has in the table, or
 * EARLY_NONE. Its in-links are kept there once it has had a class. */
static enum status enter(struct frontier *f, uint64_t id, uint32_t queue,
                         const struct order_facts *facts, uint8_t was)
{
    const struct order_score s = order_score(f->o.order, facts);
    struct host_queue *h = frontier_host(f, queue);
    uint8_t class_ = s.class_ > ORDER_IN_TURN ? s.class_ : 0;
    enum status st = STATUS_OK;

    if (s.class_ > ORDER_LATER)
        host_queue_once_more(h);
    if (class_ > 0 || was != EARLY_NONE)
        st = early_store_put(f->early, queue, id, was, class_, facts->links);
    if (st == STATUS_OK && class_ > 0)
        host_queue_early(h, class_);
    return st;
}

/* Gives a queued URL the class that its row and its in-links say; `links`: of
 * this run, 0: as stored. *known: all of them. */
static enum status enter_row(struct frontier *f, const struct url_row *row,
                             uint32_t links, uint32_t *known)
{
    struct order_facts facts = {.url = row->url, .depth = row->depth};
    uint8_t was = EARLY_NONE;
    uint32_t before = 1; /* the link that it was admitted by */
    enum status st =
        early_store_get(f->early, row->queue, row->id, &was, &before);

    if (st == STATUS_OK || st == STATUS_NOT_FOUND)
        st = priority_of(f, row->id, &facts.priority);
    facts.links = before >= links ? before + links : links;
    *known = facts.links;
    return st == STATUS_OK ? enter(f, row->id, row->queue, &facts, was) : st;
}

/* ---- links ---- */

struct raise {
    struct digest digest;
    uint32_t links;
};

/* URL `id` has reached a count of in-links that may raise it. */
static enum status raise_one(struct frontier *f, uint64_t id,
                             const struct raise *r)
{
    struct url_row row;
    uint32_t known;
    enum status st;

    if (id == 0 || frontier_store_is_done(f->store, id))
        return STATUS_OK;
    st = frontier_store_get(f->store, id, &row, &f->ordering.text);
    if (st == STATUS_OK)
        st = enter_row(f, &row, r->links, &known);
    if (st == STATUS_OK && known > r->links) /* counted by an earlier run */
        link_sketch_lift(f->ordering.links, r->digest, known);
    return st;
}

static enum status raise_all(struct frontier *f, const struct raise *raises,
                             size_t n)
{
    enum status st;

    for (size_t i = 0; i < n; i++)
        f->scratch.digests[i] = raises[i].digest;
    st = n > 0 ? exact_set_find(f->base->exact, f->scratch.digests, n,
                                f->scratch.found)
               : STATUS_OK;
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = raise_one(f, f->scratch.found[i], &raises[i]);
    return st;
}

static enum status enter_new(struct frontier *f, const struct admission *a,
                             uint32_t links)
{
    const struct url_item *item = a->item;
    const struct order_facts facts = {
        .url = item->url,
        .depth = item->depth,
        .priority =
            item->hint != NULL ? item->hint->priority : HINT_NO_PRIORITY,
        .links = links,
    };

    return enter(f, a->id, a->queue, &facts, EARLY_NONE);
}

static bool is_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

enum status frontier_order_links(struct frontier *f,
                                 const struct admission *list, size_t n)
{
    bool best = order_mode(f->o.order) == ORDER_BEST;
    struct raise *raises;
    size_t count = 0;
    enum status st = STATUS_OK;

    if (!is_on(f))
        return STATUS_OK;
    raises = xcalloc(n + 1, sizeof *raises);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        const struct admission *a = &list[i];
        uint32_t links = 1;

        if (a->blocked)
            continue;
        f->ordering.hints |= a->item->hint != NULL;
        if (best)
            links = link_sketch_add(f->ordering.links, a->item->digest);
        if (a->fresh)
            st = enter_new(f, a, links);
        else if (best && (is_power_of_two(links) || a->item->hint != NULL))
            raises[count++] = (struct raise){a->item->digest, links};
    }
    if (st == STATUS_OK)
        st = raise_all(f, raises, count);
    free(raises);
    return st;
}

enum status frontier_order_row(struct frontier *f, const struct url_row *row)
{
    uint32_t known;

    return is_on(f) ? enter_row(f, row, 0, &known) : STATUS_OK;
}

/* ---- leases ---- */

struct front {
    struct frontier *f;
    struct host_queue *h;
    uint64_t done[4 * HOST_FRONT_MOST];
    size_t done_count;
};

bool frontier_is_taken(const struct frontier *f, const struct host_queue *h,
                       uint64_t id)
{
    return lease_find(f->leases, id) != NULL || host_queue_has_retry(h, id) ||
           frontier_store_is_done(f->store, id);
}

static bool take_early(void *ctx, uint64_t url)
{
    struct front *t = ctx;
    struct host_queue *h = t->h;
    struct host_front *front = h->front;

    if (url == 0 || url > frontier_store_last_id(t->f->store))
        return true; /* no hint of ours */
    if (frontier_store_is_done(t->f->store, url))
        t->done[t->done_count++] = url;
    else if (!frontier_is_taken(t->f, h, url))
        front->urls[front->count++] = url;
    return front->count < HOST_FRONT_MOST &&
           t->done_count < sizeof t->done / sizeof *t->done;
}

/* Moves those that are done out of the way of the next reading. */
static enum status retire(struct front *t, int64_t now)
{
    struct frontier *f = t->f;
    enum status st = t->done_count > 0 ? frontier_touch(f, now) : STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < t->done_count; i++) {
        uint8_t was;
        uint32_t links;

        st = early_store_get(f->early, t->h->queue, t->done[i], &was, &links);
        if (st == STATUS_OK)
            st = early_store_put(f->early, t->h->queue, t->done[i], was, 0,
                                 links);
    }
    return st;
}

static uint8_t highest(uint16_t classes)
{
    uint8_t c = ORDER_CLASSES - 1;

    while ((classes >> c & 1) == 0)
        c--;
    return c;
}

enum status frontier_order_front(struct frontier *f, struct host_queue *h,
                                 int64_t now)
{
    struct host_front *front = h->front;
    enum status st = STATUS_OK;

    if (!is_on(f) || front == NULL)
        return STATUS_OK;
    while (st == STATUS_OK && front->early != 0 && front->count == front->at) {
        struct front t = {.f = f, .h = h};

        front->at = front->count = 0;
        front->class_ = highest(front->early);
        st =
            early_store_each(f->early, h->queue, front->class_, take_early, &t);
        if (st == STATUS_OK)
            st = retire(&t, now);
        if (front->count == 0 && t.done_count == 0)
            front->early &= (uint16_t) ~(1U << front->class_);
    }
    return st;
}

enum status frontier_order_defers(struct frontier *f, struct host_queue *h,
                                  const struct url_row *row, bool *later)
{
    struct order_facts facts = {.url = row->url,
                                .depth = row->depth,
                                .links = 1};
    enum status st;

    *later = false;
    if (order_mode(f->o.order) != ORDER_BEST || host_front(h)->again ||
        !h->in_turn)
        return STATUS_OK;
    st = priority_of(f, row->id, &facts.priority);
    *later = st == STATUS_OK &&
             order_score(f->o.order, &facts).class_ == ORDER_LATER;
    if (*later)
        host_queue_defer(h, row->id);
    return st;
}

/* ---- a change of rules ---- */

static enum status write_mark(struct frontier *f)
{
    struct buf mark;
    enum status st;

    buf_init(&mark, MARK_MOST);
    buf_addf(&mark, "%llu %llu\n", (unsigned long long)f->ordering.at,
             (unsigned long long)f->ordering.upto);
    order_describe(f->o.order, &mark);
    st = buf_failed(&mark);
    if (st == STATUS_OK)
        st = frontier_store_set_meta(f->store, MARK, buf_bytes(&mark));
    buf_fini(&mark);
    f->ordering.changed = false;
    return st;
}

/* Is the mark, of the same rules, that of a sorting that goes on? */
static enum status read_mark(struct frontier *f)
{
    struct ordering *o = &f->ordering;
    struct buf mark, rules;
    unsigned long long at = 0, upto = 0;
    const char *lines;
    enum status st;

    buf_init(&mark, MARK_MOST);
    buf_init(&rules, MARK_MOST);
    order_describe(f->o.order, &rules);
    st = frontier_store_meta(f->store, MARK, &mark);
    lines = st == STATUS_OK ? strchr(buf_str(&mark), '\n') : NULL;
    o->at = o->upto = 0;
    o->changed = st == STATUS_NOT_FOUND
                     ? is_on(f)
                     : lines == NULL || strcmp(lines + 1, buf_str(&rules)) != 0;
    if (!o->changed && lines != NULL &&
        sscanf(buf_str(&mark), "%llu %llu\n", &at, &upto) == 2) {
        o->at = at;
        o->upto = upto;
    }
    buf_fini(&mark);
    buf_fini(&rules);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void recall_class(void *ctx, uint32_t queue, uint8_t class_)
{
    struct frontier *f = ctx;

    if (frontier_store_pending(f->store, queue) > 0)
        host_queue_early(frontier_host(f, queue), class_);
}

/* Takes over the rules in f->o.order. */
static enum status begin(struct frontier *f)
{
    enum status st = read_mark(f);

    if (order_mode(f->o.order) == ORDER_BEST && f->ordering.links == NULL)
        f->ordering.links =
            link_sketch_new(seen_store_share(f->base, 2, 65536, 64U << 20));
    if (st == STATUS_OK && is_on(f))
        st = early_store_each_queue(f->early, recall_class, f);
    return st;
}

enum status frontier_order_open(struct frontier *f)
{
    enum status st = early_store_open(&f->early, f->base->db);

    buf_init(&f->ordering.text, URL_MOST);
    if (st == STATUS_OK)
        st = hint_store_any(f->hints, &f->ordering.hints);
    return st == STATUS_OK ? begin(f) : st;
}

void frontier_order_close(struct frontier *f)
{
    early_store_close(f->early);
    link_sketch_free(f->ordering.links);
    buf_fini(&f->ordering.text);
}

enum status frontier_set_order(struct frontier *f, const struct order *order)
{
    enum status st;

    f->o.order = order;
    for (uint32_t q = 0; q < f->hosts.room; q++)
        if (host_table_get(&f->hosts, q) != NULL)
            host_queue_forget_early(host_table_get(&f->hosts, q));
    st = begin(f);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

bool frontier_order_is_due(const struct frontier *f)
{
    return f->ordering.changed || f->ordering.at < f->ordering.upto;
}

struct sorting {
    struct frontier *f;
    enum status st;
};

static void sort_row(void *ctx, const struct url_row *row)
{
    struct sorting *s = ctx;

    if (s->st == STATUS_OK && row->kind != URL_KIND_SERVED &&
        !frontier_store_is_done(s->f->store, row->id))
        s->st = frontier_order_row(s->f, row);
}

enum status frontier_order_step(struct frontier *f, int64_t now)
{
    struct ordering *o = &f->ordering;
    struct sorting s = {.f = f};
    enum status st;

    if (!frontier_order_is_due(f))
        return STATUS_OK;
    st = frontier_touch(f, now);
    if (o->changed) {
        o->at = 0;
        o->upto = is_on(f) ? frontier_store_last_id(f->store) : 0;
    }
    if (st == STATUS_OK && o->at < o->upto)
        st = frontier_store_each(f->store, o->at + 1, o->at + STEP_ROWS,
                                 sort_row, &s);
    o->at = o->at + STEP_ROWS < o->upto ? o->at + STEP_ROWS : o->upto;
    if (st == STATUS_OK)
        st = s.st;
    if (st == STATUS_OK)
        st = write_mark(f);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
