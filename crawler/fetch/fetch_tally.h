/*
 * fetch_tally.h - what the requests of a fetcher came to, for a monitor.
 *
 * Each request that ended is counted once by how it ended, retries and
 * robots.txt included; so the sum over the ends is the number of requests less
 * those under way. Times are taken of those that were answered.
 *
 * Threads: the fetcher's writes, any other looks. A response costs some twenty
 * nanoseconds.
 */
#ifndef URLWEIR_CRAWLER_FETCH_FETCH_TALLY_H
#define URLWEIR_CRAWLER_FETCH_FETCH_TALLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"

struct fetch_result;

#define FETCH_TALLY_ENDS 16 /* members of enum fetch_end */
#define FETCH_TALLY_CLASSES                                                    \
    10 /* first digits of HTTP status; 0: no response                          \
        */

/* All zero: nothing has ended. */
struct fetch_tally {
    _Atomic uint64_t ends[FETCH_TALLY_ENDS];
    _Atomic uint64_t classes[FETCH_TALLY_CLASSES];
    /* From a request's beginning, */
    struct histogram connect;    /* until a new connection was open, its name
                                    looked up and TLS agreed on */
    struct histogram first_byte; /* until the response's first octet */
    struct histogram response;   /* until the response was whole */
    struct histogram robots;     /* the same of robots.txt, which stands in
                                    neither of those two */
};

struct fetch_tally_sample {
    uint64_t ends[FETCH_TALLY_ENDS];
    uint64_t classes[FETCH_TALLY_CLASSES];
    struct histogram_sample connect, first_byte, response, robots;
};

/* A request has ended; `robots`: it was for a robots.txt. */
void fetch_tally_note(struct fetch_tally *t, const struct fetch_result *r,
                      bool robots);
/* Adds what `t` holds to *into. */
void fetch_tally_look(const struct fetch_tally *t,
                      struct fetch_tally_sample *into);
/* "answered", "timeout", ... in the words of outcomes; `end` below
 * FETCH_TALLY_ENDS. Static. */
const char *fetch_tally_end_name(unsigned end);

#endif
