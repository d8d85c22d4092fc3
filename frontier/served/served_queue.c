/* SPDX-License-Identifier: MIT */
/*
 * served_queue.c - one queue: counters, next URL, next due time.
 *
 * The first due URL is the least of three heads: that of the lane, which is the
 * chain of the queue's URLs from q->lane on, that of the heap of those that were
 * given back to it, and that of the due heap. All have entries that are no
 * longer valid (served, put again, removed), which are dropped when they come to
 * the front. Those of the lane and those given back were put in the past,
 * whatever the clock says; only the due heap goes by it.
 */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/served/served_impl.h"

struct served_url *served_make_room(struct served *t, uint32_t id)
{
    uint32_t chunk = id / SERVED_CHUNK;

    if (chunk >= t->chunk_cap) {
        t->chunk_cap = chunk + chunk / 2 + 16;
        t->chunks =
            xrealloc(t->chunks, t->chunk_cap * sizeof(struct served_chunk *));
    }
    while (t->chunk_count <= chunk)
        t->chunks[t->chunk_count++] = xcalloc(1, sizeof **t->chunks);
    return served_url_at(t, id);
}

/* ---- finding ---- */

static uint32_t crawl_number(struct served *t, struct bytes name)
{
    struct served_crawl *c = map_get(t->crawl_of, name);

    if (c == NULL) {
        c = xcalloc(1, sizeof *c);
        c->name = name; /* the store owns the bytes */
        t->crawls = xrealloc(t->crawls, (t->crawl_count + 1) *
                                            sizeof(struct served_crawl *));
        t->crawls[t->crawl_count++] = c;
        c->number = t->crawl_count - 1;
        map_put(t->crawl_of, name, c);
    }
    return c->number;
}

struct served_queue *served_queue(struct served *t, uint32_t number)
{
    struct bytes crawl, key;
    struct served_queue *q;

    if (number >= t->queue_room) {
        uint32_t room = t->queue_room + t->queue_room / 2;

        if (room <= number)
            room = number + 64;
        t->queues = xrealloc(t->queues, room * sizeof(struct served_queue *));
        memset(t->queues + t->queue_room, 0,
               (room - t->queue_room) * sizeof(struct served_queue *));
        t->queue_room = room;
    }
    if (t->queues[number] != NULL)
        return t->queues[number];
    q = t->queues[number] = xcalloc(1, sizeof *q);
    q->number = number;
    q->delay_ms = -1;
    frontier_store_queue_name(t->base->store, number, &crawl, &key);
    q->crawl = crawl_number(t, crawl);
    return q;
}

struct served_queue *served_find_queue(const struct served *t,
                                       struct bytes crawl, struct bytes key)
{
    uint32_t n = frontier_store_find_queue(t->base->store, crawl, key);
    struct served_queue *q = n < t->queue_room ? t->queues[n] : NULL;

    return q != NULL && q->there ? q : NULL;
}

struct served_crawl *served_find_crawl(const struct served *t,
                                       struct bytes crawl)
{
    return map_get(t->crawl_of, crawl);
}

struct served_crawl *served_crawl_of(const struct served *t,
                                     const struct served_queue *q)
{
    return t->crawls[q->crawl];
}

/* ---- creation and removal ---- */

