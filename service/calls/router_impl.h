/*
 * router_impl.h - the inside of the router, shared by its files.
 *
 *   router.c      which call goes where
 *   router_put.c  batches for several crawls
 *   router_get.c  URLs of any crawl
 *   router_delete.c  a crawl of ours that is deleted
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
    _Atomic unsigned turn; /* whose turn it is to be asked first */

    pthread_mutex_t mtx; /* what follows */
    pthread_cond_t left;
    unsigned inside; /* who is between router_enter and router_leave */
    bool ended;
};

/* Crawls stay until router_leave, on the same thread and soon. False: they have
 * ended, or are about to, and there is nothing to leave. May be nested. */
bool router_enter(struct router *r);
void router_leave(struct router *r);

/* Where calls for this crawl go: the name of a crawl of ours, or empty: to the
 * URLs that programs put. Inside. */
struct bytes router_place(const struct router *r, struct bytes crawl);
/* There. As router_submit, any thread; always STATUS_OK for a crawl of ours. */
MUST_CHECK enum status router_send(struct router *r, struct bytes place,
                                   struct frontier_call *call);
/* To a crawl of ours; `done` is called whatever becomes of it. Any thread. */
void router_to_crawl(struct router *r, struct bytes name,
                     struct frontier_call *call);

MUST_CHECK enum status router_put(struct router *r, struct frontier_call *call);
/* As crawls_submit. */
MUST_CHECK enum status router_delete(struct router *r,
                                     struct frontier_call *call);
MUST_CHECK enum status router_get_any(struct router *r,
                                      struct frontier_call *call);

#endif
