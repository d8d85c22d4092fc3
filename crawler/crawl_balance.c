/* SPDX-License-Identifier: MIT */
/*
 * crawl_balance.c - which fetcher gets a URL.
 *
 * Moving a queue whose fetcher has more to do than others was rejected: the old
 * fetcher's idle connection would stay open beside the new one, so that a host
 * saw two where it is promised one.
 */
#include "crawler/crawl_balance.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

#define PLACED_MOST 4096 /* queues whose fetcher is chosen */
#define SHARED_KEPT 4096 /* shared queues remembered though they have no URLs */

struct load {
    uint32_t out;    /* URLs it has */
    uint64_t queues; /* that it got first */
    bool hangs;
};

/* What one fetcher has of a shared queue. */
struct part {
    uint32_t out;
    bool knows; /* was told of the host's robots.txt */
};

/* A queue whose connections are shared. */
struct shared {
    unsigned base; /* the first share is this fetcher's, then it goes round */
    unsigned only; /* the fetcher that alone gets URLs, unless `split` */
    bool split;
    uint32_t out;
    struct part parts[];
};

struct crawl_balance {
    unsigned fetchers;
    uint32_t conns;
    struct map *placed; /* queue to fetcher + 1 */
    struct map *shared; /* queue to struct shared; empty with one connection */
    struct load loads[];
};

struct crawl_balance *crawl_balance_new(unsigned fetchers,
                                        uint32_t conns_per_host)
{
    struct crawl_balance *b =
        xcalloc(1, sizeof *b + fetchers * sizeof b->loads[0]);

    b->fetchers = fetchers;
    b->conns = conns_per_host;
    b->placed = map_new();
    b->shared = map_new();
    return b;
}

void crawl_balance_free(struct crawl_balance *b)
{
    if (b == NULL)
        return;
    map_free(b->placed, NULL);
    map_free(b->shared, free);
    free(b);
}

uint32_t crawl_balance_share(unsigned fetchers, uint32_t conns_per_host)
{
    return (conns_per_host + fetchers - 1) / fetchers;
}

/* ---- the fetcher of a queue ---------------------------------------------- */

static bool has_less(const struct load *a, const struct load *b)
{
    return a->out != b->out ? a->out < b->out : a->queues < b->queues;
}

static unsigned least_loaded(const struct crawl_balance *b, unsigned at)
{
    for (unsigned i = 0; i < b->fetchers; i++)
        if (!b->loads[i].hangs && has_less(&b->loads[i], &b->loads[at]))
            at = i;
    return at;
}

static unsigned base_of(struct crawl_balance *b, uint32_t queue, bool first)
{
    struct bytes key = bytes_of(&queue, sizeof queue);
    unsigned at = queue % b->fetchers, best;
    uintptr_t placed = (uintptr_t)map_get(b->placed, key);

    if (placed > 0)
        return (unsigned)placed - 1;
    if (!first || map_count(b->placed) == PLACED_MOST)
        return at;
    best = least_loaded(b, at);
    (void)map_put(b->placed, key, (void *)((uintptr_t)best + 1));
    b->loads[best].queues++;
    return best;
}

static unsigned next_that_works(const struct crawl_balance *b, unsigned at)
{
    for (unsigned i = 0; i < b->fetchers; i++)
        if (!b->loads[(at + i) % b->fetchers].hangs)
            return (at + i) % b->fetchers;
    return at;
}

/* ---- shared queues ------------------------------------------------------- */

static struct shared *shared_of(struct crawl_balance *b, uint32_t queue,
                                unsigned base)
{
    struct bytes key = bytes_of(&queue, sizeof queue);
    struct shared *s = map_get(b->shared, key);

    if (s != NULL)
        return s;
    s = xcalloc(1, sizeof *s + b->fetchers * sizeof s->parts[0]);
    s->base = s->only = base;
    (void)map_put(b->shared, key, s);
    return s;
}

/* How many connections the `nth` fetcher after a queue's first one has. */
static uint32_t share_of(const struct crawl_balance *b, unsigned nth)
{
    return b->conns / b->fetchers + (nth < b->conns % b->fetchers);
}

/* The fetcher with the least to do of those with a free connection. */
static unsigned pick(const struct crawl_balance *b, const struct shared *s)
{
    unsigned best = b->fetchers;

    for (unsigned i = 0; i < b->fetchers && share_of(b, i) > 0; i++) {
        unsigned at = (s->base + i) % b->fetchers;

        if (b->loads[at].hangs || s->parts[at].out >= share_of(b, i))
            continue;
        if (best == b->fetchers || b->loads[at].out < b->loads[best].out)
            best = at;
    }
    return best < b->fetchers ? best : next_that_works(b, s->base);
}

static unsigned give_shared(struct crawl_balance *b, struct shared *s,
                            bool first, bool *fresh)
{
    unsigned at = s->split ? pick(b, s) : next_that_works(b, s->only);

    *fresh = at == s->base ? first : !s->parts[at].knows;
    s->parts[at].knows = true;
    s->parts[at].out++;
    s->out++;
    return at;
}

unsigned crawl_balance_give(struct crawl_balance *b, uint32_t queue, bool first,
                            bool *fresh)
{
    unsigned base = base_of(b, queue, first), at;

    if (b->conns > 1 && b->fetchers > 1) {
        at = give_shared(b, shared_of(b, queue, base), first, fresh);
    } else {
        at = next_that_works(b, base);
        *fresh = first || at != base;
    }
    b->loads[at].out++;
    return at;
}

/* Forgets a queue without URLs if there are many, unless a fetcher that chance
 * would not give it reads its robots.txt. */
static void forget(struct crawl_balance *b, uint32_t queue, struct shared *s)
{
    if (s->out > 0 || map_count(b->shared) <= SHARED_KEPT ||
        (!s->split && s->only != s->base))
        return;
    free(map_remove(b->shared, bytes_of(&queue, sizeof queue)));
}

void crawl_balance_ended(struct crawl_balance *b, uint32_t queue,
                         unsigned fetcher, enum crawl_balance_end how)
{
    struct shared *s = map_get(b->shared, bytes_of(&queue, sizeof queue));

    assert(fetcher < b->fetchers && b->loads[fetcher].out > 0);
    b->loads[fetcher].out--;
    if (s == NULL)
        return;
    s->parts[fetcher].out--;
    s->out--;
    if (how == CRAWL_BALANCE_DONE && fetcher == s->only)
        s->split = true;
    if (how == CRAWL_BALANCE_RELEASED) {
        s->split = false;
        s->only = fetcher;
    }
    forget(b, queue, s);
}

void crawl_balance_hangs(struct crawl_balance *b, unsigned fetcher, bool hangs)
{
    b->loads[fetcher].hangs = hangs;
}
