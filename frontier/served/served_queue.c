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
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/mem.h"
#include "frontier/served/served.h"
#include "frontier/served/served_impl.h"
#include "frontier/url/url.h"

/*
 * Queues that may be served now, in turn.
 *
 * There is a heap for each number of leased URLs, up to a few hundred. Queues
 * with more, which takes a client that leases hundreds of URLs of one host, are
 * in the last heap, which is searched linearly.
 */
#define MOST_HEAPS 512

static uint32_t heap_of(uint32_t leased)
{
    return leased < MOST_HEAPS ? leased : MOST_HEAPS - 1;
}

void round_robin_fini(struct round_robin *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        heap_fini(&t->by_leased[i]);
    free(t->by_leased);
    *t = (struct round_robin){0};
}

static void make_room(struct round_robin *t, uint32_t heap)
{
    if (heap < t->count)
        return;
    t->by_leased = xrealloc(t->by_leased, (heap + 1) * sizeof *t->by_leased);
    while (t->count <= heap)
        heap_init(&t->by_leased[t->count++]);
}

/* if it is there */
static void round_robin_remove(struct round_robin *t, struct turn *turn)
{
    if (turn->item.place == 0)
        return;
    heap_remove(&t->by_leased[heap_of(turn->leased)], &turn->item);
    t->entries--;
}

/* Puts it in its place by number and leased count, wherever it was before. */
static void round_robin_set(struct round_robin *t, struct turn *turn,
                            int64_t number, uint32_t leased)
{
    if (turn->item.place != 0 && turn->item.key == number &&
        turn->leased == leased)
        return;
    round_robin_remove(t, turn);
    turn->leased = leased;
    make_room(t, heap_of(leased));
    heap_push(&t->by_leased[heap_of(leased)], &turn->item, number);
    t->entries++;
}

static bool is_better(const struct turn *a, const struct turn *best,
                      uint32_t cap, int64_t before)
{
    return (cap == 0 || a->leased < cap) && a->item.key < before &&
           (best == NULL || a->item.key < best->item.key);
}

static struct turn *turn_of(struct heap_item *item)
{
    return (struct turn *)(void *)item;
}

struct turn *round_robin_first(const struct round_robin *t, uint32_t cap,
                               int64_t before)
{
    struct turn *best = NULL;

    for (uint32_t i = 0; i < t->count && (cap == 0 || i < cap); i++) {
        const struct heap *h = &t->by_leased[i];
        /* In the last heap the top may have too many leases, and others not. */
        size_t look = h->count > 1 && i == MOST_HEAPS - 1 ? h->count : 1;

        for (size_t k = 0; k < look && k < h->count; k++) {
            if (is_better(turn_of(h->items[k]), best, cap, before))
                best = turn_of(h->items[k]);
        }
    }
    return best;
}

/*
 * The waiting URLs of one queue, by due time.
 *
 * base/heap.h stores its items' places, which costs 40 octets a URL; here an
 * entry that is no longer valid is simply skipped.
 */
void due_heap_fini(struct due_heap *h)
{
    free(h->entries);
    *h = (struct due_heap){0};
}

static void sift_up(struct due_heap *h, uint32_t i)
{
    struct due_entry e = h->entries[i];

    for (; i > 0 && due_before(e, h->entries[(i - 1) / 2]); i = (i - 1) / 2)
        h->entries[i] = h->entries[(i - 1) / 2];
    h->entries[i] = e;
}

static void sift_down(struct due_heap *h, uint32_t i)
{
    struct due_entry e = h->entries[i];

    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child >= h->count)
            break;
        if (child + 1 < h->count &&
            due_before(h->entries[child + 1], h->entries[child]))
            child++;
        if (!due_before(h->entries[child], e))
            break;
        h->entries[i] = h->entries[child];
        i = child;
    }
    h->entries[i] = e;
}

