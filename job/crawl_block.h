/*
 * crawl_block.h - the blocklist of --block-filter and --block-exact.
 *
 * Opened once the crawl's directory is there and locked; what it keeps of the
 * exact list stands in DIR/block-exact.
 */
#ifndef URLWEIR_JOB_CRAWL_BLOCK_H
#define URLWEIR_JOB_CRAWL_BLOCK_H

#include "frontier/seen/blocklist.h"
#include "job/crawl_setup.h"
#include "job/options.h"

/* What --block-filter and --block-exact name, or NULL where there is none.
 * False: it cannot be used; why was said, *code is the exit status. */
MUST_CHECK bool crawl_block_open(struct blocklist **out, const char *command,
                                 const struct crawl_settings *s, int *code);
/* The same for who says it himself: `why`. */
MUST_CHECK enum status crawl_block_make(struct blocklist **out,
                                        const struct crawl_settings *s,
                                        struct buf *why);
/* Opens it into the setup, and says on stderr, unless --quiet, what a filter
 * without a second check will keep out too. */
MUST_CHECK bool crawl_block_start(struct crawl_setup *c,
                                  const struct crawl_settings *s, int *code);

#endif
