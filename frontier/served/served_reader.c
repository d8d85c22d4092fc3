/* SPDX-License-Identifier: MIT */
/*
 * served_reader.c - reads served URLs from a store.
 *
 * It reads in the order of served_open.c, and must get the same result
 * (test_served_model compares them): removals, then every URL, the latest lease
 * of each, then the updates, which may have ended it. It has no heaps or round
 * robins, which only the frontier thread needs.
 */
#include "frontier/served/served_reader.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/served/served.h"
#include "storage/db/url_kind.h"
#include "storage/rows/served_log.h"

#define DEFAULT_DELAY_MS 1000

struct entry {
    int64_t due_ms, until_ms;
    uint64_t lease_seq;  /* of the latest lease; 0: there is none */
    uint64_t update_seq; /* of the latest update; 0: there is none */
    uint32_t queue;      /* 0: not a served URL */
};

struct served_reader {
    struct reader *r;
    struct served_log *log;
    struct entry *urls; /* by id */
    uint64_t last;
    struct served_reader_queue *queues; /* by number */
    uint32_t queue_count;
    struct served_reader_facts facts;
};

/* ---- reading ---- */

static void take_queue(void *ctx, uint32_t number,
                       const struct served_queue_row *row)
{
    struct served_reader *p = ctx;
    struct served_reader_queue *q;

    if (number == 0 || number > p->queue_count)
        return; /* served_log_verify reports it */
    q = &p->queues[number];
    q->gone = row->gone;
    q->there = !row->gone;
    q->removed_upto = row->removed_upto;
    q->delay_ms = row->delay_ms;
    q->blocked_until_ms = row->blocked_until_ms;
    q->limit = row->completed_most;
    q->served_ms = row->served_ms;
}

static void take_url(void *ctx, uint64_t id, uint32_t origin, int64_t at_ms)
{
    struct served_reader *p = ctx;
    uint32_t queue = frontier_store_origin_queue(p->r->store, origin);

    if (queue == 0 || queue > p->queue_count || id > p->last)
        return; /* served_reader_verify reports it */
    p->urls[id] = (struct entry){.due_ms = at_ms, .queue = queue};
    if (id > p->queues[queue].removed_upto)
        p->queues[queue].there = true;
}

static bool is_removed(const struct served_reader *p, uint64_t id)
{
    return id <= p->queues[p->urls[id].queue].removed_upto;
}

/* NULL: not a served URL. */
static struct entry *entry_of(const struct served_reader *p, uint64_t id)
{
    return id <= p->last && p->urls[id].queue != 0 ? &p->urls[id] : NULL;
}

static void take_lease(void *ctx, const struct served_lease_row *e)
{
    struct served_reader *p = ctx;
    struct entry *u = entry_of(p, e->url);
    struct served_reader_queue *q;

    if (u == NULL || is_removed(p, e->url))
        return;
    q = &p->queues[u->queue];
    if (e->at_ms > q->served_ms)
        q->served_ms = e->at_ms;
    u->lease_seq = e->seq;
    u->until_ms =
        clock_earlier(e->until_ms, p->facts.now + (e->until_ms - e->at_ms));
}

static void take_update(void *ctx, const struct served_update_row *up)
{
    struct served_reader *p = ctx;
    struct entry *u = entry_of(p, up->url);

    if (u == NULL)
        return;
    u->update_seq = up->seq;
    u->due_ms = up->due_ms;
    if (u->lease_seq < up->since)
        u->until_ms = 0;
}

static enum status read_settings(struct served_reader *p)
{
    int64_t active = 1;
    enum status st = frontier_store_meta_time(p->r->store, "item_delay_ms",
                                              &p->facts.default_delay_ms);

    if (st == STATUS_OK)
        st = frontier_store_meta_time(p->r->store, "items_active", &active);
    p->facts.active = active != 0;
    return st;
}

/* ---- counting ---- */

static void count_one(struct served_reader_counts *c, enum url_state s)
{
    c->queued += s == URL_STATE_QUEUED;
    c->leased += s == URL_STATE_LEASED;
    c->completed += s == URL_STATE_COMPLETED;
    c->removed += s == URL_STATE_REMOVED;
}

static void count_all(struct served_reader *p)
{
    for (uint64_t id = 1; id <= p->last; id++) {
        struct served_reader_url u = served_reader_get(p, id);

        if (u.state == URL_STATE_NONE)
            continue;
        count_one(&p->queues[u.queue].urls, u.state);
        count_one(&p->facts.urls, u.state);
        p->facts.due += u.state == URL_STATE_QUEUED && u.due_ms <= p->facts.now;
    }
    for (uint32_t q = 1; q <= p->queue_count; q++) {
        p->facts.queues += p->queues[q].there;
        p->facts.blocked_queues +=
            p->queues[q].there &&
            served_reader_queue_is_blocked(&p->queues[q], p->facts.now);
    }
}

