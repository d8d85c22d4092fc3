/*
 * crawl_block.h - the blocklist of --block-filter and --block-exact.
 *
 * Open it when the crawl's directory exists and is locked; DIR/block-exact
 * holds the data made from the exact list.
 */
#ifndef URLWEIR_JOB_CRAWL_BLOCK_H
#define URLWEIR_JOB_CRAWL_BLOCK_H

#include "frontier/seen/blocklist.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

/* Opens what --block-filter and --block-exact name; NULL if neither is set.
 * False: it cannot be used; the error was printed, and *code is the exit
 * status. */
MUST_CHECK bool crawl_block_open(struct blocklist **out, const char *command,
                                 const struct crawl_settings *s, int *code);
/* Like crawl_block_open, but puts the error into `why`. */
MUST_CHECK enum status crawl_block_make(struct blocklist **out,
                                        const struct crawl_settings *s,
                                        struct buf *why);
/* Opens it for the setup, and says on stderr, unless --quiet, that a filter
 * without an exact list also blocks false positives. */
MUST_CHECK bool crawl_block_start(struct crawl_setup *c,
                                  const struct crawl_settings *s, int *code);

#endif
