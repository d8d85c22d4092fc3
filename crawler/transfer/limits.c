/* SPDX-License-Identifier: MIT */
/* limits.c - memory, octets and connections that all fetchers share. */
#include "crawler/transfer/limits.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

/* ---- memory for bodies in flight ---- */

/*
 * One owner at a time has the overdraft, from its first byte over the limit
 * until it gives back. That transfer can always go on to its end, so one always
 * finishes and the pool never deadlocks; and the pool exceeds its size by no
 * more than that one body.
 */

struct body_pool {
    pthread_mutex_t mtx;
    uint64_t bytes;
    /* shared, under mtx */
    uint64_t used;
    const void *overdrawer; /* NULL: the overdraft is free */
};

struct body_pool *body_pool_new(uint64_t bytes)
{
    struct body_pool *p = xcalloc(1, sizeof *p);

    pthread_mutex_init(&p->mtx, NULL);
    p->bytes = bytes;
    return p;
}

void body_pool_free(struct body_pool *p)
{
    if (p == NULL)
        return;
    pthread_mutex_destroy(&p->mtx);
    free(p);
}

static bool may_take(struct body_pool *p, const void *owner, uint64_t bytes)
{
    if (p->used <= p->bytes && bytes <= p->bytes - p->used)
        return true;
    if (p->overdrawer == NULL)
        p->overdrawer = owner;
    return p->overdrawer == owner;
}

bool body_pool_take(struct body_pool *p, const void *owner, uint64_t bytes)
{
    bool taken;

    pthread_mutex_lock(&p->mtx);
    taken = may_take(p, owner, bytes);
    if (taken)
        p->used += bytes;
    pthread_mutex_unlock(&p->mtx);
    return taken;
}

void body_pool_hold(struct body_pool *p, uint64_t bytes)
{
    pthread_mutex_lock(&p->mtx);
    p->used += bytes;
    pthread_mutex_unlock(&p->mtx);
}

void body_pool_give(struct body_pool *p, const void *owner, uint64_t bytes)
{
    pthread_mutex_lock(&p->mtx);
    p->used -= bytes;
    if (p->overdrawer == owner)
        p->overdrawer = NULL;
    pthread_mutex_unlock(&p->mtx);
}

uint64_t body_pool_size(const struct body_pool *p)
{
    return p->bytes;
}

uint64_t body_pool_used(struct body_pool *p)
{
    uint64_t used;

    pthread_mutex_lock(&p->mtx);
    used = p->used;
    pthread_mutex_unlock(&p->mtx);
    return used;
}

/* ---- limits the octets received a second, over all fetchers ---- */

/*
 * Each octet moves that time forward by its share at the rate, and a time a
 * second or more in the past means a full bucket (the virtual scheduling form
 * of the generic cell rate algorithm, ITU-T I.371 annex A). No timer fills it,
 * and callers know until when they have to wait.
 */

#define FULL    NS_PER_S
#define LONGEST ((double)(INT64_MAX / 4)) /* 73 years */

struct rate_limit {
    pthread_mutex_t mtx;
    _Atomic uint64_t each; /* of a transfer */
    _Atomic uint64_t rate; /* written under mtx */
    int64_t level_at;      /* shared, under mtx */
};

struct rate_limit *rate_limit_new(uint64_t rate)
{
    struct rate_limit *l = xcalloc(1, sizeof *l);

    pthread_mutex_init(&l->mtx, NULL);
    l->rate = rate;
    l->level_at = INT64_MIN;
    return l;
}

void rate_limit_free(struct rate_limit *l)
{
    if (l == NULL)
        return;
    pthread_mutex_destroy(&l->mtx);
    free(l);
}

uint64_t rate_limit_rate(const struct rate_limit *l)
{
    return atomic_load_explicit(&l->rate, memory_order_relaxed);
}

static int64_t span(double ns)
{
    return (int64_t)(ns < LONGEST ? ns : LONGEST);
}