static void due_heap_push(struct due_heap *h, struct due_entry e)
{
    if (h->count == h->cap) {
        h->cap = h->cap > 0 ? h->cap + h->cap / 2 + 1 : 4;
        h->entries = xrealloc(h->entries, h->cap * sizeof *h->entries);
    }
    h->entries[h->count++] = e;
    sift_up(h, h->count - 1);
}

/* NULL: it is empty. */
static const struct due_entry *due_heap_top(const struct due_heap *h)
{
    return h->count > 0 ? h->entries : NULL;
}

/* NULL: it is empty. */
static void due_heap_pop(struct due_heap *h)
{
    h->entries[0] = h->entries[--h->count];
    if (h->count > 0)
        sift_down(h, 0);
    else
        due_heap_fini(h);
}

/* Keeps the entries for which `counts` returns true. */
static void due_heap_sweep(struct due_heap *h,
                           bool (*counts)(void *ctx, struct due_entry e),
                           void *ctx)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < h->count; i++) {
        if (counts(ctx, h->entries[i]))
            h->entries[kept++] = h->entries[i];
    }
    h->count = kept;
    for (uint32_t i = kept / 2; i-- > 0;)
        sift_down(h, i);
    if (kept == 0)
        due_heap_fini(h);
}

/*
 * Names in the URLFrontier API: crawl IDs and queue keys.
 *
 * Where a key is in a URL is found without frontier/url/url.h's parser: it must
 * be where clients of the reference service expect it, even in text that is not
 * a URL. That parser only says how a host is spelt.
 */
struct bytes served_crawl_name(struct bytes crawl)
{
    for (size_t i = 0; i < crawl.len; i++) {
        if ((unsigned char)crawl.at[i] > ' ')
            return crawl;
    }
    return bytes_of_str("DEFAULT");
}

static size_t length_until(struct bytes s, const char *stops)
{
    size_t n = 0;

    while (n < s.len && (s.at[n] == '\0' || strchr(stops, s.at[n]) == NULL))
        n++;
    return n;
}

static struct bytes without_userinfo(struct bytes authority)
{
    const char *at =
        authority.len > 0 ? memrchr(authority.at, '@', authority.len) : NULL;

    return at == NULL ? authority
                      : bytes_of(at + 1, authority.len -
                                             (size_t)(at + 1 - authority.at));
}

/* The key as it is spelt. */
static struct bytes spelt_key(struct bytes url)
{
    const char *at = url.len > 0 ? memmem(url.at, url.len, "://", 3) : NULL;
    struct bytes rest = url;
    const char *end;

    if (at == NULL) { /* no authority: no userinfo, no brackets */
        rest.len = length_until(rest, ":/?&");
        return rest;
    }
    rest = bytes_of(at + 3, url.len - (size_t)(at + 3 - url.at));
    rest.len = length_until(rest, "/?&");
    rest = without_userinfo(rest);
    end = rest.len > 0 && rest.at[0] == '[' ? memchr(rest.at, ']', rest.len)
                                            : NULL;
    rest.len =
        end != NULL ? (size_t)(end + 1 - rest.at) : length_until(rest, ":");
    return rest;
}

static bool begins_with(struct bytes s, const char *prefix)
{
    size_t n = strlen(prefix);

    return s.len >= n &&
           bytes_equal_nocase(bytes_of(s.at, n), bytes_of(prefix, n));
}

/* Most keys: a name of lower-case letters, digits, hyphens and dots whose last
 * label is no number, and no dot at its end. */
static bool is_canonical_name(struct bytes key)
{
    bool label_begins = true, number = true;

    for (size_t i = 0; i < key.len; i++) {
        char c = key.at[i];

        if (c != '.' && c != '-' && !ascii_is_digit(c) && (c < 'a' || c > 'z'))
            return false;
        if (label_begins)
            number = ascii_is_digit(c);
        label_begins = c == '.';
    }
    return key.len > 0 && !label_begins && !number;
}

struct bytes served_key_of_url(struct bytes url, struct buf *room)
{
    struct bytes key = spelt_key(url), host;
    struct url u;

