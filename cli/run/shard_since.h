/*
 * shard_since.h - what a shard has to know of the earlier crawl of --since.
 *
 * That one is in shards as well, and as many: so shard N needs the rows of its
 * shard N alone. They are read from Kafka into the shard's directory, once, and
 * opened there as any earlier crawl is.
 */
#ifndef URLWEIR_CLI_RUN_SHARD_SINCE_H
#define URLWEIR_CLI_RUN_SHARD_SINCE_H

#include "base/buf.h"
#include "frontier/url/shard.h"
#include "job/settings/options.h"

/* Reads the rows, if this directory has not got them yet; s->since names their
 * directory from then on, or is NULL: there are none, or with a warning they
 * cannot be read, so that all pages are asked for in full. */
void shard_since_read(struct crawl_settings *s, struct shard_number number);
/* The shard is done and needs them no more. */
void shard_since_forget(const struct crawl_settings *s);

#endif
