/*
 * frontier_service_impl.h - the inside of the service, shared by its files.
 *
 *   frontier_service.c  the frontier thread and the way to it
 *   call_served.c       its operations for a call
 *
 * No other file includes this.
 */
#ifndef URLWEIR_SERVICE_CALLS_FRONTIER_SERVICE_IMPL_H
#define URLWEIR_SERVICE_CALLS_FRONTIER_SERVICE_IMPL_H

#include <pthread.h>

#include "frontier/served/served.h"
#include "service/calls/call.h"
#include "service/calls/call_ops.h"
#include "service/calls/frontier_service.h"

/* Items of a PUT as served.h takes them; all zero: none. */
struct call_puts {
    struct url_put *list;
    size_t room;
    struct arena *keys; /* those that are not spelt so in their URLs */
};

struct call_list {
    struct frontier_call *head, *tail;
};

struct frontier_service {
    struct frontier_service_options o; /* with copies of its strings */
    char *node;
    pthread_t thread;

    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t arrived;
    struct call_list waiting;
    size_t waiting_items;
    bool asleep;  /* the frontier thread waits for `arrived` */
    bool refused; /* a submit returned STATUS_AGAIN */
    bool stopping;
    struct frontier_service_stats stats;
    struct frontier_stats frontier;

    /* written by the frontier thread, read by any thread */
    struct histogram calls[FRONTIER_VIAS_][FRONTIER_VERBS_];
    _Atomic uint64_t acks[FRONTIER_ACKS_];

    /* frontier thread */
    struct served *served;
    enum status broken;       /* STATUS_OK, or the store's failure */
    struct call_list done;    /* `done` is called after the commit */
    struct call_list unready; /* continue after the commit */
    int64_t now;              /* wall clock, of this turn */
    struct call_batch batch;  /* successive puts, put together */
    struct call_puts puts;    /* the same for served.h */
    int64_t next_checkpoint;  /* monotonic */
    int64_t next_details;     /* the same */
    bool details_due;         /* work was done since the last one */
    bool uncovered;           /* there was a commit since the last one */
    enum status stopped;      /* status of the last checkpoint */
};

/* For call_execute, with the service as `of` (call_served.c). */
extern const struct call_ops call_served_ops;

#endif
