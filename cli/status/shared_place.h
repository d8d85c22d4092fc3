/*
 * shared_place.h - the URLs of `urlweir serve --cluster`, for commands that
 * only read them.
 *
 * Main thread.
 */
#ifndef URLWEIR_CLI_STATUS_SHARED_PLACE_H
#define URLWEIR_CLI_STATUS_SHARED_PLACE_H

#include "frontier/shared/shared.h"

struct shared_place {
    struct shared *shared;
    struct shared_hand *hand;
};

/* Opens what is at `url`, a cluster's. STATUS_NOT_FOUND: there is none;
 * STATUS_ARG: not such a URL, or it is a crawl's. `why` gets a sentence. */
MUST_CHECK enum status shared_place_open(struct shared_place *p,
                                         const char *url, struct buf *why);
void shared_place_close(struct shared_place *p);

#endif
