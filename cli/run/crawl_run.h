/*
 * crawl_run.h - run a crawl to its end: signals, progress, summary, exit.
 *
 * What `crawl` and `resume` share once the engine is open.
 */
#ifndef URLWEIR_CLI_RUN_CRAWL_RUN_H
#define URLWEIR_CLI_RUN_CRAWL_RUN_H

#include "base/file/file.h"
#include "cli/run/crawl_control.h"
#include "frontier/engine.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

/* Takes DIR's lock. False: it is held, or cannot be made; *code is the exit
 * status and the reason was said. */
MUST_CHECK bool crawl_lock(const char *dir, const char *what,
                           struct file_lock **lock, int *code);

/* Returns the exit status, unless a fetcher did not come back: then the process
 * ends here, with EXIT_STUCK. The engine stays the caller's to close; `control`
 * has been released. */
int crawl_run(struct crawl_setup *c, struct engine *engine,
              const struct crawl_settings *s, struct crawl_control *control);

/* The lines of --jsonl that a crash kept from being written, for a crawl that
 * is finished. The exit status is `code`, unless they cannot be written. */
int crawl_run_lines(const struct crawl_settings *s, int code);

/* The words and exit status of an engine that could not be made or opened. */
int crawl_open_failed(enum status st, const char *dir);

#endif