static enum status read_store(struct served_reader *p)
{
    enum status st = served_log_open(&p->log, p->r->db);

    if (st == STATUS_OK)
        st = read_settings(p);
    if (st == STATUS_OK)
        st = served_log_each_queue(p->log, take_queue, p);
    if (st == STATUS_OK)
        st = served_log_each_url(p->log, take_url, p);
    if (st == STATUS_OK)
        st = served_log_each_lease(p->log, take_lease, p);
    if (st == STATUS_OK)
        st = served_log_each_update(p->log, take_update, p);
    if (st == STATUS_OK)
        count_all(p);
    return st;
}

enum status served_reader_open(struct served_reader **out, struct reader *r,
                               int64_t now)
{
    struct served_reader *p = xcalloc(1, sizeof *p);
    enum status st = STATUS_NOMEM;

    p->r = r;
    p->facts.now = now;
    p->facts.default_delay_ms = DEFAULT_DELAY_MS;
    p->last = frontier_store_last_id(r->store);
    p->queue_count = frontier_store_queue_count(r->store);
    p->urls = try_calloc(p->last + 1, sizeof *p->urls);
    p->queues = try_calloc((size_t)p->queue_count + 1, sizeof *p->queues);
    for (uint32_t q = 0; p->queues != NULL && q <= p->queue_count; q++)
        p->queues[q].delay_ms = -1;
    if (p->urls != NULL && p->queues != NULL)
        st = read_store(p);
    if (st != STATUS_OK) {
        served_reader_close(p);
        return st;
    }
    *out = p;
    return STATUS_OK;
}

void served_reader_close(struct served_reader *p)
{
    if (p == NULL)
        return;
    served_log_close(p->log);
    free(p->urls);
    free(p->queues);
    free(p);
}

/* ---- queries ---- */

struct served_reader_url served_reader_get(const struct served_reader *p,
                                           uint64_t id)
{
    const struct entry *u = entry_of(p, id);
    struct served_reader_url out = {.state = URL_STATE_NONE};

    if (u == NULL)
        return out;
    out.queue = u->queue;
    out.due_ms = u->due_ms;
    if (is_removed(p, id)) {
        out.state = URL_STATE_REMOVED;
    } else if (u->until_ms > p->facts.now) {
        out.state = URL_STATE_LEASED;
        out.leased_until_ms = u->until_ms;
    } else {
        out.state = u->due_ms == 0 ? URL_STATE_COMPLETED : URL_STATE_QUEUED;
    }
    return out;
}

struct served_record served_reader_queue_record(const struct served_reader *p,
                                                uint32_t queue)
{
    const struct served_reader_queue *q = &p->queues[queue];
    struct served_record out = {
        .queue = {.queued = q->urls.queued,
                  .leased = q->urls.leased,
                  .completed = q->urls.completed,
                  .delay_ms = q->delay_ms >= 0 ? q->delay_ms
                                               : p->facts.default_delay_ms,
                  .served_ms = q->served_ms,
                  .limit = q->limit}};

    if (served_reader_queue_is_blocked(q, p->facts.now))
        out.queue.blocked_until_ms = q->blocked_until_ms;
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
    const struct entry *u = entry_of(p, id);

    if (u == NULL || u->update_seq == 0)
        return STATUS_OK;
    return served_log_metadata(p->log, u->update_seq, out);
}

const struct served_reader_queue *served_reader_queue(
    const struct served_reader *p, uint32_t queue)
{
    return &p->queues[queue];
}

bool served_reader_queue_is_blocked(const struct served_reader_queue *q,
                                    int64_t now)
{
    return q->blocked_until_ms > now;
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
    enum status st = served_log_each_lease(p->log, story_lease, &s);

    if (st == STATUS_OK)
        st = served_log_each_update(p->log, story_update, &s);
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
    struct url_row before;
    enum status st;

    if (row->via >= row->id || entry_of(c->p, row->via) == NULL ||
        c->p->urls[row->via].queue != row->queue ||
        !is_removed(c->p, row->via)) {
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
    for (uint32_t q = 1; q <= p->queue_count; q++) {
        if (p->queues[q].gone && p->queues[q].there)
            return db_damaged("item_queue", q, "was removed and has URLs");
    }
    return STATUS_OK;
}

enum status served_reader_verify(struct served_reader *p)
{
    struct check c = {.p = p, .st = STATUS_OK};
    enum status st = check_queues(p);

    buf_init(&c.text, SERVED_BYTES_MOST);
    if (st == STATUS_OK && p->last > 0)
        st = frontier_store_each(p->r->store, 1, p->last, check_row, &c);
    buf_fini(&c.text);
    return st == STATUS_OK ? c.st : st;
}
