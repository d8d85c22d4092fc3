/* SPDX-License-Identifier: MIT */
/*
 * shared_get.c - leases URLs: a look at all shards, then claims.
 *
 *   look at each shard ─► queues that may be served, by when they might be
 *        ▲                  │ the first ones
 *        └── more wanted ── claim: URLs, and queues that have more of them
 *
 * Two scripts, since a script has to declare the queues that it touches, and
 * which may be served is known only after a look. What another process claims
 * in between is simply not given, and looked for again.
 *
 * Queues come in the order in which they might be served, over all shards, as
 * far as the servers' clocks agree.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/shared/shared_impl.h"

#define LOOK_QUEUES  64 /* most of one look at a shard */
#define CLAIM_QUEUES 64 /* most of one claim */
#define CLAIMS       12 /* at a time: each may end with one large URL */
#define CLAIM_OCTETS ((size_t)256 << 10)
#define LOOKS        8 /* that led to nothing, in one part */

struct get_queue {
    double wake;
    unsigned shard;
    struct bytes crawl, key; /* in the memory of the get */
};

struct get_state {
    struct shared_hand *h;
    struct url_ask *ask;
    size_t room, octets; /* of this part */
    url_visit visit;
    void *ctx;
    struct arena *memory;

    struct get_queue *found; /* by a look */
    size_t found_count, found_room;
    bool asked, answered; /* some shard */
    enum status st;       /* of the last failure */

    struct shared_open_queue *open; /* they have more for this call */

    /* claims under way */
    struct claim_of {
        const struct get_queue *queues[CLAIM_QUEUES];
        size_t n, before, budget;
    } claims[CLAIMS];
    size_t claim_count;
};

#define GET_MEMORY ((size_t)64 << 20)

/* ---- GETs that go on ---- */

static void open_free(struct shared_open_queue *q)
{
    while (q != NULL) {
        struct shared_open_queue *next = q->next;

        free(q);
        q = next;
    }
}

static void open_add(struct get_state *g, struct bytes crawl, struct bytes key,
                     size_t given)
{
    struct shared_open_queue *q = xmalloc(sizeof *q + crawl.len + key.len);

    q->given = given;
    q->crawl_len = crawl.len;
    q->key_len = key.len;
    memcpy(q->names, crawl.at, crawl.len);
    memcpy(q->names + crawl.len, key.at, key.len);
    q->next = g->open;
    g->open = q;
}

static struct shared_open_queue *gets_take(struct shared *s, uint32_t ticket)
{
    struct shared_open_get *at = &s->gets[ticket % SHARED_GETS];
    struct shared_open_queue *q = NULL;

    pthread_mutex_lock(&s->mtx);
    if (ticket != 0 && at->ticket == ticket) {
        q = at->queues;
        *at = (struct shared_open_get){0, NULL};
    }
    pthread_mutex_unlock(&s->mtx);
    return q;
}

static uint32_t gets_keep(struct shared *s, struct shared_open_queue *q)
{
    struct shared_open_queue *old;
    uint32_t ticket;

    if (q == NULL)
        return 0;
    pthread_mutex_lock(&s->mtx);
    s->ticket += s->ticket == UINT32_MAX ? 2 : 1;
    ticket = s->ticket;
    old = s->gets[ticket % SHARED_GETS].queues;
    s->gets[ticket % SHARED_GETS] = (struct shared_open_get){ticket, q};
    pthread_mutex_unlock(&s->mtx);
    open_free(old);
    return ticket;
}

void shared_gets_free(struct shared *s)
{
    for (size_t i = 0; i < SHARED_GETS; i++)
        open_free(s->gets[i].queues);
}

/* ---- looks ---- */

static void found_add(struct get_state *g, const struct get_queue *q)
{
    if (g->found_count == g->found_room) {
        g->found_room = g->found_room == 0 ? 64 : 2 * g->found_room;
        g->found = xrealloc(g->found, g->found_room * sizeof *g->found);
    }
    g->found[g->found_count++] = *q;
}

static void look_came(void *ctx, size_t shard, enum status st,
                      const redisReply *r)
{
    struct get_state *g = ctx;

    if (st == STATUS_OK && r->type != REDIS_REPLY_ARRAY)
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        g->st = st;
        return;
    }
    g->answered = true;
    for (size_t i = 0; i + 1 < r->elements; i += 2) {
        struct get_queue q = {.shard = (unsigned)shard};
        struct bytes name;
        char *at;

        if (!shared_is_text(r, i) || !shared_is_text(r, i + 1))
            continue;
        name = shared_text(r, i);
        at = arena_try_copy(g->memory, name.at, name.len);
        if (at == NULL)
            return;
        name.at = at;
        q.wake = strtod(r->element[i + 1]->str, NULL);
        q.crawl = g->ask->crawl;
        q.key = name;
        if (!g->ask->any_crawl || shared_id_read(name, &q.crawl, &q.key))
            found_add(g, &q);
    }
}

