/* SPDX-License-Identifier: MIT */
/*
 * fetch_limits.c - the memory of bodies in flight, and the rate of octets.
 *
 * One owner at a time has the overdraft, from its first byte over the limit
 * until it gives back. That transfer can always go on to its end, so one always
 * finishes and the pool never deadlocks; and the pool exceeds its size by no
 * more than that one body.
 */
#include "crawler/fetch/fetch_limits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

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
