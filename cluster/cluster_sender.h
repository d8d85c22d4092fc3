/*
 * cluster_sender.h - sends seeds and records of NAME.control for people: when a
 * crawl is made, and when it is steered.
 *
 * All of a transaction is there, or nothing. One thread at a time.
 */
#ifndef URLWEIR_CLUSTER_CLUSTER_SENDER_H
#define URLWEIR_CLUSTER_CLUSTER_SENDER_H

#include "base/kafka/kafka.h"
#include "frontier/url/url.h"

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
