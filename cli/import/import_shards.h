/*
 * import_shards.h - an import into a crawl on many machines.
 *
 * Each shard is made in DIR/shards/N, with its rows in Kafka, and takes the URLs
 * of its hosts. The crawl is there for others when all are whole; an import that
 * was cut off goes on with the shards that are not.
 */
#ifndef URLWEIR_CLI_IMPORT_IMPORT_SHARDS_H
#define URLWEIR_CLI_IMPORT_IMPORT_SHARDS_H

#include "cli/import/import_files.h"
#include "job/settings/options.h"

/* Returns the exit status; what went wrong was said. */
int import_shards(struct crawl_settings *s, const struct import_files *files,
                  struct import_counts *counts);

#endif
