/*
 * held_crawl.h - a crawl that nobody runs, opened in this process to be
 * changed.
 *
 * It is started paused, with one fetcher that never gets a URL, and attached to
 * a registry of its own. So the calls that a running crawl takes over HTTP
 * reach it through the same code. It needs no network, and none of its limits
 * ends it. One thread.
 */
#ifndef URLWEIR_CLI_RUN_HELD_CRAWL_H
#define URLWEIR_CLI_RUN_HELD_CRAWL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "job/crawl_setup.h"
#include "job/registry/crawls.h"
#include "service/calls/call.h"

struct held_crawl;

/* Locks and opens the crawl in DIR for `command`, with the settings of its last
 * run. False: the reason was printed on stderr, and *code is the exit
 * status. */
MUST_CHECK bool held_crawl_open(struct held_crawl **out, const char *command,
                                const char *dir, int *code);
/* The same for a crawl that the caller has opened. The arguments outlive the
 * close; until then the frontier belongs to the held crawl. */
MUST_CHECK enum status held_crawl_start(struct held_crawl **out,
                                        struct crawl_setup *setup,
                                        const struct crawl_settings *s,
                                        struct frontier *f);
/* Performs a call about the crawl, which this names. What it changed is on disk
 * when it returns. Returns the call's status. */
enum status held_crawl_perform(struct held_crawl *c, struct crawls_call *call);
/* The same for a call about a queue. The caller finishes it. */
enum status held_crawl_ask(struct held_crawl *c, struct frontier_call *call);
/* Writes a checkpoint and closes what was opened. *left: URLs that wait for a
 * resume. */
MUST_CHECK enum status held_crawl_close(struct held_crawl *c, uint64_t *left);

/* Says on stderr how many URLs wait for a resume, if there are any; `what`:
 * "queued" or "due". */
void held_crawl_say_left(const char *command, const char *dir, const char *what,
                         uint64_t left);

#endif
