/* SPDX-License-Identifier: MIT */
/*
 * host_queue.c - URLs of one politeness key.
 *
 * A small window is read ahead from the store, so that a lease costs a 16th of
 * a look-up in the queue segments. Retries are few, so they are a sorted
 * array; one that is due goes before the window, since it is older.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "frontier/crawl/host_queue.h"
#include "storage/index/origins.h"

#define WINDOW HOST_QUEUE_WINDOW

const struct host_trouble host_no_trouble = {0};
const struct host_orders host_no_orders = {.set_delay = -1};
const struct host_spent host_no_spent = {0};
const struct host_front host_no_front = {0};

struct host_trouble *host_trouble_of(struct host_queue *h)
{
    if (h->trouble == NULL)
        h->trouble = xcalloc(1, sizeof *h->trouble);
    return h->trouble;
}

/* The link to that of the origin of `url`, or to NULL at the end. */
static struct origin_trouble **find_origin(struct host_trouble *x,
                                           struct bytes url)
{
    const struct bytes origin = bytes_of(url.at, origins_split(url));
    struct origin_trouble **at = &x->origins;

    while (*at != NULL &&
           !bytes_equal(origin, bytes_of((*at)->prefix, (*at)->len)))
        at = &(*at)->next;
    return at;
}

const struct origin_trouble *host_origin_dead(const struct host_queue *h,
                                              struct bytes url)
{
    const struct origin_trouble *o =
        host_trouble(h)->dead > 0 ? *find_origin(h->trouble, url) : NULL;

    return o != NULL && o->why.status != OUTCOME_QUEUED ? o : NULL;
}

bool host_origin_fails(struct host_queue *h, struct bytes url, uint32_t most,
                       struct outcome why, uint8_t flags)
{
    struct host_trouble *x = host_trouble_of(h);
    struct origin_trouble **at = find_origin(x, url);

    if (*at == NULL) {
        const size_t len = origins_split(url);

        *at = xcalloc(1, sizeof **at + len);
        (*at)->len = len;
        memcpy((*at)->prefix, url.at, len);
    }
    if (++(*at)->failures < most || (*at)->why.status != OUTCOME_QUEUED)
        return false;
    (*at)->why = why;
    (*at)->flags = flags;
    x->dead++;
    return true;
}

void host_origin_responds(struct host_queue *h, struct bytes url)
{
    struct origin_trouble **at, *o;

    if (host_trouble(h)->origins == NULL)
        return;
    at = find_origin(h->trouble, url);
    o = *at;
    if (o == NULL)
        return;
    h->trouble->dead -= o->why.status != OUTCOME_QUEUED;
    *at = o->next;
    free(o);
}

void host_origins_revive(struct host_queue *h)
{
    struct host_trouble *x = h->trouble;

    while (x != NULL && x->origins != NULL) {
        struct origin_trouble *o = x->origins;

        x->origins = o->next;
        free(o);
    }
    if (x != NULL) {
        x->dead = 0;
        x->others_live = false;
    }
}

struct host_orders *host_orders_of(struct host_queue *h)
{
    if (h->orders == NULL) {
        h->orders = xmalloc(sizeof *h->orders);
        *h->orders = host_no_orders;
    }
    return h->orders;
}

struct host_spent *host_spent_of(struct host_queue *h)
{
    if (h->spent == NULL)
        h->spent = xcalloc(1, sizeof *h->spent);
    return h->spent;
}

static struct host_front *host_front_of(struct host_queue *h)
{
    if (h->front == NULL)
        h->front = xcalloc(1, sizeof *h->front);
    return h->front;
}

void host_queue_retry(struct host_queue *h, uint64_t id, int64_t due)
{
    uint32_t i = h->retry_count;

    if (h->retry_count == h->retry_room) {
        h->retry_room = h->retry_room > 0 ? 2 * h->retry_room : 1;
        h->retries = xrealloc(h->retries, h->retry_room * sizeof *h->retries);
    }
    /* Equal times are ordered by id, so that released URLs keep their order. */
    while (i > 0 &&
           (h->retries[i - 1].due > due ||
            (h->retries[i - 1].due == due && h->retries[i - 1].id > id))) {
        h->retries[i] = h->retries[i - 1];
        i--;
    }
    h->retries[i] = (struct retry){id, due};
    h->retry_count++;
}

