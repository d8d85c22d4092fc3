/*
 * hot_cache.h - the digests that links name most, in memory.
 *
 * The first look of the seen check after the batch itself: a digest found here
 * was admitted before. It has sets of four digests, 64 octets each. A hit moves
 * a digest up one place and a new one enters at the third, so that one pass of
 * rare URLs cannot evict the popular ones. The cache may grow and shrink while
 * it is used; memory is touched only as far as it has grown. One thread.
 */
#ifndef URLWEIR_FRONTIER_SEEN_HOT_CACHE_H
#define URLWEIR_FRONTIER_SEEN_HOT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/status.h"

#define HOT_WAYS 4

struct hot_set {
    struct digest way[HOT_WAYS]; /* all zero: free */
};

struct hot_cache {
    struct hot_set *sets;
    uint32_t count; /* in use */
    uint32_t most;  /* that there is room for */
    bool touched;   /* something was added */
};

/* Room for `bytes`, 4 KiB at least, all of it in use. STATUS_NOMEM. */
MUST_CHECK enum status hot_cache_init(struct hot_cache *c, uint64_t bytes);
void hot_cache_fini(struct hot_cache *c); /* all zero is fine */

/* Uses as much as fits into `bytes`, at least 4 KiB and at most the room it was
 * made with. Keeps what it has as far as that fits; takes some nanoseconds an
 * entry. */
void hot_cache_resize(struct hot_cache *c, uint64_t bytes);
uint64_t hot_cache_memory(const struct hot_cache *c);

bool hot_cache_has(struct hot_cache *c, struct digest d);
void hot_cache_add(struct hot_cache *c, struct digest d);

/* Sets are in the order of their digests, so a resize moves each of them in one
 * direction. */
static inline struct hot_set *hot_cache_set(const struct hot_cache *c,
                                            struct digest d)
{
    return &c->sets[(d.lo >> 32) * c->count >> 32];
}

#endif
