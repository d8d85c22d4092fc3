/*
 * fetch_stats.h - counts of a fetcher's requests by result.
 *
 * Each request that ended is counted once by how it ended, retries and
 * robots.txt included; so the sum over the ends is the number of requests minus
 * active ones. Times are taken of answered requests.
 *
 * Threads: the fetcher's writes, any may read. A response costs some twenty
 * nanoseconds.
 */
#ifndef URLWEIR_CRAWLER_FETCH_FETCH_STATS_H
#define URLWEIR_CRAWLER_FETCH_FETCH_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"

struct fetch_result;

#define FETCH_STATS_ENDS    16 /* members of enum fetch_end */
#define FETCH_STATS_CLASSES 10 /* first digits of HTTP status; 0: no response */

/* All zero: nothing has ended. */
struct fetch_counters {
    _Atomic uint64_t ends[FETCH_STATS_ENDS];
    _Atomic uint64_t classes[FETCH_STATS_CLASSES];
    /* From a request's beginning, */
    struct histogram connect; /* until a new connection was open, with look-up
                                 and TLS handshake */
    struct histogram first_byte; /* until the response's first octet */
    struct histogram response;   /* until the response was whole */
    struct histogram robots; /* of robots.txt, which is not in the two above */
};

struct fetch_stats {
    uint64_t ends[FETCH_STATS_ENDS];
    uint64_t classes[FETCH_STATS_CLASSES];
    struct histogram_stats connect, first_byte, response, robots;
};

/* A request has ended; `robots`: it was for a robots.txt. */
void fetch_stats_note(struct fetch_counters *t, const struct fetch_result *r,
                      bool robots);
/* Adds the counts of `t` to *into. */
void fetch_stats_add(const struct fetch_counters *t, struct fetch_stats *into);
/* "answered", "timeout", ... in the words of outcomes; `end` below
 * FETCH_STATS_ENDS. Static. */
const char *fetch_stats_end_name(unsigned end);

#endif
