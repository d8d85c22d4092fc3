/*
 * cluster_status.h - `urlweir status` of a crawl in a cluster: its workers,
 * URLs by state, the largest shards, memory by kind of key.
 */
#ifndef URLWEIR_CLI_STATUS_CLUSTER_STATUS_H
#define URLWEIR_CLI_STATUS_CLUSTER_STATUS_H

#include <stdbool.h>

/* Prints it; returns the exit status, errors were printed. */
int cluster_status(const char *url, bool json);

#endif
