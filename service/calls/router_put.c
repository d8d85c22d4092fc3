/* SPDX-License-Identifier: MIT */
/*
 * router_put.c - splits a batch of puts for several crawls, puts the parts side
 * by side, and acknowledges them together.
 *
 * A part has the items of one crawl in the order of the batch, as copies that
 * share the batch's bytes. Most batches are for one crawl and go there whole.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "service/calls/call_answer.h"
#include "service/calls/router_impl.h"

struct part {
    struct frontier_call call;
    struct bytes crawl; /* empty: served URLs */
    struct frontier_item *items;
    uint32_t *at; /* positions in the batch */
    size_t n, room;
};

struct batch {
    struct frontier_call *call;
    struct part *parts;
    size_t count;
    atomic_size_t pending;
};

/* The place for an item. `last_...`: those of the item before it. */
static struct bytes place_of(const struct router *r,
                             const struct frontier_item *item,
                             struct bytes last_crawl, struct bytes last_place)
{
    if (last_crawl.at != NULL && bytes_equal(item->crawl, last_crawl))
        return last_place;
    return router_place(r, item->crawl);
}

static struct part *part_of(struct batch *b, struct bytes crawl)
{
    struct part *p;

    for (size_t i = 0; i < b->count; i++)
        if (bytes_equal(b->parts[i].crawl, crawl))
            return &b->parts[i];
    b->parts = xrealloc(b->parts, (b->count + 1) * sizeof *b->parts);
    p = &b->parts[b->count++];
    *p = (struct part){.crawl = crawl};
    return p;
}

static void add_item(struct part *p, const struct frontier_item *item,
                     size_t at)
{
    if (p->n == p->room) {
        p->room = p->room > 0 ? 2 * p->room : 64;
        p->items = xrealloc(p->items, p->room * sizeof *p->items);
        p->at = xrealloc(p->at, p->room * sizeof *p->at);
    }
    p->items[p->n] = *item;
    p->at[p->n++] = (uint32_t)at;
}

static void split(const struct router *r, struct batch *b)
{
    const struct frontier_put *in = &b->call->in.put;
    struct bytes last_crawl = {NULL, 0}, place = {NULL, 0};

    for (size_t i = 0; i < in->n; i++) {
        place = place_of(r, &in->items[i], last_crawl, place);
        last_crawl = in->items[i].crawl;
        add_item(part_of(b, place), &in->items[i], i);
    }
}

static void batch_free(struct batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        frontier_call_fini(&b->parts[i].call);
        free(b->parts[i].items);
        free(b->parts[i].at);
    }
    free(b->parts);
    free(b);
}

/* Each item gets the acknowledgement from its part; the call fails only if all
 * parts did. */
static void join(struct batch *b)
{
    struct frontier_call *call = b->call;
    const struct frontier_call *first = &b->parts[0].call;

    answer_begin(call);
    call->status = first->status;
    call->why = first->why;
    for (size_t i = 0; i < b->count; i++) {
        const struct part *p = &b->parts[i];

        if (p->call.status == STATUS_OK)
            call->status = STATUS_OK;
        for (size_t k = 0; k < p->n; k++)
            call->in.put.items[p->at[k]].ack = p->items[k].ack;
    }
    batch_free(b);
    call->done(call); /* no longer ours */
}

static void one_done(struct batch *b)
{
    if (atomic_fetch_sub(&b->pending, 1) == 1)
        join(b);
}

static void part_done(struct frontier_call *call)
{
    one_done(call->ctx);
}

/* Submits served URLs first: only that may fail for lack of room. */
static enum status submit_first(struct router *r, struct batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->parts[i].crawl.len == 0)
            return router_send(r, b->parts[i].crawl, &b->parts[i].call);
    return STATUS_OK;
}

static enum status submit_parts(struct router *r, struct batch *b)
{
    enum status st;

    atomic_init(&b->pending, b->count + 1); /* plus this thread */
    for (size_t i = 0; i < b->count; i++) {
        struct part *p = &b->parts[i];

        frontier_call_init(&p->call, FRONTIER_PUT, part_done, b);
        p->call.via = b->call->via;
        p->call.in.put = (struct frontier_put){p->items, p->n};
    }
    st = submit_first(r, b);
    if (st != STATUS_OK) {
        batch_free(b);
        return st;
    }
    for (size_t i = 0; i < b->count; i++)
        if (b->parts[i].crawl.len > 0)
            router_to_crawl(r, b->parts[i].crawl, &b->parts[i].call);
    one_done(b);
    return STATUS_OK;
}

/* Does the whole batch go to one place? If so, sets *place. */
static bool is_whole(const struct router *r, const struct frontier_put *in,
                     struct bytes *place)
{
    struct bytes last = {NULL, 0};

    for (size_t i = 0; i < in->n; i++) {
        struct bytes one = place_of(r, &in->items[i], last, *place);

        if (i > 0 && !bytes_equal(one, *place))
            return false;
        *place = one;
        last = in->items[i].crawl;
    }
    return true;
}

enum status router_put(struct router *r, struct frontier_call *call)
{
    struct bytes place = {NULL, 0};
    struct batch *b;

    if (call->in.put.n == 0 || call->in.put.n > FRONTIER_PUT_MOST)
        return STATUS_ARG;
    if (is_whole(r, &call->in.put, &place))
        return router_send(r, place, call);
    b = xcalloc(1, sizeof *b);
    b->call = call;
    split(r, b);
    return submit_parts(r, b);
}
