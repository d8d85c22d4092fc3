/*
 * audit_cluster.h - `urlweir audit` of a crawl in a cluster: the bound of
 * collisions of fingerprints, and what a sample shows.
 */
#ifndef URLWEIR_CLI_AUDIT_AUDIT_CLUSTER_H
#define URLWEIR_CLI_AUDIT_AUDIT_CLUSTER_H

#include "config/option.h"

/* `operands`: the URL of the crawl, and directories of its workers, whose URLs
 * are the sample. Prints it; returns the exit status, errors were printed. */
int audit_cluster(const struct option_list *operands);

#endif
