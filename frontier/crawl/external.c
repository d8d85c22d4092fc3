/* SPDX-License-Identifier: MIT */
/*
 * external.c - external leases, from the grant to their end.
 *
 *            external_grant                external_settle: final
 *   queued ─────────────────► leased ────────────────────────────► done
 *      ▲                         │
 *      └─────────────────────────┘
 *        external_settle: not final; the deadline has passed
 *
 * An external lease is an ordinary lease of the frontier, so its host is busy and
 * all counts are right; a struct external_lease beside it has the deadline. The
 * log has a row for each lease and for each change of its deadline; the last
 * row of a URL counts, unless the URL is done.
 *
 * After a restart the queue of a leased URL reads it from the store, like every
 * URL that is not done. The queue skips it (external_is_elsewhere), and it is
 * added to the retries only if its queue is past it, so that it is in one place
 * at most.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"

struct external_leases {
    struct served_log *log;
    struct heap until;     /* of struct external_lease */
    struct map *by_number; /* of struct external_lease */
};

struct external_lease {
    struct heap_item until; /* first; monotonic */
    uint64_t number, id;
    int64_t at_ms;
    uint64_t seq; /* of its current row */
};

/*
 * Removes URLs from their queues.
 *
 * Ids are given in order of arrival, so the removed part of a queue, all of it
 * or the older URLs, is always the ids up to some one. That number is written
 * first (item_queue.removed), and checked wherever a URL could be leased or put
 * back. The final outcomes are ordinary rows of table fetch, since done bits,
 * explain and export use those. (The number alone would be enough to prevent
 * fetching, at no cost; but then all of these, and every reader of a store,
 * would have to check it.)
 */

#define BATCH 256 /* most ids read at once */

const struct outcome frontier_removed = {OUTCOME_SKIPPED, REASON_REMOVED, 0};

bool frontier_is_removed(const struct host_queue *h, uint64_t id)
{
    return id <= host_orders(h)->removed_upto;
}

