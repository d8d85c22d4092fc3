/* SPDX-License-Identifier: MIT */
/*
 * served_lease.c - chooses queue and URL, and leases it.
 *
 * Queues that may be served are in order of turn; the others wait in a heap by
 * the time at which they may. So the cost of a call depends on what it leases,
 * not on the number of queues. A served queue gets a number after all others,
 * which also ends the call when every queue has had its turn.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/served/served_impl.h"

/*
 * Two tables of chains over leases that come in blocks.
 *
 * Leases come and go by the thousand each second, beside SQLite's pages; single
 * allocations would fragment the heap. So they come in blocks, and the free
 * ones form a list through next_by_id.
 */
#define BLOCK      512
#define LEAST_SIZE 1024

struct block {
    struct block *next;
    struct served_lease leases[BLOCK];
};

struct served_leases {
    struct served_lease **by_id, **by_digest;
    size_t size; /* of both; a power of two */
    size_t count;
    struct served_lease *spare;
    struct block *blocks;
    size_t block_count;
};

static void make_tables(struct served_leases *t, size_t size)
{
    t->size = size;
    t->by_id = xcalloc(size, sizeof(struct served_lease *));
    t->by_digest = xcalloc(size, sizeof(struct served_lease *));
}

static void free_all(struct served_leases *t)
{
    for (struct block *b = t->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(t->by_id);
    free(t->by_digest);
    *t = (struct served_leases){0};
}

struct served_leases *served_leases_new(void)
{
    struct served_leases *t = xcalloc(1, sizeof *t);

    make_tables(t, LEAST_SIZE);
    return t;
}

void served_leases_free(struct served_leases *t)
{
    if (t == NULL)
        return;
    free_all(t);
    free(t);
}

/* ---- chains ---- */

/* Ids leased together are close to one another or a stride apart:
 * multiplication spreads them (Knuth, TAOCP volume 3, 6.4). */
static struct served_lease **id_chain(const struct served_leases *t,
                                      uint32_t id)
{
    return &t->by_id[(id * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (t->size - 1)];
}

static struct served_lease **digest_chain(const struct served_leases *t,
                                          struct digest d)
{
    return &t->by_digest[d.lo & (t->size - 1)];
}

static bool is_said(struct digest d)
{
    return d.hi != 0 || d.lo != 0;
}

static void enter_id(struct served_leases *t, struct served_lease *h)
{
    struct served_lease **chain = id_chain(t, h->id);

    h->next_by_id = *chain;
    *chain = h;
}

static void enter_digest(struct served_leases *t, struct served_lease *h)
{
    struct served_lease **chain = digest_chain(t, h->digest);

    h->next_by_digest = *chain;
    *chain = h;
}

static void grow(struct served_leases *t)
{
    free(t->by_id);
    free(t->by_digest);
    make_tables(t, 2 * t->size);
    for (struct block *b = t->blocks; b != NULL; b = b->next) {
        for (size_t i = 0; i < BLOCK; i++) {
            struct served_lease *h = &b->leases[i];

            if (h->id == 0)
                continue;
            enter_id(t, h);
            if (is_said(h->digest))
                enter_digest(t, h);
        }
    }
}

/* ---- coming and going ---- */

static void add_block(struct served_leases *t)
{
    struct block *b = xcalloc(1, sizeof *b);

    b->next = t->blocks;
    t->blocks = b;
    t->block_count++;
    for (size_t i = 0; i < BLOCK; i++) {
        b->leases[i].next_by_id = t->spare;
        t->spare = &b->leases[i];
    }
}

/* Adds a lease, zeroed except for its id, which no other lease has. */
static struct served_lease *served_leases_add(struct served_leases *t,
                                              uint32_t id)
{
    struct served_lease *h;

    assert(id != 0);
    if (t->spare == NULL)
        add_block(t);
    if (t->count == t->size)
        grow(t);
    h = t->spare;
    t->spare = h->next_by_id;
    *h = (struct served_lease){.id = id};
    enter_id(t, h);
    t->count++;
    return h;
}

/* Sets the digest by which it is found, once at most. */
static void served_leases_set_digest(struct served_leases *t,
                                     struct served_lease *h,
                                     struct digest digest)
{
    assert(!is_said(h->digest));
    h->digest = digest;
    if (is_said(digest))
        enter_digest(t, h);
}

static void leave_chains(struct served_leases *t, struct served_lease *h)
{
    struct served_lease **at = id_chain(t, h->id);

    while (*at != h)
        at = &(*at)->next_by_id;
    *at = h->next_by_id;
    if (!is_said(h->digest))
        return;
    at = digest_chain(t, h->digest);
    while (*at != h)
        at = &(*at)->next_by_digest;
    *at = h->next_by_digest;
}

/* Sets the digest by which it is found, once at most. */
static void served_leases_remove(struct served_leases *t,
                                 struct served_lease *h)
{
    leave_chains(t, h);
    h->id = 0;
    h->next_by_id = t->spare;
    t->spare = h;
    if (--t->count > 0 || t->size == LEAST_SIZE)
        return;
    free_all(t);
    make_tables(t, LEAST_SIZE);
}

/* ---- finding ---- */

/* NULL: none */
static struct served_lease *served_leases_find(const struct served_leases *t,
                                               uint32_t id)
{
    struct served_lease *h = *id_chain(t, id);

    while (h != NULL && h->id != id)
        h = h->next_by_id;
    return h;
}

struct served_lease *served_leases_find_digest(const struct served_leases *t,
                                               struct digest digest)
{
    struct served_lease *latest = NULL;

    for (struct served_lease *h = *digest_chain(t, digest); h != NULL;
         h = h->next_by_digest) {
        if (digest_equal(h->digest, digest) &&
            (latest == NULL || h->id > latest->id))
            latest = h;
    }
    return latest;
}

size_t served_leases_count(const struct served_leases *t)
{
    return t->count;
}

size_t served_leases_memory(const struct served_leases *t)
{
    return sizeof *t + t->block_count * sizeof(struct block) +
           2 * t->size * sizeof(struct served_lease *);
}

static struct served_lease *lease_at(struct heap_item *until)
{
    return (struct served_lease *)(void *)until;
}

static struct served_queue *queue_waiting(struct heap_item *waiting)
{
    return (
        struct served_queue *)(void *)((char *)waiting -
                                       offsetof(struct served_queue, waiting));
}

struct served_lease *served_lease_of(const struct served *t, uint32_t id)
{
    return served_leases_find(t->leases, id);
}

/* A URL is leased twice at the same value of the time's lowest bits once in a
 * million times: of a shard, whose number takes the place of the others. */
uint64_t served_lease_id(const struct served *t, const struct served_lease *h)
{
    uint32_t at = (uint32_t)h->at_ms;

    if (t->is_shard)
        at = t->shard << SERVED_LEASE_SHARD |
             (at & ((1U << SERVED_LEASE_SHARD) - 1));
    return (uint64_t)h->id << 32 | at;
}

struct served_lease *served_lease_begin(struct served *t, uint32_t id,
                                        int64_t at_ms, int64_t until_ms,
                                        uint64_t seq)
{
    struct served_url *i = served_url_at(t, id);
    struct served_lease *h = served_leases_add(t->leases, id);

    h->at_ms = at_ms;
    h->length_ms = until_ms - at_ms;
    h->seq = seq;
    heap_push(&t->until, &h->until, until_ms);
    i->life = (uint8_t)url_life_after(i->life, LIFE_LEASE);
    i->flags = (uint8_t)((i->flags & ~SERVED_LANE) | SERVED_LEASED);
    served_count(t, t->queues[i->queue], 0, 0, 1);
    return h;
}

void served_lease_end(struct served *t, struct served_lease *h,
                      enum life_event how)
{
    struct served_url *i = served_url_at(t, h->id);

    heap_remove(&t->until, &h->until);
    if (served_url_exists(t, h->id)) { /* else its queue was removed */
        i->life = (uint8_t)url_life_after(i->life, how);
        i->flags &= (uint8_t)~SERVED_LEASED;
        served_count(t, t->queues[i->queue], 0, 0, -1);
    }
    served_leases_remove(t->leases, h);
}

static void expire(struct served *t, struct served_lease *h)
{
    uint32_t id = h->id;
    struct served_queue *q = t->queues[served_url_at(t, id)->queue];

    served_lease_end(t, h, LIFE_GIVE_BACK);
    if (!served_url_exists(t, id))
        return;
    served_wait(t, q, id);
    served_place(t, q);
}

/* The clock was set back: nothing waits longer than it was to. */
static void set_back(struct served *t)
{
    size_t n = heap_count(&t->until);
    struct heap_item **all = xcalloc(n + 1, sizeof(struct heap_item *));

    if (n > 0)
        memcpy(all, t->until.items, n * sizeof(struct heap_item *));
    for (size_t i = 0; i < n; i++) {
        int64_t most = t->now + lease_at(all[i])->length_ms;

        if (all[i]->key > most)
            heap_move(&t->until, all[i], most);
    }
    free(all);
    served_place_all(t);
}

void served_tick(struct served *t, int64_t now)
{
    struct heap_item *top;
    bool back = now < t->now;

    t->now = now;
    if (back)
        set_back(t);
    while ((top = heap_top(&t->until)) != NULL && top->key <= now)
        expire(t, lease_at(top));
    while ((top = heap_top(&t->waiting)) != NULL && top->key <= now)
        served_place(t, queue_waiting(top));
}

static enum status view_of(struct served *t, uint32_t id, uint64_t lease,
                           struct url_view *view)
{
    const struct served_url *i = served_url_at(t, id);
    int64_t found_at_ms = 0;
    enum status st =
        frontier_store_get_url(t->base->store, id, &t->text, &found_at_ms);

    buf_clear(&t->metadata);
    if (st == STATUS_OK && served_url_seq(i) != 0)
        st = served_log_metadata(t->log, served_url_seq(i), &t->metadata);
    if (st != STATUS_OK)
        return st;
    *view = (struct url_view){
        .url = buf_bytes(&t->text),
        .metadata = buf_bytes(&t->metadata),
        .due_ms = i->due_ms,
        .created_ms = found_at_ms,
        .lease = lease,
    };
    frontier_store_queue_name(t->base->store, i->queue, &view->crawl,
                              &view->key);
    t->shown_created_ms = found_at_ms;
    return STATUS_OK;
}

enum status served_show(struct served *t, uint32_t id, uint64_t lease,
                        url_visit visit, void *ctx, bool *go_on)
{
    struct url_view view;
    enum status st = view_of(t, id, lease, &view);

    if (st == STATUS_OK)
        *go_on = visit(ctx, &view);
    return st;
}

static enum status hand_out(struct served *t, const struct url_ask *g,
                            uint32_t id, url_visit visit, void *ctx,
                            bool *go_on)
{
    uint64_t seq;
    int64_t until = t->now + g->lease_ms;
    struct url_view view;
    struct served_lease *h;
    enum status st = served_log_lease(t->log, id, t->now, until, &seq);

    if (st != STATUS_OK)
        return st;
    h = served_lease_begin(t, id, t->now, until, seq);
    st = view_of(t, id, served_lease_id(t, h), &view);
    if (st != STATUS_OK)
        return st;
    served_leases_set_digest(t->leases, h,
                             digest_url(&t->base->key, view.crawl, view.key,
                                        view.url));
    *go_on = visit(ctx, &view);
    return STATUS_OK;
}

/* Goes on where the call before stopped, if it did. */
static enum status serve(struct served *t, struct url_ask *g,
                         struct served_queue *q, url_visit visit, void *ctx,
                         bool *go_on)
{
    uint32_t id = 0;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && *go_on &&
           (g->most_urls == 0 || g->urls < g->most_urls) &&
           (id = served_queue_take(t, q)) != 0) {
        st = hand_out(t, g, id, visit, ctx, go_on);
        q->served_ms = t->now; /* as a restart finds it, by the lease's row */
        g->urls++;
    }
    if (g->urls > 0 && g->queue == 0) { /* charged once */
        served_queue_to_back(t, q);
        g->queues++;
    }
    served_place(t, q);
    g->queue = *go_on ? 0 : q->number;
    if (*go_on)
        g->urls = 0;
    return st;
}

/* The requested queue, if it may be served. */
static struct served_queue *queue_asked(struct served *t,
                                        const struct url_ask *g)
{
    struct served_queue *q =
        g->any_crawl ? NULL : served_find_queue(t, g->crawl, g->key);

    return q != NULL && q->in_all.item.place != 0 &&
                   (g->most_urls == 0 || q->leased < g->most_urls)
               ? q
               : NULL;
}

static struct served_queue *next_queue(struct served *t,
                                       const struct url_ask *g);

/* The queue that the call before was at, unless it was blocked meanwhile. */
static struct served_queue *queue_begun(struct served *t, struct url_ask *g)
{
    struct served_queue *q = t->queues[g->queue];

    if (q->there && q->blocked_until_ms <= t->now)
        return q;
    g->queue = g->urls = 0;
    return next_queue(t, g);
}

/* The next queue in turn; NULL: the call has ended. */
static struct served_queue *next_queue(struct served *t,
                                       const struct url_ask *g)
{
    struct served_crawl *c;
    struct turn *turn;

    if (g->most_queues > 0 && g->queues >= g->most_queues)
        return NULL;
    if (g->one_queue)
        return g->queues == 0 ? queue_asked(t, g) : NULL;
    if (g->any_crawl) {
        turn = round_robin_first(&t->robin, g->most_urls, g->turn);
        return (struct served_queue *)(void *)turn;
    }
    c = served_find_crawl(t, g->crawl);
    turn =
        c != NULL ? round_robin_first(&c->robin, g->most_urls, g->turn) : NULL;
    return turn == NULL
               ? NULL
               : (struct served_queue *)(void *)((char *)turn -
                                                 offsetof(struct served_queue,
                                                          in_crawl));
}

enum status served_get(struct served *t, struct url_ask *g, int64_t now,
                       url_visit visit, void *ctx, bool *more)
{
    struct served_queue *q;
    bool go_on = true;
    enum status st = STATUS_OK;

    *more = false;
    served_tick(t, now);
    if (!t->active)
        return STATUS_OK;
    if (g->turn == 0)
        g->turn = t->turn + 1; /* queues served in this call come after it */
    q = g->queue != 0 ? queue_begun(t, g) : next_queue(t, g);
    for (; st == STATUS_OK && go_on && q != NULL; q = next_queue(t, g)) {
        st = served_touch(t);
        if (st == STATUS_OK)
            st = serve(t, g, q, visit, ctx, &go_on);
    }
    *more = !go_on;
    return st == STATUS_OK ? STATUS_OK : seen_store_broke(t->base, st);
}

/* ---- settling ---- */

static struct served_lease *leased_as(struct served *t, uint64_t lease)
{
    uint32_t id = (uint32_t)(lease >> 32);
    struct served_lease *h =
        served_url_exists(t, id) ? served_lease_of(t, id) : NULL;

    return h != NULL && served_lease_id(t, h) == lease ? h : NULL;
}

/* A lease that began by a clock which was set back since is logged as ending so
 * long after its beginning: a row ends after it begins, and a restart goes by
 * its length. */
static enum status extend(struct served *t, struct served_lease *h,
                          int64_t until_ms)
{
    int64_t length_ms = until_ms - clock_earlier(h->at_ms, t->now);
    enum status st = served_log_lease(t->log, h->id, h->at_ms,
                                      h->at_ms + length_ms, &h->seq);

    if (st != STATUS_OK)
        return st;
    h->length_ms = length_ms;
    heap_move(&t->until, &h->until, until_ms);
    return STATUS_OK;
}

enum status served_settle(struct served *t, uint64_t lease, enum url_settle how,
                          int64_t due_ms, const struct bytes *metadata,
                          int64_t now)
{
    struct served_lease *h;
    enum status st;

    served_tick(t, now);
    h = leased_as(t, lease);
    if (h == NULL)
        return STATUS_NOT_FOUND;
    st = served_touch(t);
    if (st == STATUS_OK && how == URL_SETTLE_EXTEND)
        st = extend(t, h, due_ms);
    if (st == STATUS_OK && how != URL_SETTLE_EXTEND) {
        const struct served_url *i = served_url_at(t, h->id);
        struct served_queue *q = t->queues[i->queue];

        buf_clear(&t->metadata);
        if (metadata == NULL && served_url_seq(i) != 0)
            st = served_log_metadata(t->log, served_url_seq(i), &t->metadata);
        if (st == STATUS_OK)
            st = served_update(t, h->id, due_ms,
                               metadata != NULL ? *metadata
                                                : buf_bytes(&t->metadata));
        if (st == STATUS_OK)
            served_place(t, q);
    }
    return st == STATUS_OK ? STATUS_OK : seen_store_broke(t->base, st);
}
