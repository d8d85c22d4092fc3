/*
 * serve_cluster.h - the cluster of `urlweir serve --cluster`.
 *
 * Main thread.
 */
#ifndef URLWEIR_CLI_RUN_SERVE_CLUSTER_H
#define URLWEIR_CLI_RUN_SERVE_CLUSTER_H

#include "frontier/shared/shared.h"

/* Opens the frontier that the URL names, or makes it. NULL: the reason was
 * printed, and *code is the exit status. */
struct shared *serve_cluster_open(const char *url, int *code);

#endif
