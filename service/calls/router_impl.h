/*
 * router_impl.h - the inside of the router, shared by its files.
 *
 *   router.c         sends each call to its place
 *   router_put.c     batches for several crawls
 *   router_get.c     URLs of any crawl
 *   router_delete.c  deletes a crawl of our own
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

/* Keeps the crawls open until router_leave, which must follow soon and on the
 * same thread. False: they have ended or are about to; do not call
 * router_leave. May be nested. */
bool router_enter(struct router *r);
void router_leave(struct router *r);

/* The place for calls on this crawl: the name of a crawl of our own, or empty
 * for the URLs that programs put. Only after router_enter. */
struct bytes router_place(const struct router *r, struct bytes crawl);
/* Submits the call to that place, like router_submit; from any thread. Always
 * STATUS_OK for a crawl of our own. */
MUST_CHECK enum status router_send(struct router *r, struct bytes place,
                                   struct frontier_call *call);
/* Submits the call to a crawl of our own and calls `done` in any case. Any
 * thread. */
void router_to_crawl(struct router *r, struct bytes name,
                     struct frontier_call *call);

MUST_CHECK enum status router_put(struct router *r, struct frontier_call *call);
/* Like crawls_submit. */
MUST_CHECK enum status router_delete(struct router *r,
                                     struct frontier_call *call);
MUST_CHECK enum status router_get_any(struct router *r,
                                      struct frontier_call *call);

#endif