enum status removal_begin(struct frontier *f, struct bytes key,
                          int64_t before_ms, struct removal *out)
{
    struct removal r = {.queue = 1,
                        .last_queue = frontier_store_queue_count(f->store)};
    enum status st = frontier_store_last_before(f->store, before_ms, &r.upto);

    if (key.len > 0) {
        r.queue = frontier_store_find_queue(f->store, f->o.crawl, key);
        r.last_queue = r.queue;
        if (r.queue == 0)
            r.queue = 1; /* past the last one */
    }
    *out = r;
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* Stores that ids up to `upto` are removed. */
static enum status mark(struct frontier *f, struct host_queue *h, uint64_t upto)
{
    if (host_orders(h)->removed_upto >= upto)
        return STATUS_OK;
    host_orders_of(h)->removed_upto = upto;
    return external_set_queue(f, h);
}

enum status frontier_count_removed(struct frontier *f, struct host_queue *h,
                                   uint64_t n)
{
    return served_log_add_removed(f->external->log, h->queue, n);
}

enum status removal_count(struct frontier *f, uint32_t queue, uint64_t *n)
{
    enum status st = STATUS_OK;

    *n = 0;
    if (f->external != NULL)
        st = served_log_removed(f->external->log, queue, n);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

static enum status last_word(struct frontier *f, uint64_t id, int64_t wall_ms)
{
    struct fetch_row fetch = {.at_ms = wall_ms,
                              .detail = bytes_of_str(REMOVED_TEXT)};
    struct url_row row;
    enum status st = frontier_store_get(f->store, id, &row, &f->text);

    return st == STATUS_OK
               ? frontier_settle(f, id, (row.flags & URL_ROW_SEED) != 0,
                                 row.kind, &fetch, frontier_removed)
               : st;
}

/* Takes the next URLs of the queue; *n: their number, 0: there are no more. */
static enum status take_batch(struct frontier *f, struct removal *r,
                              struct host_queue *h, int64_t wall_ms, size_t *n)
{
    uint64_t ids[BATCH];
    size_t count = 0, i = 0;
    enum status st =
        frontier_store_refill(f->store, r->queue, r->after, ids, BATCH, &count);

    if (st == STATUS_OK && count > 0 && ids[0] <= r->upto)
        st = mark(f, h, r->upto);
    for (; st == STATUS_OK && i < count && ids[i] <= r->upto; i++) {
        r->after = ids[i];
        if (lease_find(f->leases, ids[i]) != NULL)
            continue;
        st = last_word(f, ids[i], wall_ms);
        r->gone += st == STATUS_OK;
    }
    *n = i;
    return st;
}

/* Removes up to `most` URLs of the current queue, and moves on when there are
 * no more. */
static enum status step_queue(struct frontier *f, struct removal *r,
                              size_t most, int64_t wall_ms, size_t *looked)
{
    struct host_queue *h = frontier_host(f, r->queue);
    const uint64_t before = r->gone;
    size_t n = 1;
    enum status st = STATUS_OK;

    for (*looked = 1; st == STATUS_OK && n > 0 && *looked < most; *looked += n)
        st = take_batch(f, r, h, wall_ms, &n);
    if (st == STATUS_OK && r->gone > before)
        st = frontier_count_removed(f, h, r->gone - before);
    host_queue_forget_done(h, f->store);
    if (h->orders != NULL)
        h->orders->cross_due = INT64_MIN; /* its URL may be removed */
    frontier_reschedule(f, h);
    if (n == 0) {
        r->queue++;
        r->after = 0;
    }
    return st;
}

enum status removal_step(struct frontier *f, struct removal *r, size_t most,
                         int64_t now, int64_t wall_ms, bool *over)
{
    size_t looked = 0;
    enum status st = frontier_touch(f, now);

    while (st == STATUS_OK && looked < most && r->queue <= r->last_queue) {
        size_t n = 1;

        if (frontier_store_pending(f->store, r->queue) > 0)
            st = step_queue(f, r, most - looked, wall_ms, &n);
        else
            r->queue++;
        looked += n;
    }
    *over = r->queue > r->last_queue;
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

#define SWEEP_FROM   4096 /* a shorter log is not worth a sweep */
#define SWEEP_STEP   256
#define LISTS_MOST   16  /* lists skipped in one visit of a queue */
#define VISIT_DRAINS 256 /* URLs settled without a lease, a visit */
#define NUMBER_MASK  ((UINT64_C(1) << EXTERNAL_NUMBER_BITS) - 1)

static struct bytes key_of(const uint64_t *number)
{
    return bytes_of(number, sizeof *number);
}

/* ---- life ---- */

/* Makes f->external if it is missing. */
static enum status external_open(struct frontier *f)
{
    struct external_leases *l;
    enum status st;

    if (f->external != NULL)
        return STATUS_OK;
    l = xcalloc(1, sizeof *l);
    heap_init(&l->until);
    l->by_number = map_new();
    st = served_log_open(&l->log, f->base->db);
    if (st != STATUS_OK) {
        external_free(l);
        return st;
    }
    f->external = l;
    return STATUS_OK;
}

void external_free(struct external_leases *l)
{
    if (l == NULL)
        return;
    heap_fini(&l->until);
    map_free(l->by_number, free);
    served_log_close(l->log);
    free(l);
}

size_t external_count(const struct external_leases *l)
{
    return l != NULL ? heap_count(&l->until) : 0;
}

bool external_is_elsewhere(const struct frontier *f, uint64_t id)
{
    return f->external != NULL && (frontier_store_is_done(f->store, id) ||
                                   lease_find(f->leases, id) != NULL);
}

/* ---- leases ---- */

static uint64_t number_of(const struct frontier *f, uint64_t id, int64_t at_ms)
{
    const uint64_t both[2] = {id, (uint64_t)at_ms};
    uint64_t number =
        digest_bytes(&f->base->key, bytes_of(both, sizeof both)).lo &
        NUMBER_MASK;

    return number != 0 ? number : 1;
}

/* Leases must have different numbers, even if the time has to be moved by a
 * millisecond. */
static struct external_lease *begin(struct frontier *f, struct lease_record *r,
                                    int64_t at_ms, int64_t until)
{
    struct external_leases *l = f->external;
    struct external_lease *h = xcalloc(1, sizeof *h);

    h->id = r->lease.id;
    h->at_ms = at_ms;
    while (h->number = number_of(f, h->id, h->at_ms),
           map_get(l->by_number, key_of(&h->number)) != NULL)
        h->at_ms++;
    (void)map_put(l->by_number, key_of(&h->number), h);
    heap_push(&l->until, &h->until, until);
    r->external = h;
    return h;
}

void external_end_lease(struct frontier *f, struct lease_record *r)
{
    struct external_lease *h = r->external;

    if (h == NULL)
        return;
    heap_remove(&f->external->until, &h->until);
    (void)map_remove(f->external->by_number, key_of(&h->number));
    free(h);
    r->external = NULL;
}

/* Puts the URL back in its queue, due at `due`; for its host this counts as the
 * end of a response. */
static void external_take_back(struct frontier *f, struct lease_record *r,
                               int64_t due, int64_t now)
{
    struct host_queue *h = r->host;
    uint64_t id = r->lease.id;

    external_end_lease(f, r);
    politeness_group_give_back(h);
    lease_end(f->leases, r);
    if (!host_queue_is_to_come(h, id))
        host_queue_retry(h, id, due);
    h->next_due = clock_later(h->next_due, now + frontier_pause(f, h));
    if (h->group != NULL)
        h->group->next_due = clock_later(h->group->next_due, h->next_due);
    frontier_reschedule(f, h);
}

void external_tick(struct frontier *f, int64_t now)
{
    struct heap_item *top;

    while ((top = heap_top(&f->external->until)) != NULL && top->key <= now) {
        const struct external_lease *h = (struct external_lease *)(void *)top;

        external_take_back(f, lease_find(f->leases, h->id), now, now);
    }
}

static struct external_lease *find(struct frontier *f, uint64_t number,
                                   int64_t now)
{
    if (f->external == NULL)
        return NULL;
    external_tick(f, now);
    return map_get(f->external->by_number, key_of(&number));
}

uint64_t external_find(struct frontier *f, uint64_t number, int64_t now)
{
    const struct external_lease *h = find(f, number, now);

    return h != NULL ? h->id : 0;
}

static int64_t bounded(int64_t length)
{
    return length < EXTERNAL_LEASE_MOST ? length : EXTERNAL_LEASE_MOST;
}

enum status external_extend(struct frontier *f, uint64_t number, int64_t length,
                            int64_t now, int64_t wall_ms)
{
    struct external_lease *h = find(f, number, now);
    enum status st;

    if (h == NULL)
        return STATUS_NOT_FOUND;
    length = bounded(length);
    st = frontier_touch(f, now);
    if (st == STATUS_OK)
        st = served_log_lease(f->external->log, h->id, h->at_ms,
                              clock_later(h->at_ms, wall_ms) +
                                  length / NS_PER_MS,
                              &h->seq);
    if (st == STATUS_OK)
        heap_move(&f->external->until, &h->until, now + length);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* ---- granting ---- */

struct granting {
    struct frontier *f;
    const struct external_request *ask;
    int64_t now, wall_ms;
    struct external_url *out;
    size_t *n, most;
};

static bool may_go(const struct granting *l, const struct host_queue *h)
{
    const struct politeness_group *m = h->group;

    if (h->place.place == 0 || h->place.key > l->now)
        return false;
    return m == NULL || (m->leased < l->f->o.conns_per_host &&
                         m->next_due <= l->now && m->blocked_until <= l->now);
}

static enum status grant(struct granting *l, struct lease_record *r)
{
    struct frontier *f = l->f;
    int64_t length = bounded(l->ask->length);
    struct external_lease *h;
    enum status st = external_open(f);

    if (st == STATUS_OK)
        st = frontier_touch(f, l->now);
    if (st != STATUS_OK)
        return st;
    h = begin(f, r, l->wall_ms, l->now + length);
    frontier_store_add(f->store, "external", 1);
    l->out[(*l->n)++] = (struct external_url){r->lease, h->number};
    return served_log_lease(f->external->log, h->id, h->at_ms,
                            clock_later(h->at_ms,
                                        l->wall_ms + length / NS_PER_MS),
                            &h->seq);
}

/* Takes a lease back as if it had never been given. */
static void undo(struct frontier *f, struct lease_record *r,
                 const struct host_queue *before, int64_t group_due)
{
    struct host_queue *h = r->host;

    politeness_group_give_back(h);
    lease_end(f->leases, r);
    h->run = before->run;
    h->next_due = before->next_due;
    if (h->group != NULL)
        h->group->next_due = group_due;
}

/* *list: the id of a list of URLs, if one came first; else 0. */
static enum status grant_one(struct granting *l, struct host_queue *h,
                             uint64_t *list)
{
    const struct host_queue before = *h;
    int64_t group_due = h->group != NULL ? h->group->next_due : 0;
    struct lease_record *r = NULL;
    enum status st = frontier_lease_from(l->f, h, l->now, l->wall_ms, &r);

    *list = 0;
    if (st != STATUS_OK || r == NULL)
        return st;
    if ((l->f->o.listings >> r->lease.kind & 1) == 0)
        return grant(l, r);
    *list = r->lease.id;
    undo(l->f, r, &before, group_due);
    return STATUS_OK;
}

/* Leases all that the queue gives; lists of URLs are at its front
 * afterwards. */
static enum status visit(struct granting *l, struct host_queue *h)
{
    uint64_t lists[LISTS_MOST], list;
    size_t before = *l->n, list_count = 0;
    unsigned looked = 0;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && may_go(l, h) && *l->n < l->most &&
           list_count < LISTS_MOST && looked++ < VISIT_DRAINS &&
           (l->ask->most_urls == 0 || *l->n - before < l->ask->most_urls)) {
        st = grant_one(l, h, &list);
        if (list != 0)
            lists[list_count++] = list;
        frontier_unschedule(l->f, h);
        frontier_reschedule(l->f, h);
    }
    for (size_t i = 0; i < list_count; i++)
        host_queue_retry(h, lists[i], 0);
    return st;
}

static struct host_queue *queue_asked(struct frontier *f,
                                      const struct external_request *a)
{
    uint32_t queue = frontier_store_find_queue(f->store, f->o.crawl, a->key);

    return queue != 0 && frontier_store_pending(f->store, queue) > 0
               ? frontier_host(f, queue)
               : NULL;
}

/* The next queue that is due; NULL: there is none. */
static struct host_queue *next_queue(const struct granting *l)
{
    int64_t due;
    struct host_queue *h = frontier_first_host(l->f, l->now, &due);

    return h != NULL && due <= l->now ? h : NULL;
}

/* Visits queues in turn, each once: a visited one is out of the schedule until
 * all have been. */
static enum status visit_all(struct granting *l)
{
    const uint32_t most =
        l->ask->most_queues > 0 ? l->ask->most_queues : UINT32_MAX;
    struct host_queue *h, *seen = NULL;
    uint32_t served = 0;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && served < most && *l->n < l->most &&
           (h = next_queue(l)) != NULL) {
        size_t before = *l->n;

        if (frontier_stands_nowhere(l->f, h)) {
            st = frontier_find_place(l->f, h);
            continue;
        }
        st = visit(l, h);
        served += *l->n > before;
        frontier_unschedule(l->f, h);
        h->after = seen;
        seen = h;
    }
    while (seen != NULL) {
        h = seen;
        seen = h->after;
        h->after = NULL;
        frontier_reschedule(l->f, h);
    }
    return st;
}

enum status external_grant(struct frontier *f, const struct external_request *a,
                           int64_t now, int64_t wall_ms,
                           struct external_url *out, size_t *n)
{
    struct granting l = {.f = f,
                         .ask = a,
                         .now = now,
                         .wall_ms = wall_ms,
                         .out = out,
                         .n = n,
                         .most = frontier_pages_left(f, a->most)};
    struct host_queue *h;
    enum status st = STATUS_OK;

    *n = 0;
    if (f->base->broken)
        return db_error(f->base->db);
    if (f->external != NULL)
        external_tick(f, now);
    if (!a->one_queue)
        st = visit_all(&l);
    else if ((h = queue_asked(f, a)) != NULL) {
        if (frontier_stands_nowhere(f, h) && !h->set_aside)
            st = frontier_find_place(f, h);
        if (st == STATUS_OK && !h->set_aside) {
            frontier_reschedule(f, h);
            st = visit(&l, h);
            frontier_reschedule(f, h);
        }
    }
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* ---- settings of queues ---- */

enum status external_set_queue(struct frontier *f, const struct host_queue *h)
{
    const struct served_queue_row row = {
        .removed_upto = host_orders(h)->removed_upto,
        .delay_ms = host_orders(h)->set_delay >= 0
                        ? host_orders(h)->set_delay / NS_PER_MS
                        : -1,
        .completed_most = host_orders(h)->set_limit,
        .completed = host_orders(h)->done};
    enum status st = external_open(f);

    return st == STATUS_OK
               ? served_log_set_queue(f->external->log, h->queue, &row)
               : st;
}

/* ---- restart and upkeep ---- */

struct restart {
    struct frontier *f;
    struct map *rows; /* id -> struct served_lease_row: the last of each URL */
    int64_t now, wall_ms;
    enum status st;
};

static void find_row(void *ctx, const struct served_lease_row *e)
{
    struct restart *r = ctx;
    struct served_lease_row *found = xcalloc(1, sizeof *found);

    *found = *e;
    free(map_put(r->rows, bytes_of(&e->url, sizeof e->url), found));
}

static enum status external_take(struct frontier *f, uint64_t id,
                                 struct lease_record **out);

static bool take_row(void *ctx, struct bytes key, void *value)
{
    struct restart *r = ctx;
    const struct served_lease_row *e = value;
    struct lease_record *lease = NULL;
    int64_t left =
        schedule_left(e->until_ms, r->wall_ms, EXTERNAL_LEASE_MOST_MS);

    (void)key;
    if (left == 0 || frontier_store_is_done(r->f->store, e->url))
        return true;
    r->st = external_take(r->f, e->url, &lease);
    if (r->st == STATUS_OK)
        begin(r->f, lease, e->at_ms, r->now + left)->seq = e->seq;
    if (r->st == STATUS_NOT_FOUND)
        r->st = db_damaged("item_lease", (int64_t)e->seq, "of no URL");
    return r->st == STATUS_OK;
}

/* If nothing is left in a queue, all its removed URLs are done. */
static void take_queue(void *ctx, uint32_t queue,
                       const struct served_queue_row *row)
{
    struct frontier *f = ctx;

    if (queue > frontier_store_queue_count(f->store))
        return;
    if (row->delay_ms >= 0)
        host_orders_of(frontier_host(f, queue))->set_delay =
            clock_earlier(row->delay_ms, SCHEDULE_PUT_OFF_MOST_MS) * NS_PER_MS;
    if (row->completed_most > 0) {
        struct host_orders *x = host_orders_of(frontier_host(f, queue));

        x->set_limit = row->completed_most;
        x->done = row->completed;
    }
    if (row->removed_upto > 0 && frontier_store_pending(f->store, queue) > 0)
        host_orders_of(frontier_host(f, queue))->removed_upto =
            row->removed_upto;
}

enum status external_restore(struct frontier *f, int64_t now, int64_t wall_ms)
{
    struct restart r = {.f = f, .now = now, .wall_ms = wall_ms};
    int64_t any = 0;
    enum status st;

    st = db_number(f->base->db,
                   "SELECT EXISTS(SELECT 1 FROM item_lease)"
                   " + EXISTS(SELECT 1 FROM item_queue)",
                   &any);
    if (st == STATUS_OK && any > 0)
        st = external_open(f);
    if (st != STATUS_OK || any == 0)
        return st;
    r.rows = map_new();
    st = served_log_each_lease(f->external->log, find_row, &r);
    if (st == STATUS_OK)
        map_each(r.rows, take_row, &r);
    map_free(r.rows, free);
    if (st == STATUS_OK)
        st = r.st;
    return st == STATUS_OK
               ? served_log_each_queue(f->external->log, take_queue, f)
               : st;
}

static bool lease_counts(void *ctx, const struct served_lease_row *e)
{
    const struct frontier *f = ctx;
    const struct lease_record *r = lease_find(f->leases, e->url);

    return r != NULL && r->external != NULL && r->external->seq == e->seq;
}

static void lease_moved(void *ctx, uint64_t url, uint64_t seq)
{
    const struct frontier *f = ctx;

    lease_find(f->leases, url)->external->seq = seq;
}

enum status external_step(struct frontier *f)
{
    const struct served_log_keep keep = {.lease = lease_counts,
                                         .lease_moved = lease_moved,
                                         .ctx = f};
    struct served_log *log = f->external->log;
    struct served_log_counts c = served_log_counts(log);

    if (c.leases <= 2 * external_count(f->external) + SWEEP_FROM)
        return STATUS_OK;
    return served_log_sweep_leases(log, 2 * c.new_leases + SWEEP_STEP, &keep);
}

/*
 * What other programs report and ask about a crawl's URLs.
 *
 * A final report is handled like those of our own fetchers (frontier_ack). If
 * the URL was never leased, it is taken out of its queue as if it had been.
 */
/* ---- reports ---- */

/* Takes a URL out of its queue, as if it had been leased. */
static enum status external_take(struct frontier *f, uint64_t id,
                                 struct lease_record **out)
{
    struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));
    struct url_row row;
    struct bytes crawl, key;
    struct host_queue *h;
    enum status st = frontier_store_get(f->store, id, &row, &f->text);

    if (st != STATUS_OK)
        return st;
    frontier_store_queue_name(f->store, row.queue, &crawl, &key);
    h = frontier_host(f, row.queue);
    *out = lease_add(f->leases, h, &row, key, t != NULL ? t->tries : 0, NULL);
    politeness_group_lease(h);
    return STATUS_OK;
}

static struct outcome outcome_of(uint16_t http)
{
    if (http >= 400)
        return (struct outcome){OUTCOME_FAILED, REASON_HTTP, http};
    if (http >= 300 && http != 304)
        return (struct outcome){OUTCOME_REDIRECT, REASON_EXTERNAL, http};
    return (struct outcome){OUTCOME_FETCHED, REASON_EXTERNAL, http};
}

static enum status finish(struct frontier *f, uint64_t id,
                          const struct external_report *w, int64_t now,
                          int64_t wall_ms)
{
    struct lease_record *r = lease_find(f->leases, id);
    bool asked = r != NULL;
    struct url_done done = {
        .id = id,
        .outcome = outcome_of(w->http_status),
        .row = {.at_ms = wall_ms,
                .http_status = w->http_status,
                .detail = bytes_of_str("fetched by another program")},
        .host = {.ended = asked ? now : 0,
                 .retry_after_ms = -1,
                 .slow_down = asked && outcome_asks_for_pause(w->http_status)},
    };
    enum status st = STATUS_OK;

    if (!asked) {
        st = external_take(f, id, &r);
        if (st == STATUS_OK)
            (void)host_queue_drop_retry(r->host, id);
    }
    return st == STATUS_OK ? frontier_ack(f, &done, 1, now, wall_ms) : st;
}

/* Makes it due at `due`, which is stored for a restart unless it is now. */
static enum status wait_until(struct frontier *f, uint64_t id, int64_t due,
                              int64_t now, int64_t wall_ms)
{
    struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));

    if (t == NULL && due <= now)
        return STATUS_OK;
    if (t == NULL) {
        t = xcalloc(1, sizeof *t);
        (void)map_put(f->tries, bytes_of(&id, sizeof id), t);
    }
    t->due = due;
    return frontier_store_postpone(f->store, id, t->tries,
                                   wall_ms + (due - now) / NS_PER_MS);
}

