/*
 * cmd_serve.h - the crawls of `urlweir serve`: those of --crawl and those in
 * DIR/crawls.
 *
 * Main thread. DIR exists and is locked.
 */
#ifndef URLWEIR_CLI_RUN_CMD_SERVE_H
#define URLWEIR_CLI_RUN_CMD_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "cli/run/serve_settings.h"
#include "config/option.h"
#include "job/registry/crawls.h"
#include "service/service.h"
#include "service/shards/served_shards.h"

struct serve_crawls;

/*
 * The cluster of `urlweir serve --cluster`.
 *
 * Main thread.
 */

/* EXIT_USAGE: the reason was printed. */
int serve_shards_check(const struct serve_settings *s);

#endif