static int by_wake(const void *a, const void *b)
{
    const struct get_queue *x = a, *y = b;

    if (x->wake != y->wake)
        return x->wake < y->wake ? -1 : 1;
    return x->shard < y->shard ? -1 : x->shard > y->shard;
}

static size_t queues_wanted(const struct get_state *g)
{
    const struct url_ask *a = g->ask;

    return a->most_queues == 0           ? SIZE_MAX
           : a->queues >= a->most_queues ? 0
                                         : a->most_queues - a->queues;
}

/* The first look of a call has no turns to leave out, as none of them can be of
 * this call. */
static void look(struct get_state *g, bool first)
{
    const struct url_ask *a = g->ask;
    struct shared_round *r = shared_round_new(g->h, look_came, g);
    size_t wanted = queues_wanted(g);
    struct buf prefix;

    buf_init(&prefix, SHARED_ID_MOST);
    if (!a->any_crawl)
        shared_id_write(&prefix, a->crawl, bytes_of("", 0));
    g->found_count = 0;
    g->asked = true;
    for (unsigned i = 0; i < g->h->s->shards; i++) {
        struct shared_call *c = shared_call_new(r, i, SHARED_LOOK, i);

        shared_call_key(c, "m", bytes_of("", 0));
        shared_call_key(c, "q", bytes_of("", 0));
        if (a->any_crawl)
            shared_call_key(c, "r", bytes_of("", 0));
        else
            shared_call_key(c, "e:", a->crawl);
        shared_call_arg(c, buf_bytes(&prefix));
        shared_call_number(c, a->most_urls);
        shared_call_number(c, wanted < LOOK_QUEUES ? (int64_t)wanted
                                                   : LOOK_QUEUES);
        shared_call_number(c, first ? INT64_C(1) << 52 : a->turn);
    }
    (void)shared_round_run(r, g->h->s->o.patience_ns);
    buf_fini(&prefix);
    if (g->found_count > 0)
        qsort(g->found, g->found_count, sizeof *g->found, by_wake);
}

/* ---- claims ---- */

static bool is_lease(const redisReply *r, size_t i)
{
    return shared_is_number(r, i) && shared_is_number(r, i + 1) &&
           shared_is_text(r, i + 2) && shared_is_text(r, i + 3) &&
           shared_is_number(r, i + 4) && shared_is_number(r, i + 5);
}

/* A lease has the number of its shard above 44 bits of its own. */
#define LEASE_BITS 44

static void give(struct get_state *g, const struct claim_of *claim,
                 const redisReply *r)
{
    size_t last = 0;

    for (size_t i = 2; i + 5 < r->elements && g->room > 0; i += 6) {
        const struct get_queue *q;
        struct url_view view;
        size_t number;

        if (!is_lease(r, i))
            continue; /* it will be over by itself */
        number = (size_t)r->element[i]->integer;
        if (number < 1 || number > claim->n)
            continue;
        q = claim->queues[number - 1];
        view = (struct url_view){
            .crawl = q->crawl,
            .key = q->key,
            .url = shared_text(r, i + 2),
            .metadata = shared_text(r, i + 3),
            .due_ms = r->element[i + 4]->integer,
            .created_ms = r->element[i + 5]->integer,
            .lease = (uint64_t)q->shard << LEASE_BITS |
                     (uint64_t)r->element[i + 1]->integer,
        };
        (void)g->visit(g->ctx, &view);
        g->room--;
        g->octets -= view.url.len + view.metadata.len + 64 < g->octets
                         ? view.url.len + view.metadata.len + 64
                         : g->octets;
        if (number != last && (number != 1 || claim->before == 0))
            g->ask->queues++;
        last = number;
    }
}

static void claim_came(void *ctx, size_t index, enum status st,
                       const redisReply *r)
{
    struct get_state *g = ctx;
    const struct claim_of *claim = &g->claims[index];
    size_t open;

    if (st == STATUS_OK && (r->type != REDIS_REPLY_ARRAY ||
                            !shared_is_number(r, 0) || !shared_is_number(r, 1)))
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        g->st = st;
        return;
    }
    g->answered = true;
    give(g, claim, r);
    open = (size_t)r->element[0]->integer;
    if (open >= 1 && open <= claim->n)
        open_add(g, claim->queues[open - 1]->crawl,
                 claim->queues[open - 1]->key, (size_t)r->element[1]->integer);
}

/* Runs g->claims. */
static void claim_all(struct get_state *g)
{
    struct shared_round *r = shared_round_new(g->h, claim_came, g);
    size_t octets = g->octets / g->claim_count + 1;

    g->asked = true;
    for (size_t k = 0; k < g->claim_count; k++) {
        const struct claim_of *claim = &g->claims[k];
        struct shared_call *c =
            shared_call_new(r, claim->queues[0]->shard, SHARED_CLAIM, k);

        shared_call_changes(c, false);
        for (size_t i = 0; i < claim->n; i++)
            (void)shared_call_queue(c, claim->queues[i]->crawl,
                                    claim->queues[i]->key);
        shared_call_number(c, g->ask->most_urls);
        shared_call_number(c, g->ask->lease_ms);
        shared_call_number(c, (int64_t)claim->budget);
        shared_call_number(c, (int64_t)(octets < CLAIM_OCTETS ? octets
                                                              : CLAIM_OCTETS));
        shared_call_number(c, (int64_t)claim->before);
    }
    (void)shared_round_run(r, INT64_MAX);
}

