/*
 * crawl_dirs.h - the directories that a command reads: one crawl's, or those of
 * all shards of a crawl that is in Kafka.
 *
 * The rows in NAME.state are the truth, whichever worker has a shard, and
 * whether any runs. So each shard's rows are read from there into a directory
 * below TMPDIR, which the command opens as it opens any crawl, and which is
 * removed before the next one: there is room for one shard to be. What a command
 * that is killed leaves there the next one removes.
 */
#ifndef URLWEIR_CLI_SHARDS_CRAWL_DIRS_H
#define URLWEIR_CLI_SHARDS_CRAWL_DIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "cluster/shard_message.h"
#include "job/settings/options.h"

struct crawl_dir {
    const char *path;
    bool is_shard; /* else it is a crawl by itself, and the rest is 0 */
    uint32_t shard;
    bool unfinished;
    uint64_t sent, received; /* URLs, to and from other shards */
    struct crawl_dirs *of;
};

/* Is `where` a crawl in Kafka, by its URL or the directory of a worker? */
bool crawl_dirs_are_shards(const char *where);

/* The settings of a crawl, with those of the worker's directory `where`. */
MUST_CHECK enum status crawl_dirs_settings(const char *where,
                                           struct crawl_settings *s,
                                           struct buf *why);

/* Calls `visit` for each directory that `where` means; for a crawl in Kafka
 * only that of the shard that has `url`, unless it is empty. Returns the worst
 * exit status; one of EXIT_USAGE or EXIT_CANNOT ends it. */
int crawl_dirs_each(const char *command, const char *where, struct bytes url,
                    int (*visit)(void *ctx, const struct crawl_dir *d),
                    void *ctx);
/* The same for all shards of a crawl that stands still: as they are read one
 * after the other, what one sends another meanwhile would be lost. Ends with
 * EXIT_CANNOT if a worker has gone on. */
int crawl_dirs_each_still(const char *command, const char *where,
                          int (*visit)(void *ctx, const struct crawl_dir *d),
                          void *ctx);
/* In a visit of a shard: its URLs that are on their way to it, and not among its
 * rows. */
MUST_CHECK enum status crawl_dirs_each_on_way(
    const struct crawl_dir *d,
    enum status (*visit)(void *ctx, const struct shard_message *m), void *ctx);

#endif
