/* SPDX-License-Identifier: MIT */
/*
 * served_reader.c - reads served URLs from a store.
 *
 * The rows become URLs and queues in memory as they do for the service
 * (served.c); here they are counted and shown.
 */
#include "frontier/served/served_reader.h"

#include <stdlib.h>

#include "base/mem.h"
#include "frontier/served/served_impl.h"
#include "storage/db/schema.h"

struct served_reader {
    struct reader *r;
    struct seen_store base; /* its parts are the reader's */
    struct served *t;
    uint32_t queue_count;
    struct served_reader_facts facts;
};

/* ---- counting ---- */

static void count_all(struct served_reader *p)
{
    struct served_reader_facts *f = &p->facts;
    uint64_t end = (uint64_t)p->t->chunk_count * SERVED_CHUNK;

    for (uint64_t id = 1; id < end; id++) {
        struct served_reader_url u = served_reader_get(p, id);

        f->urls.queued += u.state == URL_STATE_QUEUED;
        f->urls.leased += u.state == URL_STATE_LEASED;
        f->urls.completed += u.state == URL_STATE_COMPLETED;
        f->urls.removed += u.state == URL_STATE_REMOVED;
        f->due += u.state == URL_STATE_QUEUED && u.due_ms <= f->now;
    }
    for (uint32_t n = 1; n <= p->queue_count; n++) {
        struct served_reader_queue q = served_reader_queue(p, n);

        f->queues += q.there;
        f->blocked_queues += q.there && q.blocked_until_ms > f->now;
    }
}

enum status served_reader_open(struct served_reader **out, struct reader *r,
                               int64_t now)
{
    struct served_reader *p = xcalloc(1, sizeof *p);
    enum status st;

    p->r = r;
    p->base = (struct seen_store){.db = r->db,
                                  .store = r->store,
                                  .exact = r->exact,
                                  .key = r->key};
    p->queue_count = frontier_store_queue_count(r->store);
    st = served_read_store(&p->t, &p->base, now);
    if (st != STATUS_OK) {
        free(p);
        return st;
    }
    p->facts.now = now;
    p->facts.default_delay_ms = p->t->default_delay_ms;
    p->facts.active = p->t->active;
    count_all(p);
    *out = p;
    return STATUS_OK;
}

void served_reader_close(struct served_reader *p)
{
    if (p == NULL)
        return;
    served_close(p->t);
    free(p);
}

/* ---- queries ---- */

/* NULL: not a served URL. */
static const struct served_url *entry_of(const struct served_reader *p,
                                         uint64_t id)
{
    const struct served_url *u;

    if (id / SERVED_CHUNK >= p->t->chunk_count)
        return NULL;
    u = served_url_at(p->t, (uint32_t)id);
    return u->queue != 0 ? u : NULL;
}

struct served_reader_url served_reader_get(const struct served_reader *p,
                                           uint64_t id)
{
    const struct served_url *u = entry_of(p, id);
    struct served_reader_url out = {.state = URL_STATE_NONE};

    if (u == NULL)
        return out;
    out.queue = u->queue;
    out.due_ms = u->due_ms;
    if (!served_url_exists(p->t, id)) {
        out.state = URL_STATE_REMOVED;
    } else if ((u->flags & SERVED_LEASED) != 0) {
        out.state = URL_STATE_LEASED;
        out.leased_until_ms = served_lease_of(p->t, (uint32_t)id)->until.key;
    } else {
        out.state =
            u->life == LIFE_DONE ? URL_STATE_COMPLETED : URL_STATE_QUEUED;
    }
    return out;
}

struct served_reader_queue served_reader_queue(const struct served_reader *p,
                                               uint32_t queue)
{
    const struct served_queue *q =
        queue < p->t->queue_room ? p->t->queues[queue] : NULL;

    if (q == NULL)
        return (struct served_reader_queue){.delay_ms = -1};
    return (struct served_reader_queue){
        .there = q->there,
        .gone = q->gone,
        .urls = {.queued = q->active - q->leased,
                 .leased = q->leased,
                 .completed = q->completed},
        .delay_ms = q->delay_ms,
        .blocked_until_ms =
            q->blocked_until_ms > p->facts.now ? q->blocked_until_ms : 0,
        .served_ms = q->served_ms,
        .limit = q->limit,
    };
}

struct served_record served_reader_queue_record(const struct served_reader *p,
                                                uint32_t queue)
{
    const struct served_reader_queue q = served_reader_queue(p, queue);
    struct served_record out = {
        .queue = {.queued = q.urls.queued,
                  .leased = q.urls.leased,
                  .completed = q.urls.completed,
                  .delay_ms =
                      q.delay_ms >= 0 ? q.delay_ms : p->facts.default_delay_ms,
                  .blocked_until_ms = q.blocked_until_ms,
                  .served_ms = q.served_ms,
                  .limit = q.limit}};

    frontier_store_queue_name(p->r->store, queue, &out.crawl, &out.key);
    return out;
}

struct served_record served_reader_record(const struct served_reader *p,
                                          const struct url_row *row)
{
    struct served_reader_url u = served_reader_get(p, row->id);
    struct served_record out = served_reader_queue_record(p, row->queue);

    out.url = row->url;
    out.state = u.state;
    out.id = row->id;
    out.created_ms = row->found_at_ms;
    if (u.state != URL_STATE_REMOVED) {
        out.due_ms = u.due_ms;
        out.leased_until_ms = u.leased_until_ms;
    }
    return out;
}

enum status served_reader_metadata(const struct served_reader *p, uint64_t id,
                                   struct buf *out)
{
    const struct served_url *u = entry_of(p, id);

