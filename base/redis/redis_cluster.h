/*
 * redis_cluster.h - scripts run by a Redis Cluster, or by one server without
 * cluster mode: many under way at once, none waited for.
 *
 * A call is one script on keys of one slot. It goes to the server that has the
 * slot, and is repeated as a whole until it is answered or its time is over:
 * after MOVED, ASK, TRYAGAIN, CLUSTERDOWN, LOADING, READONLY, OOM, a script the
 * server forgot, a reply that does not come, a connection that ended. So a
 * script may run more than once, and must be written for that. Each call ends
 * exactly once, in redis_cluster_turn().
 *
 * A durable call ends when as many replicas as were asked for have it, too
 * (WAIT). Until then it is not done: a master that fails takes with it what it
 * alone had.
 *
 * Servers that may evict keys are refused. Replies are bounded
 * (redis_reply.h), and so are the servers of a cluster.
 *
 * Threads: one. This module reads the clock, since it waits for servers.
 */
#ifndef URLWEIR_BASE_REDIS_REDIS_CLUSTER_H
#define URLWEIR_BASE_REDIS_REDIS_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/redis/redis_address.h"
#include "base/redis/redis_reply.h"
#include "base/redis/redis_script.h"
#include "base/status.h"

struct redis_cluster;

struct redis_cluster_options {
    const struct redis_address *seeds; /* where to ask first; copied */
    size_t seed_count;
    const struct redis_script *const *scripts; /* by number; static */
    size_t script_count;
    int64_t answer_ns;  /* longest wait for one reply */
    int64_t call_ns;    /* a call is tried that long in all */
    size_t window;      /* most calls under way at one server */
    unsigned replicas;  /* of a durable call; 0: WAIT is not used */
    bool alone_is_fine; /* a server without cluster mode and without replicas
                           is taken as if `replicas` were 0 */
    int64_t replica_ms; /* of one WAIT, before the next */
    /* A setting of the servers, and its least value: a lower one is warned
     * about. NULL: none. */
    const char *setting;
    uint64_t setting_least;
    int wake_fd; /* readable: a wait for servers ends; 0: none */
};

struct redis_cluster *redis_cluster_new(const struct redis_cluster_options *o);
/* Ends what is pending with STATUS_CLOSED. */
void redis_cluster_free(struct redis_cluster *c); /* NULL is fine */

/* Wait until every slot has its server and each is connected, at most
 * `patience`, ns. STATUS_CLOSED: out of reach, or slots without a server;
 * STATUS_REFUSED: a server may evict keys, or has too few replicas; STATUS_ARG:
 * a server refuses us. `error` gets a sentence. */
MUST_CHECK enum status redis_cluster_start(struct redis_cluster *c,
                                           int64_t patience, struct buf *error);

/* How a call ended. STATUS_OK: `r` is the reply, valid during the call, never
 * an error. Otherwise its time is over, and whether it ran is not known: the
 * status of redis_error_status() for the last try. STATUS_ARG: the script
 * failed. */
typedef void redis_call_end(void *ctx, enum status st, const redisReply *r);

struct redis_call_spec {
    const struct redis_script *script;
    uint16_t slot; /* of all its keys */
    const struct bytes *keys;
    size_t key_count;
    const struct bytes *args; /* the first may be REDIS_RUN_ID */
    size_t arg_count;
    bool durable;
    redis_call_end *end;
    void *ctx;
};
/* Stands for the run ID of the server that gets the call. */
extern const char REDIS_RUN_ID[REDIS_RUN_ID_SIZE];
/* Copies all but `script`. */
void redis_cluster_call(struct redis_cluster *c,
                        const struct redis_call_spec *spec);

/* Send, receive and end calls; wait for a server up to `wait`, ns, if there is
 * nothing else to do. */
void redis_cluster_turn(struct redis_cluster *c, int64_t wait);
/* Calls that have not ended. */
size_t redis_cluster_pending(const struct redis_cluster *c);

/* Read the slots again soon; redis_cluster_stats.maps counts. */
void redis_cluster_remap(struct redis_cluster *c);
/* Is this the run ID of a master that has slots now and is connected? */
bool redis_cluster_has_master(const struct redis_cluster *c,
                              struct bytes run_id);

struct redis_cluster_stats {
    uint64_t calls, repeats; /* repeats: tries after the first */
    uint64_t moved, ask, again, down, loading, readonly, full, noscript;
    uint64_t lost;        /* connections */
    uint64_t timeouts;    /* replies that did not come; among `lost`, too */
    uint64_t short_waits; /* WAIT with too few replicas */
    uint64_t maps;        /* times the slots were read */
    unsigned masters, connected;
    int64_t node_timeout_ms; /* cluster-node-timeout, the longest of the
                                servers'; 0: not told yet, or by none */
    char trouble[256];       /* the last, in words; "": none */
};
void redis_cluster_get_stats(const struct redis_cluster *c,
                             struct redis_cluster_stats *out);

/* A server that has slots, and its memory as it said last, some seconds ago.
 * Near its maxmemory it is warned about in the log, once, and when it becomes
 * full. */
struct redis_master {
    struct bytes name;                 /* "redis://h:6379" */
    uint64_t memory_used, memory_most; /* octets; most 0: no limit */
    bool is_full; /* it refuses calls that take memory, or would */
};
/* Its bytes are valid during the call. */
typedef void redis_master_visit(void *ctx, const struct redis_master *m);
void redis_cluster_each_master(const struct redis_cluster *c,
                               redis_master_visit *visit, void *ctx);

#endif