bool host_queue_is_to_come(const struct host_queue *h, uint64_t id)
{
    if (id > h->cursor)
        return true;
    for (uint32_t i = h->window_at; i < h->window_count; i++)
        if (h->window[i] == id)
            return true;
    return false;
}

bool host_queue_drop_retry(struct host_queue *h, uint64_t id)
{
    for (uint32_t i = 0; i < h->retry_count; i++) {
        if (h->retries[i].id != id)
            continue;
        h->retry_count--;
        memmove(h->retries + i, h->retries + i + 1,
                (h->retry_count - i) * sizeof *h->retries);
        return true;
    }
    return false;
}

bool host_queue_has_retry(const struct host_queue *h, uint64_t id)
{
    for (uint32_t i = 0; i < h->retry_count; i++)
        if (h->retries[i].id == id)
            return true;
    return false;
}

void host_queue_early(struct host_queue *h, uint8_t class_)
{
    struct host_front *front = host_front_of(h);

    front->early |= (uint16_t)(1U << class_);
    if (class_ > front->class_)
        front->at = front->count = 0; /* read again, in their order */
}

static void forget_window(struct host_queue *h)
{
    free(h->window);
    h->window = NULL;
    h->window_at = h->window_count = 0;
}

void host_queue_defer(struct host_queue *h, uint64_t id)
{
    struct host_front *front = host_front_of(h);

    if (front->deferred++ == 0)
        front->again_from = id - 1;
    front->out_of_turn = true;
}

void host_queue_once_more(struct host_queue *h)
{
    struct host_front *front = h->front;

    if (front == NULL || !front->again)
        return;
    front->again = false;
    h->cursor = front->again_end;
    front->deferred = 1; /* or more: of those not reached */
    forget_window(h);
}

void host_queue_forget_early(struct host_queue *h)
{
    if (h->front == NULL)
        return;
    h->front->early = 0;
    h->front->at = h->front->count = 0;
    host_queue_once_more(h);
}

static void forget_front_done(struct host_front *front,
                              const struct frontier_store *store)
{
    uint8_t kept = 0;

    for (; front->at < front->count; front->at++)
        if (!frontier_store_is_done(store, front->urls[front->at]))
            front->urls[kept++] = front->urls[front->at];
    front->at = 0;
    front->count = kept;
}

void host_queue_forget_done(struct host_queue *h,
                            const struct frontier_store *store)
{
    const struct host_orders *o = host_orders(h);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < h->retry_count; i++)
        if (!frontier_store_is_done(store, h->retries[i].id) ||
            (o->cross_refresh && h->retries[i].id == o->cross_id))
            h->retries[kept++] = h->retries[i];
    h->retry_count = kept;
    kept = 0;
    for (uint32_t i = h->window_at; i < h->window_count; i++)
        if (!frontier_store_is_done(store, h->window[i]))
            h->window[kept++] = h->window[i];
    h->window_at = 0;
    h->window_count = (uint8_t)kept;
    if (h->front != NULL)
        forget_front_done(h->front, store);
}

static uint64_t take_retry(struct host_queue *h)
{
    uint64_t id = h->retries[0].id;

    h->retry_count--;
    memmove(h->retries, h->retries + 1, h->retry_count * sizeof *h->retries);
    return id;
}

static enum status refill(struct host_queue *h, struct frontier_store *store)
{
    uint64_t ids[WINDOW];
    size_t n = 0;
    enum status st;

    forget_window(h);
    st = frontier_store_refill(store, h->queue, h->cursor, ids, WINDOW, &n);
    if (st != STATUS_OK || n == 0)
        return st;
    h->window = xmalloc(n * sizeof *h->window);
    memcpy(h->window, ids, n * sizeof *h->window);
    h->window_count = (uint8_t)n;
    h->cursor = ids[n - 1];
    return STATUS_OK;
}

/* Of a host that does not respond others than the last one are asked: it may
 * be that URL's own port that is closed. Not without end, since each is then
 * among those to be tried again. */
static bool asks_others(const struct host_queue *h)
{
    uint32_t failures = host_trouble(h)->failures;

    return failures > 0 && failures <= WINDOW;
}

static bool has_due_retry(const struct host_queue *h, int64_t now)
{
    return h->retry_count > 0 && h->retries[0].due <= now;
}

