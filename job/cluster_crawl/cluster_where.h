/*
 * cluster_where.h - where a URL is in a crawl in a cluster, as JSON.
 *
 * One thread at a time with one store; it waits for the servers.
 */
#ifndef URLWEIR_JOB_CLUSTER_CRAWL_CLUSTER_WHERE_H
#define URLWEIR_JOB_CLUSTER_CRAWL_CLUSTER_WHERE_H

#include <jansson.h>

#include "base/buf.h"
#include "base/status.h"
#include "frontier/cluster_store/cluster_store.h"
#include "job/settings/options.h"

/* Sets in `o` the members that docs/formats/explain.md has of a crawl in a
 * cluster. `s`: the settings of the crawl, which say how it writes its URLs.
 * STATUS_ARG: `text` is not a URL; `why` gets a sentence on every failure. */
MUST_CHECK enum status cluster_where_gather(json_t *o,
                                            struct cluster_store *store,
                                            const struct crawl_settings *s,
                                            struct bytes text, struct buf *why);

#endif
