/*
 * open_crawl.h - what the commands that only read a crawl, or a service's
 * directory, begin with.
 */
#ifndef URLWEIR_CLI_OPEN_CRAWL_H
#define URLWEIR_CLI_OPEN_CRAWL_H

#include <stdbool.h>

#include "frontier/reader.h"

/* Was the crawl in DIR ended before all of its seeds were stored, or a service
 * before its store was made? True: that was said on stderr, and how to go on.
 */
bool crawl_is_unbegun(const char *dir, const char *command);

/* Opens DIR for `command`. False: *code is the exit status and why was said on
 * stderr. */
bool open_crawl(struct reader *r, const char *command, const char *dir,
                int *code);

/* What stands in a directory without a crawl, behind "no crawl in DIR"; static,
 * "" where nothing is known of it. */
const char *no_crawl_hint(const char *dir);

/* Says that DIR could be opened and then not be read; an enum exit_code. */
int cannot_read(const char *command, const char *dir, enum status st);

/* Is what was opened the frontier of `urlweir serve`, not a crawl? Told by what
 * is there: no settings file, and no URL but such as programs put. */
bool is_service(struct reader *r);
/* The same of a directory that `command` was to make a crawl's; true: that was
 * said on stderr. Whether its store is sound is not asked. */
bool dir_is_service(const char *dir, const char *command);
/* The other way: of a directory that was to be a service's, whose settings were
 * lost. */
bool dir_is_crawl(const char *dir, const char *command);

/* "running", "finished", "stopped", or "interrupted" where it ended without a
 * last checkpoint; static. */
const char *crawl_state(const struct reader *r);

#endif
