/*
 * cluster_control.h - what a crawl on many machines knows of itself as a whole:
 * the topic NAME.control.
 *
 *   settings     YAML, as in urlweir-settings.yaml, without those of a worker
 *   kept         names of settings that each worker has to be given
 *   shards       their number, which never changes
 *   suffixes     by which Public Suffix List hosts are divided among them
 *   seeds        how many URLs were sent to shards when the crawl was made
 *   seeds/ID     the same of each `urlweir seed` since
 *   paused       1: shards begin paused
 *   shard/N      JSON, what shard N has done: sent, received, idle, given_up ...
 *   permit/N     how much it may fetch: permits.h
 *
 * It has one partition, so all that is committed stands in one order, and what
 * is read up to any offset is what was true at one moment.
 */
#ifndef URLWEIR_CLUSTER_CLUSTER_CONTROL_H
#define URLWEIR_CLUSTER_CLUSTER_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/kafka/kafka.h"
#include "cluster/permits.h"
#include "frontier/frontier.h"
#include "job/settings/options.h"

#define SHARD_WORKER_SIZE 256 /* "HOST:DIR", and a zero byte */

/* What a shard has done. */
struct shard_report {
    bool known;    /* it has said anything */
    bool idle;     /* nothing is left that it could do, */
    bool given_up; /* but for hosts that are not asked again in this run */
    uint64_t sent, received; /* URLs, ever */
    uint64_t urls, queued, pages, failed, bytes, seeds_failed;
    char worker
        [SHARD_WORKER_SIZE]; /* that has it, or had it last; may be empty */
};

struct cluster_control;

/* Makes the topics of a new crawl, and checks those that are there. */
MUST_CHECK enum status cluster_make_topics(const struct kafka_access *a,
                                           const char *name, uint32_t shards,
                                           struct buf *why);

/* Reads the topic to its end. STATUS_NOT_FOUND: there is no such crawl.
 * STATUS_REFUSED: the name is a service's (served_control.h). */
MUST_CHECK enum status cluster_control_open(struct cluster_control **out,
                                            const struct kafka_access *a,
                                            const char *name, struct buf *why);
void cluster_control_close(struct cluster_control *c); /* NULL is fine */

/* Checks the topics of a crawl that is there: cluster_topic_ensure. */
MUST_CHECK enum status cluster_check_topics(const struct cluster_control *c,
                                            const struct kafka_access *a,
                                            const char *name, struct buf *why);

/* Reads what has come since. */
MUST_CHECK enum status cluster_control_poll(struct cluster_control *c,
                                            struct buf *why);

/* Would this process divide hosts among the shards as the one that made the
 * crawl? STATUS_REFUSED: not, as it has another Public Suffix List. */
MUST_CHECK enum status cluster_check_suffixes(const struct cluster_control *c,
                                              struct buf *why);

struct bytes cluster_control_settings(const struct cluster_control *c);
/* As cluster_settings_kept writes them. */
struct bytes cluster_control_kept(const struct cluster_control *c);
uint32_t cluster_control_shards(const struct cluster_control *c);
const struct shard_report *cluster_control_report(
    const struct cluster_control *c, uint32_t shard);
/* Where to read on from. */
int64_t cluster_control_offset(const struct cluster_control *c);
/* Has a person paused the crawl? */
bool cluster_control_is_paused(const struct cluster_control *c);
/* Rises whenever the settings change. */
uint64_t cluster_control_version(const struct cluster_control *c);
struct permits *cluster_control_permits(struct cluster_control *c);
/* Is every shard idle, with nothing on its way between them, and no person who
 * has paused it, as for a command that gives it more to do? */
bool cluster_control_is_over(const struct cluster_control *c);

/* The key and the value of a shard's record. */
void shard_report_write(struct buf *key, struct buf *value, uint32_t shard,
                        const struct shard_report *r);

/* ---- makes a crawl on many machines: topics, settings, seeds ---- */

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
