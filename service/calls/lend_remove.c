/* SPDX-License-Identifier: MIT */
/*
 * lend_remove.c - queues of a crawl of our own deleted, old URLs purged.
 *
 * A thousand URLs a slice, some 5 ms, each with its last word (removal.h); the
 * answer counts them when the last slice is committed.
 */
#include "service/calls/lend_impl.h"

#define SLICE  1024
#define DAY_MS INT64_C(86400000)

static enum status remove_before(struct lend *l, struct bytes key,
                                 int64_t before_ms)
{
    enum status st = STATUS_OK;
    bool over = false;

    if (!l->removing)
        st = removal_begin(l->engine, key, before_ms, &l->removal);
    l->removing = true;
    if (st == STATUS_OK)
        st = removal_step(l->engine, &l->removal, SLICE, l->now, l->wall_ms,
                          &over);
    l->task.durable = true;
    l->more = !over;
    l->call->number = l->removal.gone;
    return st;
}

/* One without a key is nobody's queue. */
enum status lend_delete_queue(struct lend *l)
{
    struct bytes key = l->call->in.queue.key;

    l->call->number = 0;
    return key.len > 0 ? remove_before(l, key, INT64_MAX) : STATUS_OK;
}

/* As of other programs' URLs: found before this second, less so many days. */
enum status lend_purge(struct lend *l)
{
    const struct frontier_purge *in = &l->call->in.purge;

    return remove_before(l, in->key,
                         l->wall_ms / 1000 * 1000 - (int64_t)in->days * DAY_MS);
}
