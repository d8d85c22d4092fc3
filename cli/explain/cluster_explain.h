/*
 * cluster_explain.h - `urlweir explain` of a URL of a crawl in a cluster.
 */
#ifndef URLWEIR_CLI_EXPLAIN_CLUSTER_EXPLAIN_H
#define URLWEIR_CLI_EXPLAIN_CLUSTER_EXPLAIN_H

#include <stdbool.h>

/* Prints it; returns the exit status, errors were printed. */
int cluster_explain(const char *cluster, const char *url, bool json);

#endif
