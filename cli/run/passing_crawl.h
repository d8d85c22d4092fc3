/*
 * passing_crawl.h - a crawl that keeps nothing: `urlweir crawl` without -o.
 *
 * It is a crawl like any other, in a directory below TMPDIR (/tmp), with its
 * promises of memory and exactness, by a child process: the parent removes the
 * directory when the child has ended, however it ended, which the child,
 * confined to that directory, may not do.
 *
 * Main thread, before any other is made, stop signals blocked.
 */
#ifndef URLWEIR_CLI_RUN_PASSING_CRAWL_H
#define URLWEIR_CLI_RUN_PASSING_CRAWL_H

#include "job/settings/settings.h"

/* Sets s->output and runs `crawl` in the child. Returns its exit status. */
int passing_crawl(struct crawl_settings *s,
                  int (*crawl)(struct crawl_settings *s));

#endif
