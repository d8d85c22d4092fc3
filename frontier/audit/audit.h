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
#include <stdlib.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"
#include "frontier/reader.h"
#include "storage/rows/link_store.h"

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

/* ---- a set of row ids, one bit each ---- */

/* For passes over a whole crawl (reachability_without and the audit itself). */

struct id_bits {
    uint8_t *bits;
    uint64_t most; /* ids up to here have a bit */
};

/* Empty, for ids 0 to `most`. */
MUST_CHECK static inline enum status id_bits_init(struct id_bits *b,
                                                  uint64_t most)
{
    *b = (struct id_bits){try_calloc(most / 8 + 1, 1), most};
    return b->bits != NULL ? STATUS_OK : STATUS_NOMEM;
}

static inline void id_bits_fini(struct id_bits *b)
{
    free(b->bits);
    b->bits = NULL;
}

/* False for an id past `most`. */
static inline bool id_bits_has(const struct id_bits *b, uint64_t id)
{
    return id <= b->most && (b->bits[id / 8] >> id % 8 & 1) != 0;
}

/* False: the id is past `most` and was not added. */
static inline bool id_bits_add(struct id_bits *b, uint64_t id)
{
    if (id > b->most)
        return false;
    b->bits[id / 8] |= (uint8_t)(1U << id % 8);
    return true;
}

/* ---- reachability ---- */

/*
 * Which URLs can be reached from the seeds without some others.
 *
 * Follows the recorded link graph, redirects included
 * (storage/rows/link_store.h). It needs no memory but the caller's bits,
 * whatever the number of links: it reads the table from start to end until a
 * pass finds nothing new. Rows are in the order in which pages were fetched, so
 * one pass follows every path that the crawl itself took, and a few more passes
 * find the others.
 */

/* `reached` holds the seeds. Adds all URLs that can be reached from them
 * without passing through, or ending at, one of `without`. */
MUST_CHECK enum status reachability_without(struct link_store *links,
                                            const struct id_bits *without,
                                            struct id_bits *reached);

#endif
