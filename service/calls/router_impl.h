/*
 * router_impl.h - the inside of the router, shared by its files.
 *
 *   router.c      sends each call to its place, batches to several
 *   router_get.c  URLs of any crawl
 */
#ifndef URLWEIR_SERVICE_CALLS_ROUTER_IMPL_H
#define URLWEIR_SERVICE_CALLS_ROUTER_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/calls/router.h"

struct router {
    struct frontier_service *frontier;
    struct crawls *crawls;
    _Atomic bool active;   /* other programs are given URLs */
    _Atomic unsigned turn; /* the source to ask first next time */

    pthread_mutex_t mtx; /* guards the fields below */
    pthread_cond_t left;
    unsigned inside; /* threads between router_enter and router_leave */
    bool ended;
};

/* Submits the call to that place, like router_submit; from any thread. Always
 * STATUS_OK for a crawl of our own. */
MUST_CHECK enum status router_send(struct router *r, struct bytes place,
                                   struct frontier_call *call);

/* Like crawls_submit. */
MUST_CHECK enum status router_get_any(struct router *r,
                                      struct frontier_call *call);

#endif
