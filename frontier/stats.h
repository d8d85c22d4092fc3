/*
 * stats.h - stats of a frontier for monitoring, beyond frontier_counts.
 *
 * Taken on the frontier thread, a few times a second at most, and handed to
 * others as a copy; so monitoring takes no time of this thread and does not
 * touch the store. Taking them costs some ten microseconds, plus a bounded part
 * of the census of hosts (below).
 */
#ifndef URLWEIR_FRONTIER_STATS_H
#define URLWEIR_FRONTIER_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "filter/filter.h"
#include "frontier/frontier.h"
#include "frontier/outcome.h"

/* Hosts by state, counted in laps over all of them, a few thousand at a time,
 * so that a crawl of a million hosts is not held up. With few hosts the counts
 * are current; with many, they are those of the last whole lap. */
struct host_stats {
    uint64_t ready;   /* due: their URLs can be leased now */
    uint64_t blocked; /* by Retry-After, back-off or a person */
    uint64_t dead;    /* given up in this run */
};

/* The filter of the seen check: kind, size and error rates. */
struct seen_filter_stats {
    bool used;     /* false: no filter, and all else is zero */
    bool overfull; /* no longer at its promised rate (filter.h) */
    char kind[16]; /* "scalable" */
    uint64_t keys, bits;
    uint64_t bytes;    /* of our memory; 0 if remote */
    uint64_t segments; /* parts that are rebuilt separately */
    uint64_t rebuilds; /* of this run */
    double fill;     /* share of its bits or slots in use, and of each group */
    unsigned groups; /*   of segments */
    float group_fill[FILTER_GROUPS];
    double promised, predicted; /* rates of false positives */
    /* The share of new URLs that it called "maybe seen", and its 95 % interval
     * (Wilson, 1927); 0 to 1 before the first. */
    uint64_t asked;
    double measured, low, high;
};

/* URLs that failed, by reason: "http_404", "timeout". */
#define STATS_FAILURES 24 /* different reasons that are listed */
struct failure_stats {
    char why[24]; /* "other": all further reasons */
    uint64_t count;
};

/* Everything except `hosts` and the gauges of the filter only rises in a run.
 * Values are over all runs of the crawl unless they say otherwise. */
struct frontier_stats {
    /* URLs by outcome; [..][REASON_HTTP] by the status' first digit */
    uint64_t done[OUTCOME_STATUS_COUNT_][REASON_COUNT_];
    uint64_t done_http[OUTCOME_STATUS_COUNT_][10];
    struct failure_stats failures[STATS_FAILURES]; /* most first */
    unsigned failure_count;
    uint64_t dropped[REASON_COUNT_]; /* links, before admission */
    uint64_t retries;
    uint64_t same_content; /* pages whose body had been seen before */
    uint64_t traps;        /* families of URLs that were told to be endless */
    uint64_t near_dup;     /* pages whose text is nearly that of another */
    uint64_t blocklist_false_positives, blocklist_unsure;
    uint64_t digest_collisions;
    /* answers of the seen check, each link in one of these */
    uint64_t in_batch, hot;               /* seen: known without the filter */
    uint64_t certainly_new;               /* the filter said so */
    uint64_t maybe_seen, false_positives; /* "maybe", right and wrong */
    uint64_t unsure;                      /* a remote filter was out of reach */
    struct seen_filter_stats filter;
    struct host_stats hosts;
    /* of this run */
    struct histogram_stats commits;     /* durations, until synced */
    struct histogram_stats checkpoints; /* those that succeeded */
    uint64_t checkpoints_failed;
    int64_t checkpoint_ms; /* wall clock, of the last one; 0: none yet */
    bool saving;           /* one is being written */
};

struct seen_store;

/* Stats of a store and its seen check: everything except hosts. Frontier
 * thread. */
void frontier_stats_of_seen(struct seen_store *s, struct frontier_stats *out);

/* ---- from the store alone: also for a crawl that is not running ---- */

struct frontier_store;

/* Everything except gauges of a running frontier: leased,
 * queues_active and commits are 0. Takes a dozen look-ups by name. */
void frontier_counts_of_store(const struct frontier_store *s,
                              struct frontier_counts *out);
/* All fields up to `unsure`, as of the last commit, and filter.overfull as of
 * the last checkpoint; the rest is 0. */
void frontier_stats_of_store(const struct frontier_store *s,
                             struct frontier_stats *out);

#endif
