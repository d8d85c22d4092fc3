/*
 * shard.h - one shard of a crawl on many machines: an ordinary crawl, whose
 * rows are also in Kafka.
 *
 *   NAME.state    compacted; partition N has the rows of shard N
 *   NAME.urls     partition N: URLs that other shards found for shard N
 *   NAME.control  compacted, one partition: settings, and what each shard has
 *                 done (cluster_control.h)
 *
 * Each commit of the shard's database is one Kafka transaction: its rows
 * (shard_rows.h), the URLs it found for others, what it has done. How far
 * NAME.urls was read is one of the rows.
 *
 * The frontier stays as it is, but asks the shard that stands around it
 * (frontier_around): a turn also takes in URLs from others, and the crawl is not
 * finished before all shards are idle and no URL is on its way (sent and received in sum are
 * equal, in a log that has each transaction's counts in order).
 *
 * Made and freed by one thread; in between it belongs to the frontier thread.
 */
#ifndef URLWEIR_CLUSTER_SHARD_H
#define URLWEIR_CLUSTER_SHARD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/kafka/kafka.h"
#include "cluster/shard_message.h"
#include "frontier/url/host.h"
#include "job/crawl_setup.h"

struct shard;

struct shard_options {
    struct kafka_access access;
    const char *name;   /* of the crawl */
    const char *worker; /* for people, SHARD_WORKER_SIZE octets at most */
    struct shard_number number;
    struct crawl_setup *setup;
    const struct crawl_settings *settings;
    /* CLOCK_BOOTTIME, ns: until then this process owns the shard for sure, and
     * may send requests. NULL: for ever. */
    _Atomic int64_t *owned_until;
};

/* Takes the shard: fences who had it before. */
MUST_CHECK enum status shard_open(struct shard **out,
                                  const struct shard_options *o,
                                  struct buf *why);
void shard_close(struct shard *s); /* after the frontier; NULL is fine */

/* Brings the crawl in `dir` up to what Kafka has. *there: there is a crawl to
 * open; otherwise it has to be created. STATUS_EXISTS: `dir` has another
 * crawl's rows. */
MUST_CHECK enum status shard_restore(struct shard *s, const char *dir,
                                     bool *there, struct buf *why);
/* Has a person paused the crawl? */
bool shard_is_paused(const struct shard *s);
/* Sets what the frontier needs to know of the shard, before it is opened. */
void shard_fit(struct shard *s, struct frontier_options *o);
/* Stands between the crawl and its frontier from now on. */
void shard_attach(struct shard *s, struct frontier *f);

/* Visits the URLs that were sent to a shard and are not among its rows, of which
 * `note` is that of shard_rows_copy. What `visit` returns other than STATUS_OK
 * ends it. */
MUST_CHECK enum status shard_each_on_way(
    const struct kafka_access *a, const char *name, uint32_t shard,
    const struct buf *note,
    enum status (*visit)(void *ctx, const struct shard_message *m), void *ctx,
    struct buf *why);

#endif