void rate_limit_set_each(struct rate_limit *l, uint64_t each)
{
    atomic_store_explicit(&l->each, each, memory_order_relaxed);
}

uint64_t rate_limit_each(const struct rate_limit *l)
{
    return atomic_load_explicit(&l->each, memory_order_relaxed);
}

int64_t rate_limit_each_at(const struct rate_limit *l, uint64_t octets,
                           int64_t began)
{
    uint64_t each = rate_limit_each(l);

    return each > 0 ? began + span((double)octets / (double)each * NS_PER_S)
                    : INT64_MIN;
}

void rate_limit_set(struct rate_limit *l, uint64_t rate, int64_t now)
{
    uint64_t before;

    pthread_mutex_lock(&l->mtx);
    before = l->rate;
    if (before == 0 || rate == 0)
        l->level_at = now;
    else if (l->level_at > now)
        l->level_at = now + span((double)(l->level_at - now) * (double)before /
                                 (double)rate);
    l->rate = rate;
    pthread_mutex_unlock(&l->mtx);
}

int64_t rate_limit_spend(struct rate_limit *l, uint64_t octets, int64_t now)
{
    int64_t at = INT64_MIN;

    if (rate_limit_rate(l) == 0)
        return at;
    pthread_mutex_lock(&l->mtx);
    if (l->rate > 0) {
        at = clock_later(l->level_at, now - FULL);
        at = now + span((double)(at - now) +
                        (double)octets / (double)l->rate * NS_PER_S);
        l->level_at = at;
    }
    pthread_mutex_unlock(&l->mtx);
    return at;
}

int64_t rate_limit_level_at(struct rate_limit *l)
{
    int64_t at;

    if (rate_limit_rate(l) == 0)
        return INT64_MIN;
    pthread_mutex_lock(&l->mtx);
    at = l->rate > 0 ? l->level_at : INT64_MIN;
    pthread_mutex_unlock(&l->mtx);
    return at;
}

/* ---- how many connections a crawl may keep open ---- */

/* Of a transfer, beside its connection and its body: libcurl's handle and read
 * buffer, the task, the response's head. */
#define TRANSFER_COST   ((uint64_t)28 << 10)

#define TRANSFERS_LEAST 64
/* of one fetcher: libcurl walks them */
#define CONNECTIONS_MOST UINT64_C(65536)

void connection_budget_init(struct connection_budget *b, uint64_t shared,
                            uint64_t least, uint64_t descriptors,
                            unsigned fetchers)
{
    b->shared = shared;
    b->least = least;
    b->descriptors = descriptors / 2;
    b->fetchers = fetchers;
    connection_budget_update(b, 0);
}

