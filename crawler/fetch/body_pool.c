/* SPDX-License-Identifier: MIT */
/*
 * body_pool.c - limits the memory of bodies in flight.
 *
 * One owner at a time has the overdraft, from its first byte over the limit
 * until it gives back. That transfer can always go on to its end, so one always
 * finishes and the pool never deadlocks; and the pool exceeds its size by no
 * more than that one body.
 */
#include "crawler/fetch/body_pool.h"

#include <pthread.h>
#include <stdlib.h>

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
