/*
 * cluster_topics.h - the topics of a crawl or a service on many machines: what
 * they have to be, and how NAME.control is read.
 *
 * cluster_control.h and served_control.h know what its records mean.
 */
#ifndef URLWEIR_CLUSTER_CLUSTER_TOPICS_H
#define URLWEIR_CLUSTER_CLUSTER_TOPICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/kafka/kafka.h"
#include "frontier/url/url.h"

/* What was deleted is told of for so long: 30 days. A copy of the rows that is
 * older than half of that is of no use. */
#define CLUSTER_DELETIONS_MS "2592000000"

/* The topic of that purpose: "state", "urls", "control". */
void cluster_topic(struct buf *out, const char *name, const char *purpose);

/* Makes it with so many partitions if it is missing, and checks one that is
 * there; `is_there`: it is not made. STATUS_REFUSED: it would lose messages, or
 * has another number of partitions. STATUS_NOT_FOUND: it is gone. */
MUST_CHECK enum status cluster_topic_ensure(const struct kafka_access *a,
                                            const char *name,
                                            const char *purpose,
                                            uint32_t partitions, bool is_there,
                                            struct buf *why);

/* The shard N of a key such as "owner/N", of which "owner/" is the prefix;
 * SHARDS_MOST: the key is another one. */
uint32_t cluster_key_shard(struct bytes key, const char *prefix);

/* ---- NAME.control ---- */

struct control_taker {
    void *ctx;
    void (*take)(void *ctx, const struct kafka_message *m);
};

/* Reads it from its beginning to its end. STATUS_NOT_FOUND: there is none, and
 * `why` is empty. */
MUST_CHECK enum status cluster_log_open(struct kafka_reader **out,
                                        const struct kafka_access *a,
                                        const char *name,
                                        const struct control_taker *to,
                                        struct buf *why);
/* Reads what has come since, without waiting. */
MUST_CHECK enum status cluster_log_poll(struct kafka_reader *log,
                                        const struct control_taker *to,
                                        struct buf *why);

/* Sends seeds and records of NAME.control for people: when a crawl is made,
 * and when it is steered.
 *
 * All of a transaction is there, or nothing. One thread at a time.
 */

struct cluster_sender;

/* The transactional id is NAME.`id`. NULL: one of its own, so that it fences
 * nobody. */
MUST_CHECK enum status cluster_sender_open(struct cluster_sender **out,
                                           const struct kafka_access *a,
                                           const char *name, const char *id,
                                           struct buf *why);
void cluster_sender_close(struct cluster_sender *s); /* NULL is fine */

MUST_CHECK enum status cluster_sender_begin(struct cluster_sender *s,
                                            struct buf *why);
/* To the shard of its host, of `shards`. */
MUST_CHECK enum status cluster_sender_seed(struct cluster_sender *s,
                                           struct url *u, uint32_t shards,
                                           struct buf *why);
/* To NAME.control. An empty value removes the key. */
MUST_CHECK enum status cluster_sender_record(struct cluster_sender *s,
                                             const char *key,
                                             struct bytes value,
                                             struct buf *why);
MUST_CHECK enum status cluster_sender_number(struct cluster_sender *s,
                                             const char *key, uint64_t n,
                                             struct buf *why);
MUST_CHECK enum status cluster_sender_commit(struct cluster_sender *s,
                                             struct buf *why);

#endif
