/*
 * cluster_seed.h - a crawl in a cluster, opened to add seeds.
 *
 * One thread.
 */
#ifndef URLWEIR_JOB_CLUSTER_SEED_H
#define URLWEIR_JOB_CLUSTER_SEED_H

#include <stdbool.h>

#include "base/buf.h"
#include "job/seed_sink.h"

struct cluster_seed;

/* As cluster_part_look(). */
MUST_CHECK enum status cluster_seed_open(struct cluster_seed **out,
                                         const char *url, struct buf *why);
/* Like seed_sink_more(); the seeds are in the cluster when it returns
 * STATUS_OK. */
MUST_CHECK enum status cluster_seed_put(struct cluster_seed *c,
                                        struct seed *seeds, size_t n);
/* Does nobody work on the crawl? False if that is not known. */
bool cluster_seed_is_alone(struct cluster_seed *c);
void cluster_seed_close(struct cluster_seed *c); /* NULL is fine */

#endif
