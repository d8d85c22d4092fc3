/*
 * seen.h - in-batch dedupe, hot cache, filter, exact set; counts of each.
 *
 * The one question of a crawl, asked of every link: was this URL admitted
 * before? Exact: the filter may say "maybe" wrongly, and then the exact set
 * settles it. Links of several pages are asked together, so that repeats
 * inside the batch cost a hash probe, and the exact set reads each of its
 * pages once. Owned by the frontier thread.
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

/* Both are borrowed and outlive the result. `filter` NULL: every question that
 * the hot cache cannot answer goes to the exact set. `hot_bytes` is rounded
 * down to a power of two, 4 KiB at least. */
MUST_CHECK enum status seen_new(struct seen **out, struct filter *filter,
                                struct exact_set *exact, uint64_t hot_bytes);
void seen_free(struct seen *s); /* NULL is fine */
/* Ask `filter` too from here on; it holds every digest of the exact set. */
void seen_use_filter(struct seen *s, struct filter *filter);

/* Of equal digests in one call the first may be new, the others are not. The
 * caller admits every new one with seen_admit before the next call. */
MUST_CHECK enum status seen_check(struct seen *s, const struct digest *digests,
                                  size_t n, enum seen_answer *answers);
/* The same, and ids[i] is the id of one that was there before this call, if the
 * exact set was asked for it; 0 if not. */
MUST_CHECK enum status seen_find(struct seen *s, const struct digest *digests,
                                 size_t n, enum seen_answer *answers,
                                 uint64_t *ids);
/* `n` new digests, whose url rows are written: the first got `first_id`, the
 * others the ids that follow. */
MUST_CHECK enum status seen_admit(struct seen *s, const struct digest *digests,
                                  size_t n, uint64_t first_id);

struct seen_counts {
    uint64_t asked;
    uint64_t in_batch;        /* repeats inside a batch */
    uint64_t hot;             /* answered by the hot cache */
    uint64_t filter_new;      /* "certainly new" */
    uint64_t filter_maybe;    /* "maybe seen": settled by the exact set */
    uint64_t false_positives; /* of them new after all */
    uint64_t unsure; /* the filter could not be asked: left to the exact set */
};
struct seen_counts seen_counts(const struct seen *s);
uint64_t seen_memory(const struct seen *s);

#endif
