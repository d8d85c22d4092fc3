/*
 * stats.h - what a monitor is told of an engine, beyond engine_stats.
 *
 * Taken on the frontier thread, a few times a second at most, and handed to
 * others as a copy; so a monitor never takes this thread's time, nor touches
 * the store. Taking it costs some ten microseconds, and the census of hosts a
 * bounded part of a lap (below).
 */
#ifndef URLWEIR_FRONTIER_STATS_H
#define URLWEIR_FRONTIER_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "filter/filter.h"
#include "frontier/engine.h"
#include "frontier/outcome.h"

/* Hosts by whether they could be asked, counted in laps over all of them: a
 * few thousand in one go, so that a crawl of a million hosts is not held up. Of
 * few hosts it is as they are now, of many as the last whole lap found them. */
struct host_stats {
    uint64_t ready;   /* due: a fetcher with room would be given their URLs */
    uint64_t blocked; /* by Retry-After, back-off or a person */
    uint64_t dead;    /* given up in this run */
};

/* The filter of the seen check: what it is, and how often it was wrong. */
struct seen_filter_stats {
    bool used;     /* false: there is none, and all else is zero */
    bool overfull; /* it no longer keeps its promise (filter.h) */
    char kind[16]; /* "scalable" */
    uint64_t keys, bits;
    uint64_t bytes;    /* of the program's memory; a remote one has none */
    uint64_t segments; /* parts that are built by themselves */
    uint64_t rebuilds; /* of this run */
    double fill;     /* share of its bits or slots in use, and of each group */
    unsigned groups; /*   of segments */
    float group_fill[FILTER_GROUPS];
    double promised, predicted; /* rates of false positives */
    /* Of the new URLs it was asked about it called this share "maybe seen", and
     * the 95 % interval of that (Wilson, 1927); 0 to 1 before the first. */
    uint64_t asked;
    double measured, low, high;
};

/* URLs that failed, by why: "http_404", "timeout". */
#define STATS_FAILURES 24 /* that are told apart */
struct failure_stats {
    char why[24]; /* "other": all past the others */
    uint64_t count;
};

/* All of it but `hosts` and the gauges of the filter only rises in a run;
 * what is not said to be of this run is of the crawl, over all runs. */
struct frontier_stats {
    /* URLs by their last word; [..][REASON_HTTP] by the status' first digit */
    uint64_t done[OUTCOME_STATUS_COUNT_][REASON_COUNT_];
    uint64_t done_http[OUTCOME_STATUS_COUNT_][10];
    struct failure_stats failures[STATS_FAILURES]; /* most first */
    unsigned failure_count;
    uint64_t dropped[REASON_COUNT_]; /* links, before admission */
    uint64_t retries;
    uint64_t same_content; /* pages whose body had been seen before */
    uint64_t blocklist_false_positives, blocklist_unsure;
    uint64_t digest_collisions;
    /* answers of the seen check, each link in one of these */
    uint64_t in_batch, hot;               /* seen: known without the filter */
    uint64_t certainly_new;               /* the filter said so */
    uint64_t maybe_seen, false_positives; /* "maybe", rightly and wrongly */
    uint64_t unsure; /* the filter could not be asked: a remote one */
    struct seen_filter_stats filter;
    struct host_stats hosts;
    /* of this run */
    struct histogram_stats commits;     /* how long each took, until synced */
    struct histogram_stats checkpoints; /* those that succeeded */
    uint64_t checkpoints_failed;
    int64_t checkpoint_ms; /* wall clock, of the last one; 0: none yet */
    bool saving;           /* one is being written */
};

struct seen_store;

/* Of a store and its seen check: all but the hosts. Frontier thread. */
void frontier_stats_of_seen(struct seen_store *s, struct frontier_stats *out);

/* ---- what the store alone knows: also of a crawl that nobody runs ---- */

struct frontier_store;

/* All but the gauges of a running engine: leased, withheld, queues_active,
 * memory and commits are 0. A dozen look-ups by name. */
void engine_stats_of_store(const struct frontier_store *s,
                           struct engine_stats *out);
/* All up to `unsure`, as of the last commit, and filter.overfull as of the last
 * checkpoint; the rest is 0. */
void frontier_stats_of_store(const struct frontier_store *s,
                             struct frontier_stats *out);

#endif
