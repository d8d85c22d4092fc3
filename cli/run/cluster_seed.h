/*
 * cluster_seed.h - a crawl in a cluster, opened to add seeds.
 *
 * One thread.
 */
#ifndef URLWEIR_CLI_RUN_CLUSTER_SEED_H
#define URLWEIR_CLI_RUN_CLUSTER_SEED_H

#include "cli/control/steer_cluster.h"
#include "job/seed_sink.h"

struct cluster_seed;

/* Opens the crawl that the first operand names. Returns the exit status; errors
 * were printed. */
int cluster_seed_open(struct cluster_seed **out, struct steer *t);
/* Like seed_sink_more(); the seeds are in the cluster when it returns
 * STATUS_OK. */
MUST_CHECK enum status cluster_seed_put(struct cluster_seed *c,
                                        struct seed *seeds, size_t n);
/* Says on stderr that nobody works on the crawl, if so. */
void cluster_seed_close(struct cluster_seed *c, const struct steer *t);

#endif
