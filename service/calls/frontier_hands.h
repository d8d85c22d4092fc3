/*
 * frontier_hands.h - the threads of a service whose URLs are in a cluster
 * (frontier/shared/shared.h), instead of the frontier thread.
 *
 *   submit ─► waiting puts ──► one thread: gathers them, puts them together
 *          ├► gets, settles ─► some threads, each with one call at a time
 *          └► other calls ───► some others
 *
 * Nothing of the frontier is in this process, so calls need no order among
 * each other; only puts keep theirs. A call that servers do not answer holds up
 * its own thread, and one that asks all shards no GET.
 *
 * For the files of frontier_service_impl.h.
 */
#ifndef URLWEIR_SERVICE_CALLS_FRONTIER_HANDS_H
#define URLWEIR_SERVICE_CALLS_FRONTIER_HANDS_H

#include "frontier/shared/shared.h"
#include "service/calls/call_puts.h"
#include "service/calls/frontier_service_impl.h"

#define FRONTIER_HANDS   16 /* the first one puts, the last one counts */
#define FRONTIER_GETTERS 8  /* of those between them */

/* One thread. */
struct frontier_hand {
    struct frontier_service *s;
    struct shared_hand *shared;
    pthread_t thread;
    bool has_thread;
    struct call_line *line; /* of those that carry out other calls */
    enum status trouble;    /* of the call: an operation failed */
    struct call_puts puts;
    const struct bytes *names; /* of the call */
    size_t name_count;
};

/* Calls that wait, and those who wait for them; under the service's mtx. */
struct call_line {
    struct call_list calls;
    pthread_cond_t arrived;
};

struct frontier_hands {
    struct frontier_hand hand[FRONTIER_HANDS];
    struct call_line gets, others;
    pthread_cond_t stop;  /* the service stops */
    pthread_mutex_t told; /* guards the histograms */
};

/* Starts the threads, for the frontier of the options. */
MUST_CHECK enum status frontier_hands_open(struct frontier_service *s);
/* Adds a call to those that wait; under the service's mtx. */
void frontier_hands_add(struct frontier_service *s, struct frontier_call *call);
/* Carries out what waits, as far as servers answer within some seconds, and
 * ends the threads. The frontier takes no more calls then. */
void frontier_hands_close(struct frontier_service *s);

/* For call_execute, with a hand as `of` (call_shared.c). */
extern const struct call_ops call_shared_ops;

#endif
