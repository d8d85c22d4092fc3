/*
 * verify_cluster.h - `urlweir verify` of a crawl in a cluster.
 */
#ifndef URLWEIR_CLI_VERIFY_VERIFY_CLUSTER_H
#define URLWEIR_CLI_VERIFY_VERIFY_CLUSTER_H

#include <stdbool.h>

/* Prints what it finds; returns the exit status, errors were printed. */
int verify_cluster(const char *url, bool repair);

#endif
