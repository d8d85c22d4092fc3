/* SPDX-License-Identifier: MIT */
/* call_puts.c - items of a PUT as the frontiers take them. */
#include "service/calls/call_puts.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/served/served.h"
#include "frontier/served/served_name.h"
#include "service/calls/call_answer.h"
#include "service/calls/call_ops.h"

/* The key of an item, its own or that of its URL. False: it has none, or one
 * that is too long. `room` is for the second. */
static bool item_key(struct call_puts *p, const struct frontier_item *item,
                     struct buf *room, struct bytes *key)
{
    const char *kept;

    *key = item->key.len > 0 ? item->key : served_key_of_url(item->url, room);
    if (key->len == 0 || !served_key_fits(*key))
        return false;
    if (key->at != room->at)
        return true;
    kept = arena_try_copy(p->keys, key->at, key->len);
    *key = bytes_of(kept, key->len);
    return kept != NULL;
}

size_t call_puts_fill(struct call_puts *p, struct frontier_item *const *items,
                      size_t n, size_t most)
{
    size_t count = 0;
    struct buf room;

    buf_init(&room, SERVED_BYTES_MOST + 16);
    if (p->keys == NULL)
        p->keys = arena_new(SIZE_MAX);
    arena_reset(p->keys);
    if (n > p->room) {
        p->room = n + n / 2;
        p->list = xrealloc(p->list, p->room * sizeof *p->list);
    }
    for (size_t i = 0; i < n; i++) {
        struct frontier_item *item = items[i];
        struct bytes key;

        if (!item_key(p, item, &room, &key) ||
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
    buf_fini(&room);
    return count;
}

void call_puts_fini(struct call_puts *p)
{
    arena_free(p->keys);
    free(p->list);
}