    if ((!begins_with(url, "http://") && !begins_with(url, "https://")) ||
        is_canonical_name(key))
        return key;
    buf_clear(room);
    buf_add_str(room, "http://");
    buf_add_bytes(room, key);
    url_init(&u);
    if (url_canonical(&u, buf_bytes(room), NULL, NULL) == URL_OK) {
        host = url_host(&u);
        buf_clear(room);
        buf_add_bytes(room, host);
        if (!bytes_equal(host, key))
            key = buf_bytes(room);
    }
    url_fini(&u);
    return key;
}

bool served_key_fits(struct bytes key)
{
    size_t units = 0;

    for (size_t i = 0; i < key.len && units <= SERVED_KEY_MOST; i++) {
        unsigned char c = (unsigned char)key.at[i];

        if (c < 0x80 || c >= 0xc0) /* not a continuation */
            units += c >= 0xf0 ? 2 : 1;
    }
    return units <= SERVED_KEY_MOST && key.len <= 4 * SERVED_KEY_MOST;
}

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

static void served_queue_vanish(struct served *t, struct served_queue *q)
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

/*
 * What a caller changes: removal, delays, blocks, limits.
 *
 * Ids are given in order of arrival, so the removed URLs of a queue, all of
 * them or the older ones, are always those up to some id, which is one number
 * for each queue. Their rows, leases and heap entries stay and are skipped;
 * only the queue's row is written, and removing a queue takes as long with a
 * million URLs as with one.
 */
/* Subtracts what the queue has lost from the counts of crawl and total. */
static void uncount(struct served *t, struct served_queue *q, uint32_t active,
                    uint32_t completed, uint32_t leased, uint32_t logged)
{
    served_count(t, q, -(int32_t)active, -(int32_t)completed, -(int32_t)leased);
    q->logged -= logged;
    t->removed = true;
    t->logged -= logged;
}

static uint64_t remove_queue(struct served *t, struct served_queue *q)
{
    uint64_t gone = (uint64_t)q->active + q->completed;

    uncount(t, q, q->active, q->completed, q->leased, q->logged);
    if (q->tail != 0)
        q->removed_upto = q->tail;
    q->head = q->tail = q->lane = 0;
    due_heap_fini(&q->back);
    due_heap_fini(&q->due);
    q->gone = true;
    q->delay_ms = -1;
    q->blocked_until_ms = q->served_ms = 0;
    q->limit = 0;
    served_queue_vanish(t, q);
    served_queue_dirty(t, q);
    served_place(t, q);
    return gone;
}

enum status served_remove_queue(struct served *t, struct bytes crawl,
                                struct bytes key, int64_t now, uint64_t *gone)
{
    struct served_queue *q = served_find_queue(t, crawl, key);
    enum status st;

    *gone = 0;
    served_tick(t, now);
    if (q == NULL)
        return STATUS_OK;
    st = served_touch(t);
    if (st == STATUS_OK)
        *gone = remove_queue(t, q);
    return st;
}

enum status served_remove_crawl(struct served *t, struct bytes crawl,
                                int64_t now, uint64_t *gone)
{
    struct served_crawl *c = served_find_crawl(t, crawl);
    enum status st;

    *gone = 0;
    served_tick(t, now);
    if (c == NULL || c->count == 0)
        return STATUS_OK;
    st = served_touch(t);
    while (st == STATUS_OK && c->count > 0) /* backwards: nothing moves */
        *gone += remove_queue(t, t->queues[c->queues[c->count - 1]]);
    return st;
}

/* ---- purge ---- */

static uint64_t purge_queue(struct served *t, struct served_queue *q,
                            uint64_t last)
{
    uint32_t active = 0, completed = 0, leased = 0, logged = 0, id = q->head;
    bool lane_goes = q->lane != 0 && q->lane <= last;

    for (; id != 0 && id <= last; id = served_url_at(t, id)->next) {
        const struct served_url *i = served_url_at(t, id);

        active += i->life != LIFE_DONE;
        completed += i->life == LIFE_DONE;
        leased += (i->flags & SERVED_LEASED) != 0;
        logged += served_url_seq(i) != 0;
        q->removed_upto = id;
    }
    if (active + completed == 0)
        return 0;
    q->head = id;
    if (id == 0)
        q->tail = 0;
    if (lane_goes)
        q->lane = id;
    uncount(t, q, active, completed, leased, logged);
    served_queue_dirty(t, q);
    served_place(t, q);
    return (uint64_t)active + completed;
}

