/*
 * cmd_crawl.h - a new crawl in a directory: its place, and its seeds.
 *
 * Nothing is fetched before every seed is stored. A crash while seeds are being
 * read leaves a crawl without the mark "seeds_complete"; the same command
 * starts such a crawl over, and `resume` refuses it.
 */
#ifndef URLWEIR_CLI_RUN_CMD_CRAWL_H
#define URLWEIR_CLI_RUN_CMD_CRAWL_H

#include <stdbool.h>

#include "base/status.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"
#include "job/settings/settings.h"

/* Has `dir` room for a new crawl, which `command` makes? One whose seeds were
 * not all stored is removed. False: the reason was printed. */
MUST_CHECK bool crawl_begin_may(const char *dir, const char *command);

#endif
