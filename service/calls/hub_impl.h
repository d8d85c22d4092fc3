/*
 * hub_impl.h - the inside of the hub, shared by its files.
 *
 *   hub.c      which call goes where
 *   hub_put.c  batches for several crawls
 *   hub_get.c  URLs of any crawl
 *   hub_delete.c  a crawl of ours that is deleted
 */
#ifndef URLWEIR_SERVICE_CALLS_HUB_IMPL_H
#define URLWEIR_SERVICE_CALLS_HUB_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/calls/hub.h"

struct hub {
    struct frontier_service *frontier;
    struct crawls *crawls;
    _Atomic bool active;   /* other programs are given URLs */
    _Atomic unsigned turn; /* whose turn it is to be asked first */

    pthread_mutex_t mtx; /* what follows */
    pthread_cond_t left;
    unsigned inside; /* who is between hub_enter and hub_leave */
    bool ended;
};

/* Crawls stay until hub_leave, on the same thread and soon. False: they have
 * ended, or are about to, and there is nothing to leave. May be nested. */
bool hub_enter(struct hub *h);
void hub_leave(struct hub *h);

/* The crawl that is meant, as routed: blank is DEFAULT. Inside. */
bool hub_is_ours(const struct hub *h, struct bytes crawl);
/* To the crawl of that name; `done` is called whatever it says. Any thread. */
void hub_lend(struct hub *h, struct bytes crawl, struct frontier_call *call);

MUST_CHECK enum status hub_put(struct hub *h, struct frontier_call *call);
/* As crawls_submit. */
MUST_CHECK enum status hub_delete(struct hub *h, struct frontier_call *call);
MUST_CHECK enum status hub_get_any(struct hub *h, struct frontier_call *call);

#endif