/* The claim of this shard, a new one if there is room; NULL: there is none. */
static struct claim_of *claim_at(struct get_state *g, unsigned shard)
{
    struct claim_of *c;

    for (size_t k = 0; k < g->claim_count; k++)
        if (g->claims[k].queues[0]->shard == shard)
            return g->claims[k].n < CLAIM_QUEUES ? &g->claims[k] : NULL;
    if (g->claim_count == CLAIMS)
        return NULL;
    c = &g->claims[g->claim_count++];
    c->n = c->before = c->budget = 0;
    return c;
}

/* Claims the first of the queues from `at` on, as many as one wave takes;
 * returns the next one. Budgets make sure that no more comes than there is room
 * for. */
static size_t claim_wave(struct get_state *g, size_t at)
{
    const size_t most = g->ask->most_urls, wanted = queues_wanted(g);
    size_t queues = most == 0 || most > g->room ? g->room : g->room / most;

    if (most > 0 && queues == 0)
        queues = 1;
    if (most > g->room)
        queues = 1;
    if (queues > wanted)
        queues = wanted;
    g->claim_count = 0;
    for (; at < g->found_count && queues > 0; at++, queues--) {
        struct claim_of *c = claim_at(g, g->found[at].shard);

        if (c == NULL)
            break;
        c->queues[c->n++] = &g->found[at];
        c->budget += most > 0 ? most : 0;
    }
    for (size_t k = 0; k < g->claim_count; k++) {
        struct claim_of *c = &g->claims[k];

        if (most == 0)
            c->budget = g->room / g->claim_count;
        if (c->budget > g->room)
            c->budget = g->room;
    }
    if (g->claim_count > 0)
        claim_all(g);
    return at;
}

/* One queue by itself; `before`: URLs that it has given to this call. */
static void claim_one(struct get_state *g, struct bytes crawl, struct bytes key,
                      size_t before)
{
    const struct get_queue q = {.shard = shared_shard_of(g->h->s, crawl, key),
                                .crawl = crawl,
                                .key = key};

    g->claim_count = 1;
    g->claims[0].queues[0] = &q;
    g->claims[0].n = 1;
    g->claims[0].before = before;
    g->claims[0].budget = g->room;
    claim_all(g);
}

static bool has_room(const struct get_state *g)
{
    return g->room > 0 && g->octets > 0;
}

static void go_on(struct get_state *g)
{
    struct shared_open_queue *q = gets_take(g->h->s, g->ask->queue), *next;

    for (; q != NULL && has_room(g); q = next) {
        next = q->next;
        claim_one(g, bytes_of(q->names, q->crawl_len),
                  bytes_of(q->names + q->crawl_len, q->key_len), q->given);
        free(q);
    }
    while (q != NULL) { /* for the next part */
        next = q->next;
        q->next = g->open;
        g->open = q;
        q = next;
    }
}

/* Looks and claims until nothing is left, or there is no room. True: there may
 * be more. */
static bool serve(struct get_state *g, bool first)
{
    unsigned nothing = 0;

    while (has_room(g) && queues_wanted(g) > 0 && nothing < LOOKS) {
        size_t at = 0, before = g->room;

        look(g, first);
        first = false;
        if (g->found_count == 0)
            return false;
        while (at < g->found_count && has_room(g) && queues_wanted(g) > 0)
            at = claim_wave(g, at);
        nothing = g->room == before ? nothing + 1 : 0;
    }
    return queues_wanted(g) > 0 && nothing < LOOKS;
}

enum status shared_get(struct shared_hand *h, struct url_ask *a, size_t room,
                       size_t octets, url_visit visit, void *ctx, bool *more)
{
    struct get_state *g = xcalloc(1, sizeof *g);
    bool first = a->turn == 0, is_more = false;
    enum status st;

    g->h = h;
    g->st = STATUS_CLOSED;
    g->ask = a;
    g->room = room;
    g->octets = octets;
    g->visit = visit;
    g->ctx = ctx;
    g->memory = arena_new(GET_MEMORY);
    if (first)
        a->turn = clock_wall_ms() * 1000;
    go_on(g);
    if (!a->one_queue)
        is_more = serve(g, first);
    else if (first)
        claim_one(g, a->crawl, a->key, 0);
    a->queue = gets_keep(h->s, g->open);
    *more = is_more || g->open != NULL;
    st = g->asked && !g->answered ? g->st : STATUS_OK;
    arena_free(g->memory);
    free(g->found);
    free(g);
    return st;
}