static enum status postpone(struct frontier *f, uint64_t id, int64_t due_ms,
                            int64_t now, int64_t wall_ms)
{
    struct lease_record *r = lease_find(f->leases, id);
    bool gone = r != NULL && frontier_is_removed(r->host, id);
    int64_t due =
        due_ms > wall_ms && !gone ? now + (due_ms - wall_ms) * NS_PER_MS : now;
    struct url_row row;
    struct host_queue *h;
    uint64_t seq;
    enum status st = wait_until(f, id, due, now, wall_ms);

    if (st == STATUS_OK && r != NULL) {
        st = served_log_lease(f->external->log, id, wall_ms, wall_ms, &seq);
        external_take_back(f, r, due, now);
        return st;
    }
    if (st == STATUS_OK)
        st = frontier_store_get(f->store, id, &row, &f->text);
    if (st != STATUS_OK)
        return st;
    h = frontier_host(f, row.queue);
    if (host_queue_drop_retry(h, id))
        host_queue_retry(h, id, due);
    frontier_reschedule(f, h);
    return STATUS_OK;
}

enum status external_settle(struct frontier *f, uint64_t id,
                            const struct external_report *w, int64_t now,
                            int64_t wall_ms, enum external_result *said)
{
    const struct lease_record *r;
    enum status st = external_open(f);

    if (st == STATUS_OK)
        st = frontier_touch(f, now);
    if (st != STATUS_OK)
        return frontier_broke(f, st);
    external_tick(f, now);
    r = lease_find(f->leases, id);
    *said = EXTERNAL_SETTLED;
    if (frontier_store_is_done(f->store, id))
        *said = EXTERNAL_WAS_DONE;
    else if (r != NULL && r->external == NULL)
        *said = EXTERNAL_OURS;
    if (*said != EXTERNAL_SETTLED)
        return STATUS_OK;
    st = w->final ? finish(f, id, w, now, wall_ms)
                  : postpone(f, id, w->due_ms, now, wall_ms);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

enum status external_discover(struct frontier *f, const struct url_item *items,
                              size_t n, const struct url_drop *drops,
                              size_t drop_count, int64_t now, int64_t wall_ms,
                              uint64_t *ids)
{
    const struct url_done dropped = {.drops = drops, .drop_count = drop_count};
    uint64_t named = 0;
    struct admission *list = xcalloc(n + 1, sizeof *list);
    uint64_t repeats = 0;
    enum status st = frontier_touch(f, now);

    for (size_t i = 0; i < n; i++)
        list[i] = (struct admission){.item = &items[i]};
    if (st == STATUS_OK && n > 0)
        st = frontier_admit(f, list, n, false, wall_ms);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        ids[i] = list[i].fresh ? list[i].id : 0;
        repeats += !list[i].fresh && !list[i].dropped;
    }
    for (size_t i = 0; i < drop_count; i++)
        named += !drops[i].is_guess;
    if (st == STATUS_OK) {
        st = frontier_take_drops(f, &dropped, wall_ms);
        frontier_store_add(f->store, "links", n + named);
        frontier_store_add(f->store, "duplicates", repeats);
    }
    free(list);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* ---- queries ---- */

enum status frontier_identify(struct frontier *f, struct bytes key,
                              struct bytes url, uint64_t *id)
{
    uint32_t queue = frontier_store_find_queue(f->store, f->o.crawl, key);
    struct url_row row;
    struct digest d;
    enum status st = STATUS_OK;

    for (uint8_t salt = 0; st == STATUS_OK && salt <= URL_ROW_SALT_MOST;
         salt++) {
        d = digest_url_salted(&f->base->key, f->o.crawl, key, url, salt);
        st = exact_set_find(f->base->exact, &d, 1, id);
        if (st != STATUS_OK || *id == 0 || !f->o.compare_text)
            return st;
        st = frontier_store_get(f->store, *id, &row, &f->text);
        if (st == STATUS_OK && row.queue == queue && bytes_equal(row.url, url))
            return STATUS_OK;
    }
    *id = 0;
    return st;
}

void external_get_facts(struct frontier *f, uint64_t id, int64_t now,
                        struct external_facts *out)
{
    const struct lease_record *r = lease_find(f->leases, id);
    const struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));

    *out = (struct external_facts){.done = frontier_store_is_done(f->store, id),
                                   .leased = r != NULL};
    if (r != NULL && r->external != NULL && r->external->until.key > now) {
        out->ends_in = r->external->until.key - now;
        out->number = r->external->number;
    }
    if (t != NULL && t->due > now)
        out->due_for = t->due - now;
}

void external_get_queue(struct frontier *f, uint32_t queue, int64_t now,
                        struct external_queue *out)
{
    const struct host_queue *h = host_table_get(&f->hosts, queue);
    struct host_queue none = {.own_delay = -1};
    const struct host_orders *x;

    *out = (struct external_queue){.pending =
                                       frontier_store_pending(f->store, queue)};
    if (h == NULL)
        h = &none;
    x = host_orders(h);
    out->leased = h->leased;
    out->limit = x->set_limit;
    if (host_trouble(h)->blocked_until > now)
        out->blocked_for = host_trouble(h)->blocked_until - now;
    out->delay =
        clock_later(x->set_delay >= 0 ? x->set_delay : f->o.schedule.delay,
                    h->own_delay);
}
