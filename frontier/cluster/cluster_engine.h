/*
 * cluster_engine.h - the engine of a worker of a crawl in a cluster.
 *
 * The worker's own directory is a crawl like any other, with an embedded
 * engine, whose queue has only URLs that the cluster has leased to this worker.
 * So politeness, retries, rows and counters are that engine's, and commands
 * that read a directory read this one. What the cluster changes:
 *
 *   put      goes to the cluster, as do the links of a page
 *   lease    takes leases of the cluster into the directory, and gives out what
 *            is due there
 *   turn     waits until the links of pages are in, commits the directory, and
 *            then acknowledges the pages to the cluster
 *   release  keeps the lease in the cluster, which is extended while it lasts
 *
 * A URL that the cluster may give to others (its lease is over, its host has to
 * wait long, the worker stops) is parked: it stays queued in the directory, due
 * in ten years, until the cluster leases it to this worker again. When the
 * crawl is over, what is parked has been fetched by others, and is removed.
 *
 * engine_stats.queued is 0 only when the whole crawl is done. Requests of
 * people and other programs that change the queues of one directory (block,
 * delay, limit, remove, retry, refresh, external leases) are refused.
 *
 * Threads: one.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_CLUSTER_ENGINE_H
#define URLWEIR_FRONTIER_CLUSTER_CLUSTER_ENGINE_H

#include "base/status.h"
#include "frontier/cluster/cluster_orders.h"
#include "frontier/cluster_store/cluster_store.h"
#include "frontier/engine.h"

/* What a worker says of itself. */
struct cluster_who {
    const char *host, *dir; /* of its machine, and there */
    long process;
};

#define CLUSTER_COMMIT_MOST 64 /* pages of one commit */

struct cluster_engine_options {
    struct cluster_store *store; /* with the digest seed of `own` */
    struct engine *own;     /* of the directory; made with links_elsewhere, with
                               room for `in_flight` and twice as many URLs as a
                               commit has at most, and without anything that admits URLs by
                               itself (drops               that are judged again, refreshes) */
    struct scope *scope;    /* thread-safe; places are added to it */
    struct bytes crawl;     /* as `own` has it */
    int64_t request;        /* ns: longest time of a request */
    int64_t lease;          /* ns: length of a lease; at least 3 * request */
    size_t in_flight;       /* most URLs with fetchers */
    uint64_t limit_pages;   /* of the whole crawl; 0: no limit */
    unsigned kinds;         /* kinds of links are below it */
    bool robots;            /* robots.txt is read, and shared */
    struct cluster_who who; /* its texts: during the call */
    struct cluster_orders *orders; /* gets what is wanted of all; or NULL */
};

/* Takes store and `own`, also on errors: close() closes both. Parks what is
 * queued in the directory, and waits for the places of the crawl.
 * STATUS_CLOSED: the cluster does not respond. */
MUST_CHECK enum status cluster_engine_open(
    struct engine **out, const struct cluster_engine_options *o, int64_t now,
    int64_t wall_ms);

#endif
