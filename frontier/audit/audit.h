/*
 * audit.h - measured dedupe miss rate against the promised one.
 *
 * A Bloom-only crawler drops every new URL that its filter calls "maybe seen".
 * Ours admits it and marks the row, so we know at what rate such a crawler
 * would have lost URLs, for each growth step of the filter, with its 95 %
 * Wilson interval. The same stream can be replayed through other kinds and
 * rates: only new URLs matter to a miss rate, and the store has them in order
 * of arrival.
 */
#ifndef URLWEIR_FRONTIER_AUDIT_AUDIT_H
#define URLWEIR_FRONTIER_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "frontier/reader.h"

struct audit_step {
    uint64_t first, upto;       /* ids of the URLs checked in this step */
    uint64_t asked;             /* new URLs checked */
    uint64_t false_positives;   /* of those, called "maybe seen" */
    double measured, low, high; /* rate and 95 % Wilson interval */
    double promised, predicted; /* predicted: at the end of the step */
    uint64_t keys, bits;        /* of the filter at the end of the step */
    double fill; /* share of bits set, or of slots taken; below 0: not known */
};

#define AUDIT_NAME 64

struct audit_series {
    char name[AUDIT_NAME]; /* "crawl", or "scalable fpr=0.01" */
    /* For a replay; NULL and 0 for the crawl itself. */
    const char *kind;
    double fpr;
    uint64_t made_for;       /* initial capacity */
    double add_ns, check_ns; /* for a new URL, in batches; 0: not measured */
    struct audit_step *steps;
    size_t count;
    struct audit_step total;
};

/* How many URLs each part of the seen check answered, over all runs of a
 * crawl. */
struct audit_answers {
    uint64_t repeats; /* batch table and hot cache: seen just before */
    uint64_t fresh;   /* the filter: certainly new */
    uint64_t known;   /* the filter: maybe; the exact set: it is known */
    uint64_t false_positives; /* the filter: maybe; the exact set: it is new */
};

struct audit {
    struct audit_series crawl;    /* as it happened */
    struct audit_series *what_if; /* one for each kind and rate */
    size_t what_if_count;
    struct audit_answers answers;
    bool filter_checked;      /* filter.ckpt could be read */
    uint64_t filter_covers;   /* ids up to here are in filter.ckpt */
    uint64_t false_negatives; /* of those, called new: must be 0 */
    uint64_t missing;         /* rows that the exact set lacks: must be 0 */
    uint64_t replaced;    /* rows of removed URLs that were put again: the exact
                             set has the later row */
    uint64_t exact_count; /* digests in the exact set */
    uint64_t fetched;     /* as in crawl_counters */
    /* Of them those that a Bloom-only crawler would not have fetched: the URLs
     * it loses, and those that can be reached only through them. Exact if the
     * link graph was recorded; otherwise only the page on which each URL was
     * first found is known, and other pages may link to it too. */
    uint64_t found_through_lost; /* by first finding: the upper bound */
    bool links_recorded;
    uint64_t only_through_lost; /* exact, when links_recorded */
};

/* Each kind is replayed at each rate. Without rates: at the rate of the crawl,
 * or of the list. Without kinds: `scalable`. A `bloom` comes twice, made for
 * the final count and for a tenth of it; `counting` and `cuckoo` are made for
 * the final count, `stacked` for a hundredth, `scalable` starts empty. */
struct audit_options {
    const double *what_if; /* false-positive rates */
    size_t what_if_count;
    const char *const *kinds; /* of filter/filter.h */
    size_t kind_count;
    int64_t (*now)(void); /* ns; NULL: the cost of replays is not measured */
    void (*lost)(void *ctx, const struct url_row *row); /* may be NULL */
    void *ctx;
};

/* Audits a crawl's directory. Memory: 3 bits a URL; with replays 8 bytes a URL
 * more, and the largest of the filters. */
MUST_CHECK enum status audit_crawl(struct audit *out, struct reader *r,
                                   const struct audit_options *o);

/* Audits a list of URLs, given one by one; `fpr` is the rate to promise. */
struct audit_list;
/* *o is borrowed until the list is freed. */
MUST_CHECK enum status audit_list_new(struct audit_list **out, double fpr,
                                      const struct audit_options *o);
/* Adds a URL in canonical form. *fresh: it was new; *lost: it was, but the
 * filter said "maybe seen". */
MUST_CHECK enum status audit_list_add(struct audit_list *l, struct bytes url,
                                      bool *fresh, bool *lost);
/* Ends the list, and replays the other filters. */
MUST_CHECK enum status audit_list_finish(struct audit_list *l,
                                         struct audit *out);
void audit_list_free(struct audit_list *l); /* NULL is fine */

void audit_fini(struct audit *a);

#endif
