/* SPDX-License-Identifier: MIT */
/*
 * served_read.c - status, lists, counts.
 *
 * Counts are counters. A list follows the chain of each queue, which is in
 * memory; rows are read only for URLs that are shown or compared with a filter.
 * It stops after a budget and later goes on after the last URL it checked, even
 * if that was removed meanwhile, since ids rise along a chain.
 */
#include "frontier/served/served_impl.h"

static const enum url_state state_of[LIFE_STATES_] = {
    [LIFE_QUEUED] = URL_STATE_QUEUED,  [LIFE_DUE] = URL_STATE_QUEUED,
    [LIFE_LEASED] = URL_STATE_LEASED,  [LIFE_AGAIN] = URL_STATE_LEASED,
    [LIFE_DONE] = URL_STATE_COMPLETED,
};

enum status served_find(struct served *t, struct bytes crawl, struct bytes key,
                        struct bytes url, int64_t now, struct url_facts *facts,
                        url_visit visit, void *ctx)
{
    const struct served_queue *q = served_find_queue(t, crawl, key);
    const struct served_lease *h;
    uint32_t id = 0;
    bool go_on;
    enum status st = STATUS_OK;

    served_tick(t, now);
    if (q != NULL)
        st = served_id_of(t, crawl, key, url, &id);
    if (st == STATUS_OK && id == 0)
        return STATUS_NOT_FOUND;
    if (st != STATUS_OK)
        return seen_store_broke(t->base, st);
    h = served_lease_of(t, id);
    *facts = (struct url_facts){
        .state = state_of[served_url_at(t, id)->life],
        .leased_until_ms = h != NULL ? h->until.key : 0,
        .blocked_until_ms = q->blocked_until_ms,
        .served_ms = q->served_ms,
        .delay_ms = served_delay_of(t, q),
        .limit = q->limit,
    };
    st = served_show(t, id, h != NULL ? served_lease_id(t, h) : 0, visit, ctx,
                     &go_on);
    facts->due_ms = served_url_at(t, id)->due_ms;
    facts->created_ms = t->shown_created_ms;
    return st;
}

/* ---- lists ---- */

/* The first URL of the queue past `after`; 0: there is none. */
static uint32_t next_in(const struct served *t, const struct served_queue *q,
                        uint64_t after)
{
    if (after < q->head || after == 0 || !served_url_exists(t, after))
        return q->head;
    return served_url_at(t, (uint32_t)after)->next;
}

/* The current queue of the list, or the next one; NULL: that was the last. */
static struct served_queue *list_queue(const struct served *t,
                                       struct url_list *l)
{
    const struct served_crawl *c;
    struct served_queue *q;
    uint32_t i = 0, high;

    if (l->key.len > 0) {
        q = served_find_queue(t, l->crawl, l->key);
        return q != NULL && (l->queue == 0 || l->queue == q->number) ? q : NULL;
    }
    c = served_find_crawl(t, l->crawl);
    if (c == NULL)
        return NULL;
    for (high = c->count; i < high;) {
        uint32_t middle = i + (high - i) / 2;

        if (c->queues[middle] < l->queue)
            i = middle + 1;
        else
            high = middle;
    }
    return i < c->count ? t->queues[c->queues[i]] : NULL;
}

static enum status list_one(struct served *t, struct url_list *l, uint32_t id,
                            url_visit visit, void *ctx, bool *go_on)
{
    struct url_row row;

    if (l->filtered) {
        enum status st = frontier_store_get(t->base->store, id, &row, &t->text);

        if (st != STATUS_OK)
            return st;
        if (!url_list_matches(l, row.url))
            return STATUS_OK;
    }
    if (l->passed++ < l->skip || visit == NULL)
        return STATUS_OK;
    return served_show(t, id, 0, visit, ctx, go_on);
}

enum status served_list(struct served *t, struct url_list *l, int64_t now,
                        url_visit visit, void *ctx, bool *more)
{
    uint64_t looked = 0;
    bool go_on = true;
    struct served_queue *q;
    enum status st = STATUS_OK;

    *more = false;
    served_tick(t, now);
    while (st == STATUS_OK && (q = list_queue(t, l)) != NULL) {
        uint32_t id;

        if (q->number != l->queue)
            l->id = 0;
        l->queue = q->number;
        id = next_in(t, q, l->id);
        for (; st == STATUS_OK && id != 0; id = served_url_at(t, id)->next) {
            if (!go_on || looked++ == l->budget) {
                *more = !url_list_is_full(l);
                return STATUS_OK;
            }
            if (url_list_is_full(l))
                return STATUS_OK;
            st = list_one(t, l, id, visit, ctx, &go_on);
            l->id = id;
        }
        l->queue++;
        l->id = 0;
    }
    return st == STATUS_OK ? STATUS_OK : seen_store_broke(t->base, st);
}

/* ---- counts ---- */

void served_counts(struct served *t, struct bytes crawl, struct bytes key,
                   int64_t now, struct url_counts *out)
{
    const struct served_queue *q = served_find_queue(t, crawl, key);
    const struct served_crawl *c = served_find_crawl(t, crawl);

    served_tick(t, now);
    *out = (struct url_counts){0};
    if (key.len > 0 && q != NULL)
        *out = (struct url_counts){q->active, q->leased, q->completed, 1,
                                   q->active > 0};
    else if (key.len == 0 && crawl.len == 0)
        *out = t->counts;
    else if (key.len == 0 && c != NULL)
        *out = c->counts;
}

uint64_t served_each_queue(struct served *t, struct bytes crawl, bool inactive,
                           uint64_t skip, uint64_t most, int64_t now,
                           void (*visit)(void *ctx, struct bytes key),
                           void *ctx)
{
    const struct served_crawl *c = served_find_crawl(t, crawl);
    uint64_t passed = 0;

    served_tick(t, now);
    for (uint32_t i = 0; c != NULL && i < c->count && passed < skip + most;
         i++) {
        const struct served_queue *q = t->queues[c->queues[i]];
        struct bytes name, key;

        if (!inactive && (q->active == 0 || q->blocked_until_ms > now))
            continue;
        if (passed++ < skip)
            continue;
        frontier_store_queue_name(t->base->store, q->number, &name, &key);
        visit(ctx, key);
    }
    return passed;
}

void served_each_crawl(struct served *t,
                       void (*visit)(void *ctx, struct bytes crawl), void *ctx)
{
    for (uint32_t i = 0; i < t->crawl_count; i++) {
        if (t->crawls[i]->count > 0)
            visit(ctx, t->crawls[i]->name);
    }
}
