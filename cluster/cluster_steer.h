/*
 * cluster_steer.h - commands to a crawl whose shards are in Kafka, from
 * anywhere, and their answers.
 *
 *   command/ID     JSON: method, path, body as in docs/formats/http-api.md
 *   answer/ID/N    JSON of shard N: status, and body or why
 *
 * Both are records of NAME.control, and go when the sender has its answers. The
 * worker that has a shard performs the command there as if it had come over
 * HTTP, so each verb is what it is on one machine. What has to hold for workers
 * that come later stands in the same Kafka transaction: settings, paused.
 */
#ifndef URLWEIR_CLUSTER_CLUSTER_STEER_H
#define URLWEIR_CLUSTER_CLUSTER_STEER_H

#include <jansson.h>

#include "base/kafka/kafka.h"

/* ---- a sender ---- */

struct cluster_command {
    const char *method, *path;
    json_t *body; /* borrowed; NULL: none */
    int timeout_ms;
};

/* Performs the command in all shards, and merges their answers: numbers are
 * added up, lists of results joined, all else is that of the first. A shard
 * that knows no such host or crawl does not count if another one does.
 * Settings can be changed, and the crawl paused, while no worker runs. Statuses as of
 * control_client_ask; STATUS_AGAIN: no worker that has shard N answered in
 * time. */
MUST_CHECK enum status cluster_steer_ask(const struct kafka_access *a,
                                         const char *name,
                                         const struct cluster_command *c,
                                         json_t **out, struct buf *why);

/* ---- a worker ---- */

struct cluster_steering;

/* Called on a thread of its own. */
struct cluster_performer {
    void *ctx;
    /* Does this worker have the shard? */
    bool (*has)(void *ctx, uint32_t shard);
    /* *out: a new reference, or NULL. */
    enum status (*perform)(void *ctx, uint32_t shard, const char *method,
                           const char *path, json_t *body, json_t **out,
                           struct buf *why);
    /* Ends this worker: `urlweir stop`. */
    void (*stop)(void *ctx);
};

/* Performs commands that are sent from now on. STATUS_NOMEM: no thread can be
 * made. `a`, `name` and `p` outlive it. */
MUST_CHECK enum status cluster_steering_start(struct cluster_steering **out,
                                              const struct kafka_access *a,
                                              const char *name, uint32_t shards,
                                              const struct cluster_performer *p,
                                              struct buf *why);
void cluster_steering_end(struct cluster_steering *s); /* NULL is fine */

#endif
