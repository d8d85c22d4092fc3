/*
 * cluster_desk.h - watches and steers a crawl in a cluster for the HTTP server:
 * its last known state, and the calls of job/registry/crawls.h that such a
 * crawl takes.
 *
 * It has one thread, which asks the servers for the state, and carries out
 * calls one after the other; both open the crawl anew, so nothing is kept that
 * could be out of date. Any thread may call.
 */
#ifndef URLWEIR_JOB_CLUSTER_CRAWL_CLUSTER_DESK_H
#define URLWEIR_JOB_CLUSTER_CRAWL_CLUSTER_DESK_H

#include <jansson.h>
#include <stdbool.h>

#include "job/registry/crawls.h"

struct cluster_desk;

/* `url` of the crawl. `always`: ask for the state every two seconds; otherwise
 * every five, and only while somebody looks at it. STATUS_FORMAT: not the URL
 * of a crawl; STATUS_NOMEM. */
MUST_CHECK enum status cluster_desk_open(struct cluster_desk **out,
                                         const char *url, bool always);
/* Calls that wait end with STATUS_CLOSED. Call it when no more are submitted.
 * NULL is fine. */
void cluster_desk_close(struct cluster_desk *d);

/* The crawl's, in the cluster. */
const char *cluster_desk_name(const struct cluster_desk *d);
/* A new reference to the object of cluster_state_gather(), which nobody else
 * has; `state` is "unreachable" if the last try failed, and `why` says why.
 * NULL: none is known yet. */
json_t *cluster_desk_state(struct cluster_desk *d);
/* As crawls_submit(). It takes PAUSE, UNPAUSE, STOP (done when no worker
 * lives), SEED, SETTINGS, SET_SETTINGS, HOST and WHERE; others are STATUS_BUSY.
 */
MUST_CHECK enum status cluster_desk_submit(struct cluster_desk *d,
                                           struct crawls_call *call);

#endif
