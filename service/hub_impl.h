/*
 * hub_impl.h - the inside of the hub, shared by its files.
 *
 *   hub.c      which call goes where
 *   hub_put.c  batches for several crawls
 *   hub_get.c  URLs of any crawl
 *   hub_delete.c  a crawl of ours that is deleted
 */
#ifndef URLWEIR_SERVICE_HUB_IMPL_H
#define URLWEIR_SERVICE_HUB_IMPL_H

#include <stdatomic.h>

#include "service/hub.h"

struct hub {
    struct frontier_service *frontier;
    struct crawls *crawls;
    bool closed;
    _Atomic bool active;   /* other programs are given URLs */
    _Atomic unsigned turn; /* whose turn it is to be asked first */
};

/* The crawl that is meant, as routed: blank is DEFAULT. */
bool hub_is_ours(const struct hub *h, struct bytes crawl);
/* To the crawl of that name; `done` is called whatever it says. */
void hub_lend(struct hub *h, struct bytes crawl, struct frontier_call *call);

MUST_CHECK enum status hub_put(struct hub *h, struct frontier_call *call);
/* As crawls_submit. */
MUST_CHECK enum status hub_delete(struct hub *h, struct frontier_call *call);
MUST_CHECK enum status hub_get_any(struct hub *h, struct frontier_call *call);

#endif
