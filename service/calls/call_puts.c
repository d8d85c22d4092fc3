/* SPDX-License-Identifier: MIT */
/* call_puts.c - items of a PUT as the frontiers take them. */
#include "service/calls/call_puts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "frontier/served/served_name.h"
#include "service/calls/call_answer.h"
#include "service/calls/call_ops.h"

size_t call_puts_fill(struct call_puts *p, struct frontier_item *const *items,
                      size_t n, size_t most)
{
    size_t count = 0;

    if (n > p->room) {
        p->room = n + n / 2;
        p->list = xrealloc(p->list, p->room * sizeof *p->list);
    }
    for (size_t i = 0; i < n; i++) {
        struct frontier_item *item = items[i];
        struct bytes key;

        if (!call_item_key(item, &key) ||
            item->url.len + item->metadata.len > most) {
            item->ack = FRONTIER_ACK_SKIPPED;
            continue;
        }
        p->list[count++] = (struct url_put){
            .known = item->kind == FRONTIER_ITEM_KNOWN,
            .crawl = served_crawl_name(item->crawl),
            .key = key,
            .url = item->url,
            .metadata = item->metadata,
            .due_ms = wire_ms(item->refetch_s),
        };
    }
    return count;
}

void call_puts_fini(struct call_puts *p)
{
    free(p->list);
}
