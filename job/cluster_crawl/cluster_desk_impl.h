/*
 * cluster_desk_impl.h - what the files of the desk share.
 *
 *   cluster_desk.c        the thread, the state
 *   cluster_desk_calls.c  what calls do
 *
 * No other file includes this.
 */
#ifndef URLWEIR_JOB_CLUSTER_CRAWL_CLUSTER_DESK_IMPL_H
#define URLWEIR_JOB_CLUSTER_CRAWL_CLUSTER_DESK_IMPL_H

#include <pthread.h>
#include <stdint.h>

#include "job/cluster_crawl/cluster_desk.h"

struct cluster_desk {
    char *url, *name;
    bool always;
    pthread_t thread;

    /* the desk's thread */
    struct crawls_call *stopping; /* stops that wait for the workers */
    int64_t stop_by;              /* when they fail */

    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t work;
    struct crawls_call *first, **end;
    size_t calls;
    json_t *state;  /* NULL: none yet */
    int64_t wanted; /* somebody looked at it then; 0: nobody did */
    bool closing;
};

/* Carries a call out on the desk's thread. False: it is a stop, which has begun
 * and waits for the workers. */
bool cluster_desk_carry_out(struct cluster_desk *d, struct crawls_call *call);

#endif
