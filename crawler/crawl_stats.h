/*
 * crawl_stats.h - the counters of a crawl: one table.
 *
 * Each counter is described once: its name, what it counts, over what it is
 * summed, and where it is in a struct crawl_stats. `urlweir status`, --progress
 * json, the summary, the HTTP API and the metrics all read this table, and so
 * do the tables in docs/formats (tools/doc-tables.sh tables), so a counter has
 * one name and one meaning wherever it is shown. Counts with labels of their
 * own, such as outcomes by reason, are in frontier/stats.h.
 *
 * Threads: the table is constant; a struct crawl_stats belongs to its owner.
 */
#ifndef URLWEIR_CRAWLER_CRAWL_STATS_H
#define URLWEIR_CRAWLER_CRAWL_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/crawl.h"

struct frontier_store;

enum counter_kind {
    COUNTER_CRAWL, /* a sum over all runs; the store keeps it */
    COUNTER_RUN,   /* a sum that begins at 0 with each run */
    COUNTER_STATE, /* a gauge that the store can give too */
    COUNTER_LIVE,  /* a gauge of the process that runs the crawl */
    COUNTER_KINDS
};
/* "crawl", "run", "state", "live". */
const char *counter_kind_name(enum counter_kind kind);

struct crawl_counter {
    const char *name;  /* its key in JSON */
    const char *title; /* its row in `urlweir status`; NULL: JSON only */
    const char *unit;  /* "URLs" */
    const char *help;  /* what it counts, as a phrase */
    enum counter_kind kind;
    bool rare; /* people see the row only if it is not 0 */
    /* The name of its metric family after "urlweir_crawl_". With `label`, other
     * code writes the family, one series for each value of that label: this
     * counter is the series with `value`, or, if `value` is NULL, the sum of
     * all. */
    const char *metric, *label, *value;
    size_t at; /* offset of its uint64_t in struct crawl_stats */
};

#define CRAWL_COUNTERS 66
extern const struct crawl_counter crawl_counters[CRAWL_COUNTERS];

/* An equation between counters, of a crawl's whole life so far;
 * tests/cli/numbers.sh holds every view of a crawl to each of them. */
struct crawl_sum {
    const char *sum, *why;
};
#define CRAWL_SUMS 3
extern const struct crawl_sum crawl_sums[CRAWL_SUMS];

uint64_t crawl_counter_value(const struct crawl_counter *c,
                             const struct crawl_stats *s);
/* The value of a counter that is in `frontier`; the served frontier has no
 * others. */
uint64_t crawl_counter_of_frontier(const struct crawl_counter *c,
                                   const struct frontier_stats *w);
/* Is the counter known for a crawl that no process runs? */
bool crawl_counter_is_stored(const struct crawl_counter *c);

/* Fills in those parts of `out` (zeroed by the caller) that the store knows:
 * the stored counters, outcomes and drops by reason, and whether the filter was
 * overfull at the last checkpoint. Reads every host queue. */
void crawl_stats_of_store(const struct frontier_store *store,
                          struct crawl_stats *out);

#endif
