/*
 * cluster_worker.h - a worker of a crawl on many machines: it owns some shards,
 * each of which is crawled by a process of its own.
 */
#ifndef URLWEIR_CLI_RUN_CLUSTER_WORKER_H
#define URLWEIR_CLI_RUN_CLUSTER_WORKER_H

#include <stdbool.h>

#include "job/settings/options.h"

enum cluster_start { CLUSTER_CREATE, CLUSTER_JOIN, CLUSTER_RESUME };

/* `urlweir crawl --cluster kafka://...`, `join` or `resume`, to its end;
 * returns the exit status. The settings of the crawl are read from the cluster
 * for all but CLUSTER_CREATE. */
int cluster_worker_run(const char *command, enum cluster_start how,
                       struct crawl_settings *s);

#endif
