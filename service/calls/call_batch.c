/* SPDX-License-Identifier: MIT */
/* call_batch.c - gathers the items of one or several PUTs, and puts them. */
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/served/served.h"
#include "frontier/served/served_name.h"
#include "service/calls/call_ops.h"

static bool can_be_put(const struct frontier_item *item)
{
    return item->kind != FRONTIER_ITEM_NEITHER &&
           item->crawl.len <= SERVED_CRAWL_MOST &&
           item->url.len <= SERVED_BYTES_MOST &&
           item->metadata.len <= SERVED_BYTES_MOST;
}

void call_batch_add(struct call_batch *b, struct frontier_item *items, size_t n)
{
    if (b->n + n > b->room) {
        b->room = b->n + n + b->room / 2;
        b->items = xrealloc(b->items, b->room * sizeof(struct frontier_item *));
    }
    for (size_t i = 0; i < n; i++) {
        bool fit = can_be_put(&items[i]);

        items[i].ack = fit ? FRONTIER_ACK_FAIL : FRONTIER_ACK_SKIPPED;
        if (fit)
            b->items[b->n++] = &items[i];
    }
}

enum status call_batch_put(struct call_batch *b, const struct call_ops *ops,
                           void *of)
{
    size_t n = b->n;

    b->n = 0;
    return n > 0 ? ops->put(of, b->items, n) : STATUS_OK;
}

void call_batch_fini(struct call_batch *b)
{
    free(b->items);
    *b = (struct call_batch){NULL, 0, 0};
}