void connection_budget_update(struct connection_budget *b, uint64_t used)
{
    uint64_t spare = used < b->shared ? b->shared - used : 0;

    if (spare < b->least)
        spare = b->least;
    atomic_store_explicit(&b->spare, spare, memory_order_relaxed);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Before the first one, each counts as the expensive kind. */
static uint64_t mean_cost(uint64_t tls, uint64_t plain)
{
    if (tls + plain == 0)
        return CONNECTION_COST_TLS;
    return (tls * CONNECTION_COST_TLS + plain * CONNECTION_COST_PLAIN) /
           (tls + plain);
}

static uint64_t spare_now(const struct connection_budget *b)
{
    return atomic_load_explicit(&b->spare, memory_order_relaxed);
}

long connection_budget_most(const struct connection_budget *b, uint64_t tls,
                            uint64_t plain)
{
    uint64_t most =
        lesser(spare_now(b) / mean_cost(tls, plain), b->descriptors) /
        b->fetchers;

    most = lesser(most, CONNECTIONS_MOST);
    return most > 0 ? (long)most : 1;
}

size_t connection_budget_transfers(const struct connection_budget *b,
                                   uint64_t tls, uint64_t plain,
                                   uint64_t bodies)
{
    uint64_t cost = mean_cost(tls, plain) + TRANSFER_COST;
    uint64_t most = lesser((spare_now(b) + bodies / 2) / cost, b->descriptors);

    return most > TRANSFERS_LEAST ? (size_t)most : TRANSFERS_LEAST;
}

uint64_t connection_budget_excess(const struct connection_budget *b,
                                  uint64_t tls, uint64_t plain, uint64_t active)
{
    uint64_t need = active * (mean_cost(tls, plain) + TRANSFER_COST);
    uint64_t spare = spare_now(b);

    return need > spare ? need - spare : 0;
}

/* ---- limits the connections to each address, over all fetchers ---- */

/*
 * It is used for each connection, not for each request, so one mutex is enough
 * for all fetchers.
 */

struct entry {
    uint32_t open;   /* > 0: an entry without connections is removed */
    uint32_t wished; /* refusals for which no place was freed yet; <= `most` at
                        that time */
};

struct ip_limit {
    pthread_mutex_t mtx;
    uint32_t most;           /* shared, under mtx */
    _Atomic uint64_t wishes; /* sum over all entries; written under mtx */
    struct map *entries;     /* shared, under mtx */
};

struct ip_limit *ip_limit_new(uint32_t most)
{
    struct ip_limit *l = xcalloc(1, sizeof *l);

    assert(most > 0);
    pthread_mutex_init(&l->mtx, NULL);
    l->most = most;
    l->entries = map_new();
    return l;
}

void ip_limit_set(struct ip_limit *l, uint32_t most)
{
    assert(most > 0);
    pthread_mutex_lock(&l->mtx);
    l->most = most;
    pthread_mutex_unlock(&l->mtx);
}

void ip_limit_free(struct ip_limit *l)
{
    if (l == NULL)
        return;
    map_free(l->entries, free);
    pthread_mutex_destroy(&l->mtx);
    free(l);
}

static void add_wishes(struct ip_limit *l, struct entry *e, int n)
{
    e->wished += (uint32_t)n;
    atomic_fetch_add_explicit(&l->wishes, (uint64_t)n, memory_order_relaxed);
}

static bool take_place(struct ip_limit *l, struct bytes key)
{
    struct entry *e = map_get(l->entries, key);

    if (e == NULL) {
        e = xcalloc(1, sizeof *e);
        (void)map_put(l->entries, key, e);
    }
    if (e->open >= l->most) {
        if (e->wished < l->most)
            add_wishes(l, e, 1);
        return false;
    }
    e->open++;
    if (e->wished > 0)
        add_wishes(l, e, -1);
    return true;
}

bool ip_limit_take(struct ip_limit *l, const void *address, unsigned len)
{
    bool taken;

    pthread_mutex_lock(&l->mtx);
    taken = take_place(l, bytes_of(address, len));
    pthread_mutex_unlock(&l->mtx);
    return taken;
}

static void give(struct ip_limit *l, struct bytes key, struct entry *e)
{
    assert(e != NULL && e->open > 0);
    if (--e->open > 0)
        return;
    add_wishes(l, e, -(int)e->wished);
    free(map_remove(l->entries, key));
}

void ip_limit_give(struct ip_limit *l, const void *address, unsigned len)
{
    struct bytes key = bytes_of(address, len);

    pthread_mutex_lock(&l->mtx);
    give(l, key, map_get(l->entries, key));
    pthread_mutex_unlock(&l->mtx);
}

bool ip_limit_yield(struct ip_limit *l, const void *address, unsigned len)
{
    struct bytes key = bytes_of(address, len);
    struct entry *e;
    bool wished;

    pthread_mutex_lock(&l->mtx);
    e = map_get(l->entries, key);
    assert(e != NULL);
    wished = e->wished > 0;
    if (wished) {
        add_wishes(l, e, -1);
        give(l, key, e);
    }
    pthread_mutex_unlock(&l->mtx);
    return wished;
}

bool ip_limit_is_wished(const struct ip_limit *l)
{
    return atomic_load_explicit(&l->wishes, memory_order_relaxed) > 0;
}