enum status served_purge(struct served *t, struct bytes crawl, struct bytes key,
                         int64_t before_ms, int64_t now, uint64_t *gone)
{
    struct served_crawl *c = served_find_crawl(t, crawl);
    struct served_queue *q =
        key.len > 0 ? served_find_queue(t, crawl, key) : NULL;
    uint64_t last = 0;
    enum status st;

    *gone = 0;
    served_tick(t, now);
    if (c == NULL || (key.len > 0 && q == NULL))
        return STATUS_OK;
    st = served_touch(t);
    if (st == STATUS_OK)
        st = frontier_store_last_before(t->base->store, before_ms, &last);
    if (st != STATUS_OK)
        return seen_store_broke(t->base, st);
    if (q != NULL)
        *gone = purge_queue(t, q, last);
    for (uint32_t i = 0; q == NULL && i < c->count; i++)
        *gone += purge_queue(t, t->queues[c->queues[i]], last);
    return STATUS_OK;
}

/* ---- delays, blocks, limits ---- */

/* Finds the queue and begins a change. STATUS_NOT_FOUND: there is none. */
static enum status change(struct served *t, struct bytes crawl,
                          struct bytes key, int64_t now,
                          struct served_queue **q)
{
    enum status st;

    served_tick(t, now);
    *q = served_find_queue(t, crawl, key);
    if (*q == NULL)
        return STATUS_NOT_FOUND;
    st = served_touch(t);
    if (st == STATUS_OK)
        served_queue_dirty(t, *q);
    return st;
}

enum status served_block(struct served *t, struct bytes crawl, struct bytes key,
                         int64_t until_ms, int64_t now)
{
    struct served_queue *q;
    enum status st = change(t, crawl, key, now, &q);

    if (st != STATUS_OK)
        return st;
    q->blocked_until_ms = until_ms;
    served_place(t, q);
    return STATUS_OK;
}

enum status served_set_delay(struct served *t, struct bytes crawl,
                             struct bytes key, int64_t delay_ms, int64_t now)
{
    struct served_queue *q;
    enum status st = change(t, crawl, key, now, &q);

    if (st != STATUS_OK)
        return st;
    q->delay_ms = delay_ms;
    served_place(t, q);
    return STATUS_OK;
}

enum status served_set_limit(struct served *t, struct bytes crawl,
                             struct bytes key, uint32_t most, int64_t now)
{
    struct served_queue *q;
    enum status st = change(t, crawl, key, now, &q);

    if (st != STATUS_OK)
        return st;
    q->limit = most;
    served_place(t, q);
    return STATUS_OK;
}

static enum status set_meta_number(struct served *t, const char *name,
                                   int64_t value)
{
    char text[24];
    enum status st = served_touch(t);

    snprintf(text, sizeof text, "%lld", (long long)value);
    return st == STATUS_OK ? frontier_store_set_meta(t->base->store, name,
                                                     bytes_of_str(text))
                           : st;
}

enum status served_set_default_delay(struct served *t, int64_t delay_ms,
                                     int64_t now)
{
    enum status st;

    served_tick(t, now);
    st = set_meta_number(t, "item_delay_ms", delay_ms);
    if (st != STATUS_OK)
        return seen_store_broke(t->base, st);
    t->default_delay_ms = delay_ms;
    served_place_all(t);
    return STATUS_OK;
}

enum status served_set_active(struct served *t, bool active)
{
    enum status st = set_meta_number(t, "items_active", active);

    if (st != STATUS_OK)
        return seen_store_broke(t->base, st);
    t->active = active;
    return STATUS_OK;
}

bool served_active(const struct served *t)
{
    return t->active;
}
