/* SPDX-License-Identifier: MIT */
/*
 * removal.c - removes URLs from their queues.
 *
 * Ids are given in order of arrival, so the removed part of a queue, all of it
 * or the older URLs, is always the ids up to some one. That number is written
 * first (item_queue.removed), and checked wherever a URL could be leased or put
 * back. The final outcomes are ordinary rows of table fetch, since done bits,
 * explain and export use those. (The number alone would be enough to prevent
 * fetching, at no cost; but then all of these, and every reader of a store,
 * would have to check it.)
 */
#include "frontier/embedded/removal.h"

#include "frontier/embedded/external_impl.h"
#include "frontier/embedded/frontier_host.h"

#define BATCH 256 /* most ids read at once */

const struct outcome frontier_removed = {OUTCOME_SKIPPED, REASON_REMOVED, 0};

bool frontier_is_removed(const struct host_queue *h, uint64_t id)
{
    return id <= host_orders(h)->removed_upto;
}

enum status removal_begin(struct engine *e, struct bytes key, int64_t before_ms,
                          struct removal *out)
{
    struct frontier *f = (struct frontier *)e;
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

enum status removal_count(struct engine *e, uint32_t queue, uint64_t *n)
{
    struct frontier *f = (struct frontier *)e;
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

enum status removal_step(struct engine *e, struct removal *r, size_t most,
                         int64_t now, int64_t wall_ms, bool *over)
{
    struct frontier *f = (struct frontier *)e;
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