    if (u == NULL || served_url_seq(u) == 0)
        return STATUS_OK;
    return served_log_metadata(p->t->log, served_url_seq(u), out);
}

const struct served_reader_facts *served_reader_facts(
    const struct served_reader *p)
{
    return &p->facts;
}

#define FIND_BATCH 1024

enum status served_reader_find(struct served_reader *p, struct bytes url,
                               void (*visit)(void *ctx, uint64_t id), void *ctx)
{
    struct digest digests[FIND_BATCH];
    uint64_t ids[FIND_BATCH];
    enum status st = STATUS_OK;

    for (uint32_t q = 1; st == STATUS_OK && q <= p->queue_count;) {
        size_t n = 0;

        for (; n < FIND_BATCH && q <= p->queue_count; q++) {
            struct bytes crawl, key;

            frontier_store_queue_name(p->r->store, q, &crawl, &key);
            digests[n++] = digest_url(&p->r->key, crawl, key, url);
        }
        st = exact_set_find(p->r->exact, digests, n, ids);
        for (size_t i = 0; st == STATUS_OK && i < n; i++) {
            if (entry_of(p, ids[i]) != NULL)
                visit(ctx, ids[i]);
        }
    }
    return st;
}

/* ---- one URL's story ---- */

struct stories {
    uint64_t id;
    struct story_row {
        uint64_t seq;
        struct served_step step;
    } * rows;
    size_t count, room;
};

static void add_row(struct stories *s, uint64_t seq,
                    const struct served_step *e)
{
    if (s->count == s->room) {
        s->room = s->room > 0 ? 2 * s->room : 16;
        s->rows = xrealloc(s->rows, s->room * sizeof *s->rows);
    }
    s->rows[s->count++] = (struct story_row){seq, *e};
}

static void story_lease(void *ctx, const struct served_lease_row *e)
{
    struct stories *s = ctx;
    const struct served_step step = {.event = SERVED_EVENT_LEASE,
                                     .at_ms = e->at_ms,
                                     .until_ms = e->until_ms};

    if (e->url == s->id)
        add_row(s, e->seq, &step);
}

/* A row that a sweep has moved counts at its first place. */
static void story_update(void *ctx, const struct served_update_row *u)
{
    struct stories *s = ctx;
    const struct served_step step = {.event = SERVED_EVENT_UPDATE,
                                     .due_ms = u->due_ms};

    if (u->url == s->id)
        add_row(s, u->since, &step);
}

static int by_seq(const void *a, const void *b)
{
    const struct story_row *x = a, *y = b;

    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

enum status served_reader_story(struct served_reader *p, uint64_t id,
                                void (*visit)(void *ctx,
                                              const struct served_step *step),
                                void *ctx)
{
    struct stories s = {.id = id};
    enum status st = served_log_each_lease(p->t->log, story_lease, &s);

    if (st == STATUS_OK)
        st = served_log_each_update(p->t->log, story_update, &s);
    if (s.count > 0)
        qsort(s.rows, s.count, sizeof *s.rows, by_seq);
    for (size_t i = 0; st == STATUS_OK && i < s.count; i++)
        visit(ctx, &s.rows[i].step);
    free(s.rows);
    return st;
}

/* ---- verify ---- */

struct check {
    struct served_reader *p;
    struct buf text;
    int64_t at_ms; /* of the previous URL */
    enum status st;
};

static void bad(struct check *c, uint64_t id, const char *why)
{
    if (c->st == STATUS_OK)
        c->st = db_damaged("url", (int64_t)id, why);
}

/* Checks `via`: the row of the same URL that was removed before it was put
 * again. */
static void check_via(struct check *c, const struct url_row *row)
{
    struct served_reader_url via = served_reader_get(c->p, row->via);
    struct url_row before;
    enum status st;

    if (row->via >= row->id || via.state != URL_STATE_REMOVED ||
        via.queue != row->queue) {
        bad(c, row->id, "comes after no removed URL of its queue");
        return;
    }
    st = frontier_store_get(c->p->r->store, row->via, &before, &c->text);
    if (st != STATUS_OK)
        c->st = st;
    else if (!bytes_equal(before.url, row->url))
        bad(c, row->id, "comes after another URL");
}

static void check_row(void *ctx, const struct url_row *row)
{
    struct check *c = ctx;

    if (row->kind != URL_KIND_SERVED || c->st != STATUS_OK)
        return;
    if (entry_of(c->p, row->id) == NULL)
        bad(c, row->id, "is in no queue");
    else if (row->found_at_ms < c->at_ms || row->found_at_ms <= 0)
        bad(c, row->id, "arrived before the URL before it");
    else if (row->via != 0)
        check_via(c, row);
    c->at_ms = row->found_at_ms;
}

static enum status check_queues(const struct served_reader *p)
{
    for (uint32_t n = 1; n <= p->queue_count; n++) {
        struct served_reader_queue q = served_reader_queue(p, n);

        if (q.gone && q.there)
            return db_damaged("item_queue", n, "was removed and has URLs");
    }
    return STATUS_OK;
}

enum status served_reader_verify(struct served_reader *p)
{
    struct check c = {.p = p, .st = STATUS_OK};
    uint64_t last = frontier_store_last_id(p->r->store);
    enum status st = check_queues(p);

    buf_init(&c.text, SERVED_BYTES_MOST);
    if (st == STATUS_OK && last > 0)
        st = frontier_store_each(p->r->store, 1, last, check_row, &c);
    buf_fini(&c.text);
    return st == STATUS_OK ? c.st : st;
}
