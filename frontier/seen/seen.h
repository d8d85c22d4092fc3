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

#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/status.h"
#include "filter/filter.h"
#include "storage/index/exact_set.h"

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
