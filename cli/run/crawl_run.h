/*
 * crawl_run.h - run a crawl to its end: signals, progress, summary, exit.
 *
 * `crawl` and `resume` share this once the frontier is open.
 */
#ifndef URLWEIR_CLI_RUN_CRAWL_RUN_H
#define URLWEIR_CLI_RUN_CRAWL_RUN_H

#include "base/file/file.h"
#include "cli/run/crawl_control.h"
#include "frontier/frontier.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

/* Takes DIR's lock. False: another process has it, or it cannot be made; the
 * reason was printed, and *code is the exit status. */
MUST_CHECK bool crawl_lock(const char *dir, const char *what,
                           struct file_lock **lock, int *code);

/* Returns the exit status. If a fetcher does not come back, ends the process
 * with EXIT_STUCK instead. On return `control` no longer knows the crawl; the
 * caller closes it and the frontier. */
int crawl_run(struct crawl_setup *c, struct frontier *frontier,
              const struct crawl_settings *s, struct crawl_control *control);

/* Writes the lines of --jsonl that a crash prevented, for a crawl that is
 * finished. Returns `code`, or another exit status if they cannot be written.
 */
int crawl_run_lines(const struct crawl_settings *s, int code);

/* Prints why a frontier could not be made or opened; returns the exit status. */
int crawl_open_failed(enum status st, const char *dir);

/* ---- end a process when one of its fetchers does not come back ---- */

/* Ends the process with `code` and frees nothing, since the thread of that
 * fetcher may be using anything. Call this when everything is on disk and every
 * message has been printed. */
_Noreturn void stuck_end(int code);

#endif
