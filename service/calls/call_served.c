/* SPDX-License-Identifier: MIT */
/*
 * call_served.c - struct call_ops for the URLs that other programs put
 * (frontier/served/served.h).
 */

#include <stdint.h>

#include "base/mem.h"
#include "frontier/served/served_name.h"
#include "service/calls/frontier_service_impl.h"

#define LIST_BUDGET   20000 /* URLs examined before others get a turn */
#define FILTER_BUDGET 1000  /* the same if it must read their rows */

/* ---- put ---- */

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

/* Fills the list, which lives until the next time; items that have no key are
 * skipped, and their ack says so. Returns how many are in it. */
static size_t call_served_fill(struct call_puts *p,
                               struct frontier_item *const *items, size_t n)
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

        if (!item_key(p, item, &room, &key)) {
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

static enum status call_served_put(void *of, struct frontier_item *const *items,
                                   size_t n)
{
    struct frontier_service *s = of;
    size_t count = call_served_fill(&s->puts, items, n), at = 0;
    enum status st = STATUS_OK;

    if (count > 0)
        st = served_put(s->served, s->puts.list, count, s->now);
    for (size_t i = 0; st == STATUS_OK && at < count; i++) {
        if (items[i]->ack == FRONTIER_ACK_SKIPPED)
            continue; /* it has no key */
        items[i]->ack = s->puts.list[at].known || s->puts.list[at].fresh
                            ? FRONTIER_ACK_OK
                            : FRONTIER_ACK_SKIPPED;
        at++;
    }
    return st;
}

/* ---- lease ---- */

static enum status lease(void *of, struct url_ask *a, url_visit visit,
                         void *ctx, bool *more)
{
    struct frontier_service *s = of;

    return served_get(s->served, a, s->now, visit, ctx, more);
}

static enum status call_served_settle(void *of, uint64_t lease_id,
                                      enum url_settle how, int64_t due_ms,
                                      const struct bytes *metadata)
{
    struct frontier_service *s = of;

    return served_settle(s->served, lease_id, how, due_ms, metadata, s->now);
}

/* ---- read ---- */

static enum status call_served_find(void *of, struct bytes crawl,
                                    struct bytes key, struct bytes url,
                                    struct url_facts *facts, url_visit visit,
                                    void *ctx)
{
    struct frontier_service *s = of;
    enum status st = STATUS_ARG;
    struct buf room;

    buf_init(&room, SERVED_BYTES_MOST + 16);
    if (key.len == 0)
        key = served_key_of_url(url, &room);
    if (key.len > 0)
        st = served_find(s->served, crawl, key, url, s->now, facts, visit, ctx);
    buf_fini(&room);
    return st;
}

static enum status list(void *of, struct url_list *l, url_visit visit,
                        void *ctx, bool *more)
{
    struct frontier_service *s = of;

    l->budget = l->filtered ? FILTER_BUDGET : LIST_BUDGET;
    return served_list(s->served, l, s->now, visit, ctx, more);
}

static bool call_served_count(void *of, struct bytes crawl, struct bytes key,
                              uint64_t *n)
{
    struct frontier_service *s = of;
    struct url_counts c;

    served_counts(s->served, crawl, key, s->now, &c);
    *n = c.active + c.completed;
    return true;
}

static enum status call_served_stats(void *of, struct bytes crawl,
                                     struct bytes key, struct url_counts *out,
                                     bool *more)
{
    struct frontier_service *s = of;

    (void)more;
    served_counts(s->served, crawl, key, s->now, out);
    return STATUS_OK;
}

static uint64_t each_queue(void *of, struct bytes crawl, bool inactive,
                           uint64_t skip, uint64_t most,
                           void (*visit)(void *ctx, struct bytes key),
                           void *ctx)
{
    struct frontier_service *s = of;

    return served_each_queue(s->served, crawl, inactive, skip, most, s->now,
                             visit, ctx);
}

static void each_crawl(void *of, void (*visit)(void *ctx, struct bytes crawl),
                       void *ctx)
{
    struct frontier_service *s = of;

    served_each_crawl(s->served, visit, ctx);
}

static struct bytes node(void *of)
{
    const struct frontier_service *s = of;

    return s->o.node;
}

/* ---- control ---- */

static enum status call_served_remove_queue(void *of, struct bytes crawl,
                                            struct bytes key, uint64_t *gone,
                                            bool *more)
{
    struct frontier_service *s = of;

    (void)more;
    return served_remove_queue(s->served, crawl, key, s->now, gone);
}

static enum status remove_crawl(void *of, struct bytes crawl, uint64_t *gone)
{
    struct frontier_service *s = of;

    return served_remove_crawl(s->served, crawl, s->now, gone);
}

static enum status call_served_purge(void *of, struct bytes crawl,
                                     struct bytes key, int64_t before_ms,
                                     uint64_t *gone, bool *more)
{
    struct frontier_service *s = of;

    (void)more;
    return served_purge(s->served, crawl, key, before_ms, s->now, gone);
}

static enum status call_served_block(void *of, struct bytes crawl,
                                     struct bytes key, int64_t until_ms)
{
    struct frontier_service *s = of;

    return served_block(s->served, crawl, key, until_ms, s->now);
}

static enum status call_served_delay(void *of, struct bytes crawl,
                                     struct bytes key, int64_t delay_ms)
{
    struct frontier_service *s = of;

    return served_set_delay(s->served, crawl, key, delay_ms, s->now);
}

static enum status default_delay(void *of, int64_t delay_ms)
{
    struct frontier_service *s = of;

    return served_set_default_delay(s->served, delay_ms, s->now);
}

static enum status limit(void *of, struct bytes crawl, struct bytes key,
                         uint32_t most, bool *more)
{
    struct frontier_service *s = of;

    (void)more;
    return served_set_limit(s->served, crawl, key, most, s->now);
}

static enum status set_active(void *of, bool is_active)
{
    struct frontier_service *s = of;

    return served_set_active(s->served, is_active);
}

static bool active(void *of)
{
    const struct frontier_service *s = of;

    return served_active(s->served);
}

const struct call_ops call_served_ops = {
    .put = call_served_put,
    .lease = lease,
    .settle = call_served_settle,
    .find = call_served_find,
    .list = list,
    .count = call_served_count,
    .stats = call_served_stats,
    .each_queue = each_queue,
    .remove_queue = call_served_remove_queue,
    .purge = call_served_purge,
    .block = call_served_block,
    .delay = call_served_delay,
    .limit = limit,
    .default_delay = default_delay,
    .each_crawl = each_crawl,
    .remove_crawl = remove_crawl,
    .set_active = set_active,
    .active = active,
    .node = node,
};
