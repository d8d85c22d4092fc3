/*
 * cmd_shard.h - the settings of one shard, from those of its worker.
 */
#ifndef URLWEIR_CLI_RUN_CMD_SHARD_H
#define URLWEIR_CLI_RUN_CMD_SHARD_H

#include "base/buf.h"
#include "base/kafka/kafka_address.h"
#include "frontier/url/host.h"
#include "job/settings/options.h"

/* Reads those of the worker in `dir` into `s`, which settings_init has filled,
 * for the shard's own directory DIR/shards/N, whose parent is made. *where: the
 * cluster. */
MUST_CHECK enum status shard_settings_read(struct crawl_settings *s,
                                           const char *dir,
                                           struct shard_number number,
                                           struct kafka_address *where,
                                           struct buf *why);

#endif
