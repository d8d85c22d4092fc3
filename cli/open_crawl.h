/*
 * open_crawl.h - opens a crawl, or a service's directory, for commands that
 * only read it.
 */
#ifndef URLWEIR_CLI_OPEN_CRAWL_H
#define URLWEIR_CLI_OPEN_CRAWL_H

#include <stdbool.h>

#include "frontier/reader.h"

/* Did the crawl in DIR end before all of its seeds were stored, or a service
 * before its store was made? If so, says that on stderr, and how to go on.
 */
bool crawl_is_unbegun(const char *dir, const char *command);

/* Opens DIR for `command`. False: *code is the exit status, and the reason is
 * on stderr. */
bool open_crawl(struct reader *r, const char *command, const char *dir,
                int *code);

/* Says what a directory without a crawl holds, to follow "no crawl in DIR";
 * static, "" if that is not known. */
const char *no_crawl_hint(const char *dir);

/* Prints that DIR was opened but could not be read; returns an enum
 * exit_code. */
int cannot_read(const char *command, const char *dir, enum status st);

/* Is it the frontier of `urlweir serve`, not a crawl? It is if there is no
 * settings file, and the first URL, if any, was put by another program. */
bool is_service(struct reader *r);
/* The same for a directory in which `command` is to make a crawl; if true, says
 * so on stderr. Does not check whether the store is sound. */
bool dir_is_service(const char *dir, const char *command);
/* The reverse, for a directory that is to be a service's: does it hold a crawl
 * whose settings were lost? */
bool dir_is_crawl(const char *dir, const char *command);

/* "running", "finished", "stopped", or "interrupted" if it ended without a last
 * checkpoint; static. */
const char *crawl_state(const struct reader *r);

#endif
