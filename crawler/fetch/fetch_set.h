/*
 * fetch_set.h - the transfers of one fetcher, with their deadlines.
 *
 * Reuses handles, ends each transfer at its deadline, and resumes those that
 * wait for the body pool or the rate limit; that waiting does not count as the
 * server's time. One thread owns a set; fetch_set_wake may be called by any.
 */
#ifndef URLWEIR_CRAWLER_FETCH_FETCH_SET_H
#define URLWEIR_CRAWLER_FETCH_FETCH_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/status.h"
#include "crawler/fetch/fetch.h"

struct fetch_set;

/* `o`, `counters` and `in_hand` (may be NULL) must outlive the set. */
MUST_CHECK enum status fetch_set_new(struct fetch_set **out,
                                     const struct fetcher_options *o,
                                     struct fetcher_counters *counters,
                                     struct in_hand_slot *in_hand);
/* Call it when nothing is active. NULL is fine. */
void fetch_set_free(struct fetch_set *s);

/* False: the rate limit is exceeded; ask again after the next turn. */
bool fetch_set_may_start(struct fetch_set *s, int64_t now);
/* Begin a transfer on behalf of `ctx`. If the guard refuses its URL, it ends at
 * once as FETCH_ADDRESS or FETCH_PORT. False: no memory for one. */
bool fetch_set_start(struct fetch_set *s, const struct fetch_order *order,
                     void *ctx, int64_t now, int64_t wall_ms);
/* Wait for something to do, `until` at the latest, and do it. */
void fetch_set_turn(struct fetch_set *s, int64_t until);
/* The next transfer that has ended or timed out; NULL: no more. The caller
 * returns it with fetch_set_recycle; *r is valid until then. */
struct fetch *fetch_set_next_ended(struct fetch_set *s, int64_t now,
                                   struct fetch_result *r);
void fetch_set_recycle(struct fetch_set *s, struct fetch *f);
/* All active transfers end as FETCH_STOPPED. */
void fetch_set_abort(struct fetch_set *s);

void fetch_set_wake(struct fetch_set *s);

/* ---- counts of a fetcher's requests by result ---- */

/*
 * Each request that ended is counted once by how it ended, retries and
 * robots.txt included; so the sum over the ends is the number of requests minus
 * active ones. Times are taken of answered requests.
 *
 * Threads: the fetcher's writes, any may read. A response costs some twenty
 * nanoseconds.
 */

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
