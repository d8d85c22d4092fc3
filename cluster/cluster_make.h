/*
 * cluster_make.h - makes a crawl on many machines: topics, settings, seeds.
 */
#ifndef URLWEIR_CLUSTER_CLUSTER_MAKE_H
#define URLWEIR_CLUSTER_CLUSTER_MAKE_H

#include "base/kafka/kafka.h"
#include "job/settings/options.h"

/* STATUS_EXISTS: there is a crawl of that name. Otherwise as
 * cluster_control_open. */
MUST_CHECK enum status cluster_make_may(const struct kafka_access *a,
                                        const char *name, struct buf *why);

/* Sends the seeds of `s` to their shards and, in the same Kafka transaction,
 * settings and the number of shards, so that the crawl is there whole or not at
 * all. Secrets are not sent; those in seeds are added to `s`. STATUS_EXISTS: it
 * is there already. STATUS_NOT_FOUND: there are no seeds, which was reported. */
MUST_CHECK enum status cluster_make(const struct kafka_access *a,
                                    const char *name, struct crawl_settings *s,
                                    uint32_t shards, struct buf *why);

#endif
