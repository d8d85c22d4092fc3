/*
 * cluster_robots.h - robots.txt, shared by the workers of a crawl.
 *
 * The worker that has fetched a robots.txt says what came of it, and the others
 * go by that until it is stale, by the server's clock; the server then forgets
 * it. So each is fetched once for all. Times are lengths, as no two clocks are
 * compared. What is lost with a server is fetched again.
 *
 * Bounded: CLUSTER_ORIGINS_MOST origins of a host, each body ROBOTS_BODY_MOST
 * at most, deflated; a day at the longest. Further origins, and what a full
 * server does not take, are each worker's own affair.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_ROBOTS_H
#define URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_ROBOTS_H

#include "frontier/cluster_store/cluster_store.h"

#define CLUSTER_ORIGINS_MOST     8
#define CLUSTER_ROBOTS_BODY_MOST ((size_t)512000) /* as page_store.h */
#define CLUSTER_ROBOTS_DAY_MS    (INT64_C(24) * 3600 * 1000)

struct cluster_robots {
    int64_t fetched_ago;     /* ms; 0 or more */
    int64_t expires_in;      /* ms; 1 or more; the next try, if it failed */
    int64_t unreachable_for; /* ms; -1: it responded */
    uint16_t http_status;    /* 0: no response */
    struct bytes body;
};

/* Tell the others; `host` is the queue key of the origin. Does nothing if it is
 * stale or too long. */
void cluster_store_share_robots(struct cluster_store *s, struct bytes host,
                                struct bytes origin,
                                const struct cluster_robots *r);

/* `r` is valid during the call; NULL: nobody has it, or the servers do not
 * say. */
typedef void cluster_robots_end(void *ctx, const struct cluster_robots *r);
void cluster_store_ask_robots(struct cluster_store *s, struct bytes host,
                              struct bytes origin, cluster_robots_end *end,
                              void *ctx);

/* A body as it is stored there, and back; false: it is none, or too long. */
bool cluster_robots_pack(struct bytes body, struct buf *out);
bool cluster_robots_unpack(struct bytes packed, struct buf *out);

#endif
