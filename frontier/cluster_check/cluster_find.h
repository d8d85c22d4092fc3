/*
 * cluster_find.h - where a URL is in a crawl in a cluster.
 *
 * The URL's own outcome is in the directory of the worker that fetched it.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_CLUSTER_FIND_H
#define URLWEIR_FRONTIER_CLUSTER_CLUSTER_FIND_H

#include "frontier/cluster_store/cluster_store.h"

#define CLUSTER_FIND_MOST 10000 /* places of a queue that are looked at */

enum cluster_place {
    CLUSTER_UNSEEN, /* never put */
    CLUSTER_LEASED,
    CLUSTER_WAITING, /* in the queue of its host, at `place` */
    CLUSTER_DELAYED, /* due by itself in `due_ms` */
    CLUSTER_BEHIND,  /* behind the first CLUSTER_FIND_MOST, or done */
    CLUSTER_DONE
};
struct cluster_found {
    enum cluster_place where;
    uint64_t place; /* 0: the next one */
    int64_t due_ms;
    /* of its host */
    unsigned shard;
    uint64_t queue;   /* URLs in it */
    int64_t host_ms;  /* until it is due; -1: it is leased, or nothing waits */
    int64_t lease_ms; /* until its lease is over; -1: it is not leased */
    char worker[CLUSTER_WORD_SIZE]; /* that has the lease; "": not known */
};
/* `host` is the queue key of the URL. Waits for the server. */
MUST_CHECK enum status cluster_store_find(struct cluster_store *s,
                                          struct bytes host,
                                          const struct digest *digest,
                                          struct bytes url,
                                          struct cluster_found *out);

#endif
