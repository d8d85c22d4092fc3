/*
 * cluster_state.h - the state of a crawl in a cluster, as JSON
 * (docs/formats/status.md): its workers, URLs by state, the largest shards,
 * memory by kind of key.
 *
 * One thread.
 */
#ifndef URLWEIR_JOB_CLUSTER_CRAWL_CLUSTER_STATE_H
#define URLWEIR_JOB_CLUSTER_CRAWL_CLUSTER_STATE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "frontier/cluster_store/cluster_store.h"
#include "job/settings/options.h"

/* Adds it to the object `o`; `store` and `s` are from cluster_part_look().
 * Waits for the servers. */
MUST_CHECK enum status cluster_state_gather(json_t *o,
                                            struct cluster_store *store,
                                            const struct crawl_settings *s);
/* Are no new URLs admitted, as a server says that it is full, or has refused a
 * worker just now? */
bool cluster_state_is_full(const json_t *o);
/* A number of the state, which came from the cluster; 0 for anything else. */
double cluster_state_number(const json_t *o, const char *name);

#endif
