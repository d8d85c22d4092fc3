/*
 * cluster_watch.h - what people see of a crawl in a cluster: its workers, what
 * each shard holds, memory by kind of key.
 *
 * A worker says every second or so that it lives. All answers are bounded, and
 * none is of one moment: shards are asked one after the other.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_WATCH_H
#define URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_WATCH_H

#include "frontier/cluster_store/cluster_store.h"

/* ---- workers ---- */

#define CLUSTER_WORKERS_MOST 1000
#define CLUSTER_ALIVE_MS     15000 /* heard that recently, a worker lives */
#define CLUSTER_WORDS_MOST   8192  /* octets of what it says */

/* What is wanted of all workers (cluster_steer.h). */
struct cluster_wanted {
    uint64_t version; /* of the settings */
    bool paused;
    bool stopped;            /* since the crawl was opened */
    unsigned place, workers; /* its number, from 0, among those that live */
};
/* STATUS_NOT_FOUND: the crawl is not in the cluster any more. */
typedef void cluster_tell_end(void *ctx, enum status st,
                              const struct cluster_wanted *w);
/* Say that worker `name`, a cluster_random_word(), lives. */
void cluster_store_tell(struct cluster_store *s, const char *name,
                        struct bytes words, cluster_tell_end *end, void *ctx);
/* Say that it has ended, and wait for the server, at most `patience`, ns. */
void cluster_store_leave(struct cluster_store *s, const char *name,
                         int64_t patience);

/* `heard_ms`: since it was heard last. Bytes are valid during the call. */
typedef void cluster_worker_visit(void *ctx, struct bytes name,
                                  int64_t heard_ms, struct bytes words);
/* Workers that were heard in the last hour, CLUSTER_WORKERS_MOST at most. Waits
 * for the servers, as all below. */
MUST_CHECK enum status cluster_store_each_worker(struct cluster_store *s,
                                                 cluster_worker_visit *visit,
                                                 void *ctx);

/* How many were heard in the last CLUSTER_ALIVE_MS. */
MUST_CHECK enum status cluster_store_count_alive(struct cluster_store *s,
                                                 size_t *n);

/* ---- what there is ---- */

struct cluster_shard_row {
    unsigned shard;
    uint64_t seen, waiting, leased, done; /* URLs; waiting: in their queues */
    uint64_t expired;                     /* leases that were lost, ever */
    uint64_t hosts;   /* with URLs that wait, and not leased */
    uint64_t buckets; /* of its seen set */
};
unsigned cluster_store_shards(const struct cluster_store *s);
/* Where a host's URLs are. */
unsigned cluster_store_shard(const struct cluster_store *s, struct bytes host);
/* Fills cluster_store_shards() rows. */
MUST_CHECK enum status cluster_store_survey(struct cluster_store *s,
                                            struct cluster_shard_row *rows);

/* Octets of keys by kind. */
struct cluster_weights {
    uint64_t seen, queues, hosts, leases, counts;
    uint64_t robots; /* robots.txt of hosts with URLs */
};
/* An estimate from some shards and some keys of each, as many whatever the size
 * of the crawl; `rows` as above. */
MUST_CHECK enum status cluster_store_weigh(struct cluster_store *s,
                                           const struct cluster_shard_row *rows,
                                           struct cluster_weights *out);

#endif
