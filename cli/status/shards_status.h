/*
 * shards_status.h - `urlweir status` of a crawl whose shards are in Kafka, from
 * any machine: all of it, and each shard.
 */
#ifndef URLWEIR_CLI_STATUS_SHARDS_STATUS_H
#define URLWEIR_CLI_STATUS_SHARDS_STATUS_H

#include <stdbool.h>

/* The kafka:// URL that `where` is, or that is the crawl of the worker's
 * directory `where`; the caller frees it. NULL: it is neither. */
char *shards_status_place(const char *where);
/* Prints it; returns the exit status, errors were printed. `where`: as given by
 * the person. */
int shards_status(const char *where, const char *url, bool json);

#endif
