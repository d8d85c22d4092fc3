/*
 * hot_cache.h - the digests that links name most, in memory.
 *
 * The first look of the seen check after the batch itself: a digest found here
 * was admitted before. It has sets of six digests, 64 octets each. A hit moves
 * a digest up one place and a new one enters at the third, so that one pass of
 * rare URLs cannot evict the popular ones. The cache may grow and shrink while
 * it is used; memory is touched only as far as it has grown. One thread.
 *
 * An entry keeps 99 of a digest's 128 bits: its hi, and of its lo the top 35,
 * some of which the number of its set says. So two URLs in 6e29 are taken for
 * one: at 1e9 URLs, with all of them in the cache, the chance that this happens
 * to any is below 1e-12, and with a cache of 128 MiB below 1e-13.
 */
#ifndef URLWEIR_FRONTIER_SEEN_HOT_CACHE_H
#define URLWEIR_FRONTIER_SEEN_HOT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/status.h"

#define HOT_WAYS  6
#define HOT_LEAST ((uint64_t)1 << 20) /* octets */

struct hot_set {
    uint64_t hi[HOT_WAYS];    /* 0: free */
    uint16_t place[HOT_WAYS]; /* the low 16 bits of hot_place() */
    uint32_t more;            /* five bits of lo for each, from the lowest */
};

struct hot_cache {
    struct hot_set *sets;
    uint32_t count; /* in use */
    uint32_t most;  /* that there is room for */
    bool touched;   /* something was added */
};

/* Room for `bytes`, HOT_LEAST at least, all of it in use. STATUS_NOMEM. */
MUST_CHECK enum status hot_cache_init(struct hot_cache *c, uint64_t bytes);
void hot_cache_fini(struct hot_cache *c); /* all zero is fine */

/* Uses as much as fits into `bytes`, at least HOT_LEAST and at most the room it
 * was made with. Keeps what it has as far as that fits; takes some nanoseconds
 * an entry. */
void hot_cache_resize(struct hot_cache *c, uint64_t bytes);
uint64_t hot_cache_memory(const struct hot_cache *c);

bool hot_cache_has(struct hot_cache *c, struct digest d);
/* Call it for digests that are not there. */
void hot_cache_add(struct hot_cache *c, struct digest d);

#define HOT_PLACE_BITS 30

/* Where a digest is among all; sets divide these numbers among them. */
static inline uint32_t hot_place(struct digest d)
{
    return (uint32_t)(d.lo >> (64 - HOT_PLACE_BITS));
}

/* Sets are in the order of their places, so a resize moves each of them in one
 * direction. */
static inline struct hot_set *hot_cache_set_at(const struct hot_cache *c,
                                               uint32_t place)
{
    return &c->sets[(uint64_t)place * c->count >> HOT_PLACE_BITS];
}

static inline struct hot_set *hot_cache_set(const struct hot_cache *c,
                                            struct digest d)
{
    return hot_cache_set_at(c, hot_place(d));
}

#endif
