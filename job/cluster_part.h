/*
 * cluster_part.h - takes part in a crawl of a cluster: opens the cluster, and
 * the engine of a worker's directory.
 *
 * One thread, before the crawl.
 */
#ifndef URLWEIR_JOB_CLUSTER_PART_H
#define URLWEIR_JOB_CLUSTER_PART_H

#include "base/buf.h"
#include "base/status.h"
#include "frontier/cluster_store/cluster_store.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

/* The name of the note in a worker's directory (engine_ops.meta) of the crawl
 * that it takes part in: its URL without user and password. */
#define CLUSTER_META "cluster"

/* Opens the crawl that s->cluster names; its settings are those of
 * cluster_store_settings(). `why` gets a sentence on failure: STATUS_NOT_FOUND:
 * there is no such crawl; STATUS_AGAIN: its seeds are not all in; others as
 * cluster_store_open(). */
MUST_CHECK enum status cluster_part_open(struct cluster_store **out,
                                         const struct crawl_settings *s,
                                         struct buf *why);
/* The same, whatever state it is in. */
MUST_CHECK enum status cluster_part_find(struct cluster_store **out,
                                         const struct crawl_settings *s,
                                         struct buf *why);
/* Length of a lease. */
int64_t cluster_part_lease_ms(const struct crawl_settings *s);
/* Makes the crawl, with these settings for all workers. As
 * cluster_store_create(). */
MUST_CHECK enum status cluster_part_create(struct cluster_store **out,
                                           const struct crawl_settings *s,
                                           struct buf *why);
/* The same with a digest seed of DIGEST_SEED_SIZE octets. */
MUST_CHECK enum status cluster_part_create_with(struct cluster_store **out,
                                                const struct crawl_settings *s,
                                                const unsigned char *seed,
                                                struct buf *why);
/* Reads the settings of the crawl into `s`, which holds defaults.
 * STATUS_FORMAT: they are not valid, as of another release; `why` says what. */
MUST_CHECK enum status cluster_part_settings(const struct cluster_store *store,
                                             struct crawl_settings *s,
                                             struct buf *why);
/* Opens the crawl at `url` for a command that takes no part in it, and reads
 * its settings into `s`, which holds defaults; s->cluster is set to `url`.
 * STATUS_ARG: not the URL of a crawl; others as cluster_part_open() and
 * cluster_part_settings(). */
MUST_CHECK enum status cluster_part_look(struct cluster_store **out,
                                         const char *url,
                                         struct crawl_settings *s,
                                         struct buf *why);
/* Wraps *e, the engine of the worker's directory; takes it and `store`, also on
 * failure (*e is NULL then). */
MUST_CHECK enum status cluster_part_engine(struct engine **e,
                                           struct cluster_store *store,
                                           struct crawl_setup *c,
                                           const struct crawl_settings *s);

#endif
