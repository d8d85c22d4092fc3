/*
 * audit.h - measured dedupe miss rate against the promised one.
 *
 * A Bloom-only crawler drops every new URL that its filter calls "maybe seen".
 * Ours admits it and marks the row, so the rate at which such a crawler would
 * have lost URLs is on record, for each growth step of the filter, with its
 * 95 % Wilson interval. The same stream can be replayed through other kinds and
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
    uint64_t first, upto;       /* ids of the URLs that were asked in it */
    uint64_t asked;             /* new URLs asked */
    uint64_t false_positives;   /* of them called "maybe seen" */
    double measured, low, high; /* rate and its 95 % Wilson interval */
    double promised, predicted; /* predicted: at the end of the step */
    uint64_t keys, bits;        /* of the filter at the end of the step */
    double fill; /* share of bits set, or of slots taken; below 0: not known */
};

#define AUDIT_NAME 64

struct audit_series {
    char name[AUDIT_NAME]; /* "crawl", or "scalable fpr=0.01" */
    /* Of a replay; NULL and 0 for the crawl itself. */
    const char *kind;
    double fpr;
    uint64_t made_for;       /* keys it was made for at first */
    double add_ns, check_ns; /* a new URL, in batches; 0: not measured */
    struct audit_step *steps;
    size_t count;
    struct audit_step total;
};

/* Who answered how often, over all runs of a crawl. */
struct audit_answers {
    uint64_t repeats; /* seen on the same page, or just before: hot cache */
    uint64_t fresh;   /* the filter: certainly new */
    uint64_t known;   /* the filter: maybe; the exact set: it is known */
    uint64_t false_positives; /* the filter: maybe; the exact set: it is new */
};

struct audit {
    struct audit_series crawl;    /* as it happened */
    struct audit_series *what_if; /* one for each kind and rate asked for */
    size_t what_if_count;
    struct audit_answers answers;
    bool filter_checked;      /* filter.ckpt could be read */
    uint64_t filter_covers;   /* ids up to here are in it */
    uint64_t false_negatives; /* of them called new: must be 0 */
    uint64_t missing;         /* rows that the exact set lacks: must be 0 */
    uint64_t replaced;        /* rows of removed URLs that were put again: their
                                 entries are those of the later rows */
    uint64_t exact_count;     /* digests in the exact set */
    uint64_t pages;           /* fetched */
    /* Of them those that a Bloom-only crawler would not have fetched: the URLs
     * it loses, and what leads through them alone. Exact where the link graph
     * was recorded; else all that is known is the page on which each URL was
     * first found, and another may have linked to it too. */
    uint64_t found_through_lost; /* by first finding: the upper bound */
    bool links_recorded;
    uint64_t only_through_lost; /* exact, when links_recorded */
};

/* Each kind is replayed at each rate. Kinds alone: at the rate of the crawl, or
 * of the list. Rates alone: `scalable`. A `bloom` comes twice, made for the
 * final count and for a tenth of it; `counting` and `cuckoo` are made for the
 * final count, `stacked` for a hundredth, `scalable` for nothing. */
struct audit_options {
    const double *what_if; /* false-positive rates */
    size_t what_if_count;
    const char *const *kinds; /* of filter/filter.h */
    size_t kind_count;
    int64_t (*now)(void); /* ns; NULL: what replays cost is not measured */
    void (*lost)(void *ctx, const struct url_row *row); /* may be NULL */
    void *ctx;
};

/* Of a crawl's directory. Memory: 3 bits a URL; where something is replayed 8
 * bytes a URL more, and the largest of its filters. */
MUST_CHECK enum status audit_crawl(struct audit *out, struct reader *r,
                                   const struct audit_options *o);

/* Of a list of URLs, one after the other; `fpr` is the rate to promise. */
struct audit_list;
/* *o is used until the end. */
MUST_CHECK enum status audit_list_new(struct audit_list **out, double fpr,
                                      const struct audit_options *o);
/* Canonical text. *fresh: it was new; *lost: the filter said otherwise. */
MUST_CHECK enum status audit_list_add(struct audit_list *l, struct bytes url,
                                      bool *fresh, bool *lost);
/* Ends it, and replays what is asked for. */
MUST_CHECK enum status audit_list_finish(struct audit_list *l,
                                         struct audit *out);
void audit_list_free(struct audit_list *l); /* NULL is fine */

void audit_fini(struct audit *a);

#endif