/* The index of `number` in the crawl's list, or where it belongs. */
static uint32_t place_in(const struct served_crawl *c, uint32_t number)
{
    uint32_t low = 0, high = c->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (c->queues[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void served_queue_appear(struct served *t, struct served_queue *q)
{
    struct served_crawl *c = served_crawl_of(t, q);
    uint32_t at = place_in(c, q->number);

    if (c->count == c->cap) {
        c->cap = c->cap + c->cap / 2 + 8;
        c->queues = xrealloc(c->queues, c->cap * sizeof *c->queues);
    }
    memmove(c->queues + at + 1, c->queues + at,
            (c->count - at) * sizeof *c->queues);
    c->queues[at] = q->number;
    c->count++;
    c->counts.queues++;
    t->counts.queues++;
    q->there = true;
}

void served_queue_vanish(struct served *t, struct served_queue *q)
{
    struct served_crawl *c = served_crawl_of(t, q);
    uint32_t at = place_in(c, q->number);

    assert(at < c->count && c->queues[at] == q->number);
    c->count--;
    memmove(c->queues + at, c->queues + at + 1,
            (c->count - at) * sizeof *c->queues);
    c->counts.queues--;
    t->counts.queues--;
    q->there = false;
}

void served_queue_dirty(struct served *t, struct served_queue *q)
{
    if (q->dirty)
        return;
    if (t->dirty_count == t->dirty_cap) {
        t->dirty_cap = t->dirty_cap + t->dirty_cap / 2 + 16;
        t->dirty = xrealloc(t->dirty, t->dirty_cap * sizeof *t->dirty);
    }
    t->dirty[t->dirty_count++] = q->number;
    q->dirty = true;
}

static void add(uint64_t *count, int32_t by)
{
    *count += (uint64_t)(int64_t)by;
}

static void count_in(struct url_counts *c, int32_t active, int32_t completed,
                     int32_t leased, int32_t queues)
{
    add(&c->active, active);
    add(&c->completed, completed);
    add(&c->leased, leased);
    add(&c->active_queues, queues);
}

void served_count(struct served *t, struct served_queue *q, int32_t active,
                  int32_t completed, int32_t leased)
{
    int32_t queues = -(q->active > 0);

    q->active += (uint32_t)active;
    q->completed += (uint32_t)completed;
    q->leased += (uint32_t)leased;
    queues += q->active > 0;
    count_in(&served_crawl_of(t, q)->counts, active, completed, leased, queues);
    count_in(&t->counts, active, completed, leased, queues);
}

void served_append(struct served *t, struct served_queue *q, uint32_t id)
{
    if (q->tail != 0)
        served_url_at(t, q->tail)->next = id;
    else
        q->head = id;
    q->tail = id;
    if (q->lane == 0)
        q->lane = id;
}

/* ---- the next URL ---- */

/* `life`: of the URLs in its heap. */
static bool entry_counts(const struct served *t, struct due_entry e,
                         enum url_life life)
{
    const struct served_url *i = served_url_at(t, e.id);

    return served_url_exists(t, e.id) && i->due_ms == e.due_ms &&
           (i->flags & SERVED_LANE) == 0 && i->life == life;
}

/* Keeps each URL once, even if it is there twice. */
static bool keep_once(void *ctx, struct due_entry e)
{
    struct served *t = ctx;
    struct served_url *i = served_url_at(t, e.id);

    if (!entry_counts(t, e, i->life) || (i->flags & SERVED_MARK) != 0)
        return false;
    i->flags |= SERVED_MARK;
    return true;
}

void served_wait(struct served *t, struct served_queue *q, uint32_t id)
{
    const struct served_url *i = served_url_at(t, id);
    struct due_heap *h = i->life == LIFE_QUEUED ? &q->back : &q->due;

    due_heap_push(h, (struct due_entry){i->due_ms, id});
    if (h->count <= 2 * q->active + 64)
        return;
    due_heap_sweep(h, keep_once, t);
    for (uint32_t n = 0; n < h->count; n++)
        served_url_at(t, h->entries[n].id)->flags &= (uint8_t)~SERVED_MARK;
}

/* The head of the lane; 0: it is at its end. */
static uint32_t lane_head(struct served *t, struct served_queue *q)
{
    while (q->lane != 0 &&
           (served_url_at(t, q->lane)->flags & SERVED_LANE) == 0)
        q->lane = served_url_at(t, q->lane)->next;
    return q->lane;
}

/* The head of a heap; NULL: it is empty. */
static const struct due_entry *heap_head(struct served *t, struct due_heap *h,
                                         enum url_life life)
{
    const struct due_entry *e;

    while ((e = due_heap_top(h)) != NULL && !entry_counts(t, *e, life))
        due_heap_pop(h);
    return e;
}

/* The entry due first, and the heap that has it, NULL: the lane; id 0: nothing
 * waits. */
static struct due_entry first_due(struct served *t, struct served_queue *q,
                                  struct due_heap **of)
{
    struct due_entry first = {INT64_MAX, lane_head(t, q)};
    const struct due_entry *back = heap_head(t, &q->back, LIFE_QUEUED);
    const struct due_entry *due = heap_head(t, &q->due, LIFE_DUE);

    *of = NULL;
    if (first.id != 0)
        first.due_ms = served_url_at(t, first.id)->due_ms;
    if (back != NULL && (first.id == 0 || back->id < first.id)) {
        first = *back;
        *of = &q->back;
    }
    if (first.id != 0)
        first.due_ms = clock_earlier(first.due_ms, t->now);
    if (due != NULL && (first.id == 0 || due_before(*due, first))) {
        first = *due;
        *of = &q->due;
    }
    return first;
}

uint32_t served_queue_take(struct served *t, struct served_queue *q)
{
    struct due_heap *of;
    struct due_entry e;

    assert(q != NULL);
    e = first_due(t, q, &of);
    if (e.id == 0 || e.due_ms > t->now)
        return 0;
    if (of == NULL) {
        served_url_at(t, e.id)->flags &= (uint8_t)~SERVED_LANE;
        q->lane = served_url_at(t, e.id)->next;
        if (q->lane != 0) /* needed soon, when this one has been shown */
            __builtin_prefetch(served_url_at(t, q->lane));
    } else {
        due_heap_pop(of);
    }
    return e.id;
}

/* ---- the next due time ---- */

int64_t served_delay_of(const struct served *t, const struct served_queue *q)
{
    return q->delay_ms >= 0 ? q->delay_ms : t->default_delay_ms;
}

int64_t served_queue_wake(struct served *t, struct served_queue *q)
{
    struct due_heap *of;
    struct due_entry first;
    int64_t wake;

    if (!q->there || q->active == q->leased ||
        (q->limit > 0 && q->completed >= q->limit))
        return INT64_MAX;
    first = first_due(t, q, &of);
    if (first.id == 0) /* it was taken, and then the store could not be read */
        return INT64_MAX;
    wake = clock_later(first.due_ms, q->blocked_until_ms);
    return q->served_ms > 0
               ? clock_later(wake, q->served_ms + served_delay_of(t, q))
               : wake;
}

void served_place(struct served *t, struct served_queue *q)
{
    int64_t wake = served_queue_wake(t, q);

    if (wake <= t->now) {
        heap_remove(&t->waiting, &q->waiting);
        round_robin_set(&t->robin, &q->in_all, q->turn, q->leased);
        round_robin_set(&served_crawl_of(t, q)->robin, &q->in_crawl, q->turn,
                        q->leased);
        return;
    }
    round_robin_remove(&t->robin, &q->in_all);
    round_robin_remove(&served_crawl_of(t, q)->robin, &q->in_crawl);
    if (wake == INT64_MAX)
        heap_remove(&t->waiting, &q->waiting);
    else if (q->waiting.place == 0)
        heap_push(&t->waiting, &q->waiting, wake);
    else if (q->waiting.key != wake)
        heap_move(&t->waiting, &q->waiting, wake);
}

void served_place_all(struct served *t)
{
    for (uint32_t i = 0; i < t->queue_room; i++) {
        struct served_queue *q = t->queues[i];

        if (q == NULL)
            continue;
        if (q->served_ms > t->now) { /* the clock was set back: no reason to */
            q->served_ms = t->now;   /* wait longer than the delay */
            served_queue_dirty(t, q);
        }
        served_place(t, q);
    }
}

void served_queue_to_back(struct served *t, struct served_queue *q)
{
    int64_t number = t->now < INT64_MAX >> 20 ? t->now << 20 : t->turn;

    t->turn = number > t->turn ? number : t->turn + 1;
    q->turn = t->turn;
}
