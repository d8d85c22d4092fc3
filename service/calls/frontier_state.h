/*
 * frontier_state.h - the inside of the service, shared by its files.
 *
 *   frontier_calls.c    the way to the frontier thread; opening and closing
 *   frontier_turn.c     that thread
 *   frontier_execute.c  what a call does
 *   frontier_begin.c    the store, opened or made
 *
 * Nobody else includes this.
 */
#ifndef URLWEIR_SERVICE_CALLS_FRONTIER_STATE_H
#define URLWEIR_SERVICE_CALLS_FRONTIER_STATE_H

#include <pthread.h>

#include "frontier/served/items.h"
#include "service/calls/frontier_calls.h"

struct call_list {
    struct frontier_call *head, *tail;
};

struct frontier_service {
    struct frontier_service_options o; /* strings are our own */
    char *node;
    pthread_t thread;

    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t arrived;
    struct call_list waiting;
    size_t waiting_items;
    bool asleep;  /* the frontier thread waits for `arrived` */
    bool refused; /* somebody was told STATUS_AGAIN */
    bool stopping;
    struct frontier_service_sample sample;
    struct frontier_watch watch;

    /* written by the frontier thread, read by any */
    struct histogram calls[FRONTIER_VIAS_][FRONTIER_VERBS_];
    _Atomic uint64_t acks[FRONTIER_ACKS_];

    /* frontier thread */
    struct engine *engine;
    struct items *items;
    enum status broken;       /* STATUS_OK, or what the store failed with */
    struct call_list done;    /* to be told after the commit */
    struct call_list unready; /* go on after the commit */
    struct item_put *puts;    /* of the group that is being gathered */
    struct frontier_item **put_items;
    size_t put_count, put_room;
    int64_t next_checkpoint; /* monotonic */
    int64_t next_watch;      /* the same */
    bool unwatched;          /* something was done since the last one */
    bool uncovered;          /* something was committed since the last one */
    enum status stopped;     /* of the last checkpoint */
};

/* The store in s->o.dir, made when there is none (frontier_begin.c). */
MUST_CHECK enum status frontier_open_store(struct frontier_service *s,
                                           int64_t now);

void call_list_add(struct call_list *l, struct frontier_call *call);
struct frontier_call *call_list_take(struct call_list *l);
/* What it counts as, of those that wait. */
size_t call_items(const struct frontier_call *call);

/* The thread; ctx: the service. */
void *frontier_thread(void *service);
/* For watchers, before there is a thread. */
void frontier_sample_all(struct frontier_service *s);
/* By the clock of the options. */
int64_t frontier_wall_ms(const struct frontier_service *s);

/* Carries out a call that is no PUT. False: it has more to do, and is to be
 * given here again. */
bool frontier_execute(struct frontier_service *s, struct frontier_call *call,
                      int64_t now);
/* Adds the items of a PUT to the group. */
void frontier_gather(struct frontier_service *s, struct frontier_call *call);
/* Puts the group. */
void frontier_put_group(struct frontier_service *s, int64_t now);

#endif
