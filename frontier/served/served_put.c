/* SPDX-License-Identifier: MIT */
/*
 * served_put.c - new URLs, and new dates of known ones.
 *
 *   1. digests; t->leases has the ids of leased URLs
 *   2. the seen check says which of the others are new, and the ids of those
 *      that are not; where its hot cache knew one, the exact set says the id
 *   3. rows for the new ones and for those whose URL was removed, in the order
 *      of the list; the exact set's entry goes to the new row
 *   4. the ids of those that repeat a new one of the same list
 *   5. the effect of each, in order
 */
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/served/served_impl.h"
#include "storage/db/schema.h"

enum status served_touch(struct served *t)
{
    t->changed = true;
    return seen_store_touch(t->base);
}

static void make_room(struct served *t, size_t n)
{
    if (n <= t->room)
        return;
    t->room = n + n / 2;
    t->digests = xrealloc(t->digests, t->room * sizeof *t->digests);
    t->fresh = xrealloc(t->fresh, t->room * sizeof *t->fresh);
    t->answers = xrealloc(t->answers, t->room * sizeof *t->answers);
    t->heard = xrealloc(t->heard, t->room * sizeof *t->heard);
    t->ids = xrealloc(t->ids, t->room * sizeof *t->ids);
    t->found = xrealloc(t->found, t->room * sizeof *t->found);
    t->asked = xrealloc(t->asked, t->room * sizeof *t->asked);
    t->open = xrealloc(t->open, t->room * sizeof *t->open);
}

/* ---- rows ---- */

static struct served_url *make_item(struct served *t, struct served_queue *q,
                                    uint32_t id)
{
    struct served_url *i = served_make_room(t, id);

    *i = (struct served_url){.due_ms = t->last_at_ms,
                             .queue = q->number,
                             .life = LIFE_QUEUED,
                             .flags = SERVED_LANE};
    if (!q->there) {
        served_queue_appear(t, q);
        served_queue_to_back(t, q);
        if (q->gone)
            served_queue_dirty(t, q);
        q->gone = false;
    }
    served_append(t, q, id);
    served_count(t, q, 1, 0, 0);
    return i;
}

/* Writes a row for the URL, which follows the removed one `before`, if any. */
static enum status write_row(struct served *t, const struct url_put *p,
                             uint64_t before, bool false_positive, uint64_t *id)
{
    struct url_row row = {.url = p->url,
                          .kind = URL_KIND_SERVED,
                          .flags = false_positive ? URL_ROW_FALSE_POSITIVE : 0,
                          .via = before};
    enum status st;

    if (t->now > t->last_at_ms)
        t->last_at_ms = t->now;
    row.found_at_ms = t->last_at_ms;
    if (frontier_store_last_id(t->base->store) >= SERVED_ID_MOST)
        return STATUS_LIMIT;
    st = frontier_store_queue(t->base->store, p->crawl, p->key, &row.queue);
    if (st == STATUS_OK)
        st = frontier_store_admit(t->base->store, &row, id);
    if (st != STATUS_OK)
        return st;
    make_item(t, served_queue(t, row.queue), (uint32_t)*id);
    return STATUS_OK;
}

/* Admits the new ones since the last call; their rows are written and their
 * digests are in t->fresh. */
static enum status admit_fresh(struct served *t, size_t *n, uint64_t first)
{
    size_t fresh = *n;

    *n = 0;
    return fresh > 0 ? seen_store_admit(t->base, t->fresh, fresh, first)
                     : STATUS_OK;
}

/* Handles a URL that existed once. An earlier put of the list may have put it
 * again. */
static enum status revive(struct served *t, struct url_put *p,
                          struct digest digest, uint64_t *id)
{
    uint64_t before = 0;
    enum status st = exact_set_find(t->base->exact, &digest, 1, &before);

    *id = before;
    if (st != STATUS_OK || served_url_exists(t, before))
        return st;
    st = write_row(t, p, before, false, id);
    if (st == STATUS_OK) {
        seen_store_replace(t->base, digest, *id);
        p->fresh = true;
    }
    return st;
}

/* Does the put have no effect, since the URL exists? If nothing was ever
 * removed, we need not know its id, which spares the exact set most of a
 * crawl's duplicates. */
