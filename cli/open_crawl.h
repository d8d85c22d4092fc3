/*
 * open_crawl.h - what the commands that only read a crawl begin with.
 */
#ifndef URLWEIR_CLI_OPEN_CRAWL_H
#define URLWEIR_CLI_OPEN_CRAWL_H

#include <stdbool.h>

#include "frontier/reader.h"

/* Was the crawl in DIR ended before all of its seeds were stored? True: that
 * was said on stderr, and how to go on. */
bool crawl_is_unbegun(const char *dir, const char *command);

/* Opens DIR for `command`. False: *code is the exit status and why was said on
 * stderr. */
bool open_crawl(struct reader *r, const char *command, const char *dir,
                int *code);

/* "running", "finished", "stopped", or "interrupted" where it ended without a
 * last checkpoint; static. */
const char *crawl_state(const struct reader *r);

#endif
