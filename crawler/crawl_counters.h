/*
 * crawl_counters.h - the counters of a crawl: one table.
 *
 * Each counter is described once: its name, what it counts, how it adds up and
 * where it is in a struct crawl_stats. `urlweir status`, --progress json, the
 * summary, the HTTP API and the metrics all read this table, and so do the
 * tables in docs/formats (tools/doc-tables.sh tables), so a counter has one
 * name and one meaning wherever it is shown. What has labels of its own, such
 * as outcomes by reason, is not here: see frontier/stats.h.
 *
 * Threads: the table is constant; crawl_stats belong to its owner.
 */
#ifndef URLWEIR_CRAWLER_CRAWL_COUNTERS_H
#define URLWEIR_CRAWLER_CRAWL_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/crawl.h"

struct frontier_store;

enum counter_kind {
    COUNTER_CRAWL, /* a sum over all runs; the store keeps it */
    COUNTER_RUN,   /* a sum that begins at 0 with each run */
    COUNTER_STATE, /* a gauge that can be read off the store as well */
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
    /* Its metric family behind "urlweir_crawl_". With `label`, the family is
     * written elsewhere, one series for each value of that label: this counter
     * is the series with `value`, or with `value` NULL the sum of all. */
    const char *metric, *label, *value;
    size_t at; /* of its uint64_t in struct crawl_stats */
};

#define CRAWL_COUNTERS 43
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
/* Of one whose place is in `frontier`: all that the served frontier has. */
uint64_t crawl_counter_of_frontier(const struct crawl_counter *c,
                                   const struct frontier_stats *w);
/* Can it be told of a crawl that no process runs? */
bool crawl_counter_is_stored(const struct crawl_counter *c);

/* Fills in `out`, zeroed before, what the store alone knows: the stored
 * counters, outcomes and drops by reason, and whether the filter was overfull
 * at the last checkpoint. Looks at every host queue. */
void crawl_stats_of_store(const struct frontier_store *store,
                          struct crawl_stats *out);

#endif