static bool is_idle(const struct served *t, const struct url_put *p)
{
    return !p->known && !p->fresh && !t->removed;
}

/* Finds the missing ids of the list in one query and stores them in t->ids. */
static enum status find_ids(struct served *t, const struct url_put *list,
                            size_t n)
{
    size_t asked = 0;
    enum status st;

    for (size_t i = 0; i < n; i++) {
        if (list[i].fresh || t->ids[i] != 0 || is_idle(t, &list[i]))
            continue;
        t->open[asked] = (uint32_t)i;
        t->asked[asked++] = t->digests[i];
    }
    if (asked == 0)
        return STATUS_OK;
    st = exact_set_find(t->base->exact, t->asked, asked, t->found);
    for (size_t k = 0; st == STATUS_OK && k < asked; k++)
        t->ids[t->open[k]] = t->found[k];
    return st;
}

/* Writes rows for URLs that do not exist, in the order of the list. */
static enum status write_rows(struct served *t, struct url_put *list, size_t n)
{
    uint64_t first = 0;
    size_t fresh = 0;
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        if (list[i].fresh) {
            st =
                write_row(t, &list[i], 0,
                          t->answers[i] == SEEN_NEW_FALSE_POSITIVE, &t->ids[i]);
            if (fresh == 0)
                first = t->ids[i];
            t->fresh[fresh++] = t->digests[i];
        } else if (t->ids[i] != 0 && !served_url_exists(t, t->ids[i])) {
            st = admit_fresh(t, &fresh, first);
            if (st == STATUS_OK)
                st = revive(t, &list[i], t->digests[i], &t->ids[i]);
        }
    }
    return st == STATUS_OK ? admit_fresh(t, &fresh, first) : st;
}

static enum status check_found(const struct served *t,
                               const struct url_put *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (t->ids[i] != 0 || is_idle(t, &list[i]))
            continue;
        log_error("the exact set has lost a URL", "url=\"%.*s\"",
                  (int)list[i].url.len, list[i].url.at);
        return STATUS_DAMAGED;
    }
    return STATUS_OK;
}

/* Sets t->ids of leased URLs, 0 for the others, whose indices go into t->open,
 * in order. Returns the number of the others. */
static size_t find_leased(struct served *t, struct url_put *list, size_t n)
{
    size_t open = 0;

    for (size_t i = 0; i < n; i++) {
        const struct served_lease *h =
            served_leases_find_digest(t->leases, t->digests[i]);

        t->answers[i] = SEEN_BEFORE;
        list[i].fresh = false;
        t->ids[i] = h != NULL && served_url_exists(t, h->id) ? h->id : 0;
        if (t->ids[i] == 0)
            t->open[open++] = (uint32_t)i;
    }
    return open;
}

/* Sets t->answers, and those t->ids that come with them. */
static enum status find_seen(struct served *t, struct url_put *list, size_t n)
{
    size_t open = find_leased(t, list, n);
    enum status st;

    for (size_t k = 0; k < open; k++)
        t->asked[k] = t->digests[t->open[k]];
    st = seen_find(t->base->seen, t->asked, open, t->heard, t->found);
    for (size_t k = 0; st == STATUS_OK && k < open; k++) {
        size_t i = t->open[k];

        t->answers[i] = t->heard[k];
        t->ids[i] = t->found[k];
        list[i].fresh = t->heard[k] != SEEN_BEFORE;
    }
    return st;
}

/* Sets t->ids to the ids of the list, and writes rows for new URLs. */
static enum status admit(struct served *t, struct url_put *list, size_t n)
{
    enum status st = find_seen(t, list, n);

    if (st == STATUS_OK)
        st = find_ids(t, list, n);
    if (st == STATUS_OK)
        st = write_rows(t, list, n);
    if (st == STATUS_OK) /* URLs made by an earlier put of the list */
        st = find_ids(t, list, n);
    return st == STATUS_OK ? check_found(t, list, n) : st;
}

/* ---- dates ---- */

static enum status log_update(struct served *t, uint32_t id, int64_t due_ms,
                              struct bytes metadata)
{
    struct served_url *i = served_url_at(t, id);
    struct served_queue *q = t->queues[i->queue];
    uint64_t seq;
    enum status st = served_log_update(t->log, id, due_ms, metadata, &seq);

