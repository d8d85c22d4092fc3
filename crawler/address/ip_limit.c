/* SPDX-License-Identifier: MIT */
/*
 * ip_limit.c - connections per address: a map from octets to two numbers.
 *
 * It is used for each connection, not for each request, so one mutex is enough
 * for all fetchers.
 */
#include "crawler/address/ip_limit.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

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