/* At the end of the queue: goes back for those deferred. */
static bool begin_again(struct host_queue *h)
{
    struct host_front *front = h->front;
    bool any = front != NULL && front->deferred > 0;

    if (front == NULL)
        return false;
    front->again = any;
    front->deferred = 0;
    if (any) {
        front->again_end = h->cursor;
        h->cursor = front->again_from;
    }
    return any;
}

static enum status take_fresh(struct host_queue *h,
                              struct frontier_store *store, uint64_t *id)
{
    enum status st = STATUS_OK;

    struct host_front *front = h->front;

    if (front != NULL && front->at < front->count) {
        front->out_of_turn = true;
        *id = front->urls[front->at++];
        return STATUS_OK;
    }
    if (h->window_at == h->window_count) {
        st = refill(h, store);
        if (st == STATUS_OK && h->window_count == 0 && begin_again(h))
            st = refill(h, store);
    }
    if (st == STATUS_OK && h->window_at < h->window_count) {
        *id = h->window[h->window_at++];
        h->in_turn = true;
        if (front != NULL && front->again)
            front->again_from = *id;
    }
    if (h->window_at == h->window_count)
        forget_window(h);
    return st;
}

enum status host_queue_take(struct host_queue *h, struct frontier_store *store,
                            int64_t now, uint64_t *id)
{
    bool retry = has_due_retry(h, now);
    enum status st = STATUS_OK;

    *id = 0;
    h->in_turn = false;
    if (!retry || asks_others(h))
        st = take_fresh(h, store, id);
    if (st == STATUS_OK && *id == 0 && retry)
        *id = take_retry(h);
    return st;
}

int64_t host_queue_polite(const struct host_queue *h)
{
    const struct host_trouble *t = host_trouble(h);
    const struct host_orders *o = host_orders(h);
    int64_t due = clock_later(h->next_due, t->blocked_until);

    due = clock_later(due, clock_later(t->silent_until, o->expects_until));
    return o->cross_to != 0 ? clock_later(due, o->cross_due) : due;
}

int64_t host_queue_due(const struct host_queue *h, uint64_t pending)
{
    int64_t due = host_queue_polite(h);

    if (pending + h->refreshing > (uint64_t)h->leased + h->retry_count)
        return due;
    if (h->retry_count > 0)
        return clock_later(due, h->retries[0].due);
    return INT64_MAX;
}

/* ---- leased URLs ---- */

void lease_free(void *record)
{
    struct lease_record *r = record;

    free(r->parts);
    free(r);
}

static struct bytes key_of(const uint64_t *id)
{
    return bytes_of(id, sizeof *id);
}

/* Copies `s` to *at and moves that on. */
static struct bytes put(char **at, struct bytes s)
{
    char *to = *at;

    if (s.len > 0)
        memcpy(to, s.at, s.len);
    *at = to + s.len;
    return bytes_of(to, s.len);
}

struct lease_record *lease_add(struct map *leases, struct host_queue *h,
                               const struct url_row *row, struct bytes key,
                               uint32_t tries, const struct url_last *last)
{
    static const struct url_last none;
    struct lease_record *r;
    char *at;

    if (last == NULL)
        last = &none;
    r = xmalloc(sizeof *r + row->url.len + key.len + last->etag.len +
                last->last_modified.len + last->record.url.len);
    at = r->text;
    r->host = h;
    r->asked = NULL;
    r->via = row->via;
    r->life = url_life_after(LIFE_QUEUED, LIFE_LEASE);
    r->refresh = (struct refresh_row){.url = 0};
    r->links = 0;
    r->has_same = false;
    r->external = NULL;
    r->lease = (struct url_lease){
        .id = row->id,
        .via = row->via,
        .queue = row->queue,
        .depth = row->depth,
        .hops = row->hops,
        .kind = row->kind,
        .seed = (row->flags & URL_ROW_SEED) != 0,
        .tries = tries,
        .key = put(&at, key),
        .url = put(&at, row->url),
        .last = *last,
    };
    r->lease.last.etag = put(&at, last->etag);
    r->lease.last.last_modified = put(&at, last->last_modified);
    r->lease.last.record.url = put(&at, last->record.url);
    r->parts = NULL;
    r->part_count = 0;
    free(map_put(leases, key_of(&row->id), r));
    return r;
}

struct lease_record *lease_find(const struct map *leases, uint64_t id)
{
    return map_get(leases, key_of(&id));
}

void lease_end(struct map *leases, struct lease_record *r)
{
    uint64_t id = r->lease.id;

    lease_free(map_remove(leases, key_of(&id)));
}