    if (st != STATUS_OK)
        return st;
    if (served_url_seq(i) == 0) {
        q->logged++;
        t->logged++;
    }
    served_url_set_seq(i, seq);
    return STATUS_OK;
}

/* Ends its lease, if there is one, and puts it into its place. */
static void move(struct served *t, struct served_queue *q, uint32_t id,
                 int64_t due_ms)
{
    struct served_url *i = served_url_at(t, id);
    const enum life_event how = due_ms == 0 ? LIFE_END : LIFE_DATE;
    bool stays = i->life == LIFE_DUE && i->due_ms == due_ms;
    bool was_done = i->life == LIFE_DONE, is_done;

    if ((i->flags & SERVED_LEASED) != 0)
        served_lease_end(t, served_lease_of(t, id), how);
    else
        i->life = (uint8_t)url_life_after(i->life, how);
    is_done = i->life == LIFE_DONE;
    served_count(t, q, was_done - is_done, is_done - was_done, 0);
    i->flags = 0;
    i->due_ms = due_ms;
    if (!is_done && !stays)
        served_wait(t, q, id);
}

enum status served_update(struct served *t, uint32_t id, int64_t due_ms,
                          struct bytes metadata)
{
    struct served_url *i = served_url_at(t, id);
    enum status st = STATUS_OK;

    if (due_ms == 0) /* it is not delivered any more */
        metadata = (struct bytes){NULL, 0};
    if (due_ms != 0 || i->life != LIFE_DONE)
        st = log_update(t, id, due_ms, metadata);
    if (st == STATUS_OK)
        move(t, t->queues[i->queue], id, due_ms);
    return st;
}

static enum status apply(struct served *t, const struct url_put *p, uint32_t id)
{
    struct served_queue *q;

    if (!p->known && !p->fresh)
        return STATUS_OK;
    q = t->queues[served_url_at(t, id)->queue];
    if (p->known || q->in_all.item.place == 0)
        q->touched = true; /* it keeps a turn that it has already */
    if (p->known || p->due_ms != 0)
        return served_update(t, id, p->due_ms, p->metadata);
    return p->metadata.len > 0
               ? log_update(t, id, served_url_at(t, id)->due_ms, p->metadata)
               : STATUS_OK;
}

/* Places each queue of the list once: URLs of one queue come together, and
 * placing it takes as long as everything else done for a URL in memory. */
static void place_touched(struct served *t, const struct url_put *list,
                          size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct served_queue *q;

        if (!list[i].known && !list[i].fresh)
            continue;
        q = t->queues[served_url_at(t, (uint32_t)t->ids[i])->queue];
        if (q->touched)
            served_place(t, q);
        q->touched = false;
    }
}

enum status served_put(struct served *t, struct url_put *list, size_t n,
                       int64_t now)
{
    enum status st;

    served_tick(t, now);
    make_room(t, n);
    st = served_touch(t);
    for (size_t i = 0; i < n; i++)
        t->digests[i] =
            digest_url(&t->base->key, list[i].crawl, list[i].key, list[i].url);
    if (st == STATUS_OK)
        st = admit(t, list, n);
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = apply(t, &list[i], (uint32_t)t->ids[i]);
    if (st == STATUS_OK)
        place_touched(t, list, n);
    return st == STATUS_OK ? STATUS_OK : seen_store_broke(t->base, st);
}

/* The id of an existing URL; 0: there is none. */
static enum status served_id_of(struct served *t, struct bytes crawl,
                                struct bytes key, struct bytes url,
                                uint32_t *id)
{
    struct digest d = digest_url(&t->base->key, crawl, key, url);
    uint64_t found = 0;
    enum status st = exact_set_find(t->base->exact, &d, 1, &found);

    *id = st == STATUS_OK && served_url_exists(t, found) ? (uint32_t)found : 0;
    return st;
}

/*
 * Status, lists, counts.
 *
 * Counts are counters. A list follows the chain of each queue, which is in
 * memory; rows are read only for URLs that are shown or compared with a filter.
 * It stops after a budget and later goes on after the last URL it checked, even
 * if that was removed meanwhile, since ids rise along a chain.
 */
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
