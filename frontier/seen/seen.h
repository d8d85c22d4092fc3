/*
 * seen.h - in-batch dedupe, hot cache, filter, exact set; counts of each.
 *
 * Answers one question about every link of a crawl: was this URL admitted
 * before? The answer is exact: the filter may say "maybe" wrongly, and then the
 * exact set decides. Links of several pages are checked together, so that
 * repeats inside the batch cost a hash probe, and the exact set reads each of
 * its pages once. Owned by the frontier thread.
 */
#ifndef URLWEIR_FRONTIER_SEEN_SEEN_H
#define URLWEIR_FRONTIER_SEEN_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/status.h"
#include "filter/filter.h"
#include "storage/index/exact_set.h"

/* Octets that the frontier holds. */
struct frontier_memory {
    uint64_t all;      /* the sum of: */
    uint64_t filter;   /* in this process */
    uint64_t hot;      /* the seen check's hot cache and batches */
    uint64_t exact;    /* fences, cached pages and new digests of the exact set,
                          and of the indexes of pages */
    uint64_t database; /* SQLite's page cache and statements */
    uint64_t queues;   /* names, pending URLs, and hosts with work */
};

/*
 * The hot cache: the digests that links name most, in memory.
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

struct seen;

enum seen_answer {
    SEEN_NEW = 0,            /* the filter said: certainly new */
    SEEN_NEW_FALSE_POSITIVE, /* "maybe", but the exact set does not have it */
    SEEN_BEFORE
};

/* Both are borrowed and outlive the result. `filter` NULL: the exact set
 * answers everything that the hot cache cannot. `hot_bytes`: of the hot cache,
 * 1 MiB at least. */
MUST_CHECK enum status seen_new(struct seen **out, struct filter *filter,
                                struct exact_set *exact, uint64_t hot_bytes);
void seen_free(struct seen *s); /* NULL is fine */
/* Uses no more than `hot_bytes` of the hot cache's memory from now on, and what
 * seen_new was given at most. */
void seen_resize(struct seen *s, uint64_t hot_bytes);
/* Use `filter` too from now on; it must hold every digest of the exact set. */
void seen_use_filter(struct seen *s, struct filter *filter);

/* Of equal digests in one call the first may be new, the others are not. The
 * caller admits every new one with seen_admit before the next call. */
MUST_CHECK enum status seen_check(struct seen *s, const struct digest *digests,
                                  size_t n, enum seen_answer *answers);
/* As seen_check. ids[i] is the id of a digest that was known before this call,
 * if the exact set was asked; else 0. */
MUST_CHECK enum status seen_find(struct seen *s, const struct digest *digests,
                                 size_t n, enum seen_answer *answers,
                                 uint64_t *ids);
/* Adds `n` new digests whose url rows are written: the first has id `first_id`,
 * the others the ids that follow. */
MUST_CHECK enum status seen_admit(struct seen *s, const struct digest *digests,
                                  size_t n, uint64_t first_id);

struct seen_counts {
    uint64_t asked;
    uint64_t in_batch;        /* repeats inside a batch */
    uint64_t hot;             /* answered by the hot cache */
    uint64_t filter_new;      /* "certainly new" */
    uint64_t filter_maybe;    /* "maybe seen": settled by the exact set */
    uint64_t false_positives; /* of those, new after all */
    uint64_t unsure;          /* filter out of reach: left to the exact set */
};
struct seen_counts seen_counts(const struct seen *s);
uint64_t seen_memory(const struct seen *s);
uint64_t seen_hot_memory(const struct seen *s); /* the hot cache's part */

#endif
