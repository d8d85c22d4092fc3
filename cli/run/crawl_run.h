/*
 * crawl_run.h - run a crawl to its end: signals, progress, summary, exit.
 *
 * `crawl` and `resume` share this once the frontier is open.
 */
#ifndef URLWEIR_CLI_RUN_CRAWL_RUN_H
#define URLWEIR_CLI_RUN_CRAWL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file/file.h"
#include "base/status.h"
#include "frontier/frontier.h"
#include "job/crawl_setup.h"
#include "job/registry/crawls.h"
#include "job/settings/options.h"
#include "service/calls/call.h"
#include "service/http/http_server.h"

/*
 * Control and watch `urlweir crawl` and `resume` while they
 * run.
 *
 * DIR/control takes commands from the owner of the directory
 * (control_socket.h); anyone who reaches the address of --metrics can read from
 * it. Both serve the HTTP API for one crawl, named CRAWL_ID. They cost three
 * threads and six descriptors, and with --metrics two and five more. The
 * registry's thread wakes ten times a second, the others sleep until a call
 * comes (less than 10 ms of CPU in 20 s, no more memory).
 *
 * Only the main thread may call, in the order of the functions.
 */

struct crawl_control;

/* The registry alone, without servers; STATUS_NOMEM: no thread. */
MUST_CHECK enum status crawl_control_new(struct crawl_control **out,
                                         const char *what);

struct crawls *crawl_control_crawls(const struct crawl_control *c);

/* Call this before the crawl exists: callers see no crawl yet. Notes in `lock`,
 * the lock of s->output, where the API is served. `what`: "crawl" or "resume".
 * False: the address of --metrics cannot be used; the reason was printed, and
 * *code is the exit status. */
MUST_CHECK bool crawl_control_open(struct crawl_control **out, const char *what,
                                   const struct crawl_settings *s,
                                   struct file_lock *lock, int *code);

/* Shows this crawl to callers. All arguments must outlive the release. */
void crawl_control_attach(struct crawl_control *c, struct crawl_setup *setup,
                          const struct crawl_settings *s,
                          struct frontier *frontier, struct crawl *crawl);
void crawl_control_close(struct crawl_control *c); /* NULL is fine */

/* ---- the run ---- */

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

#define METRICS_DRAIN_MS 1000 /* for callers, when the crawl has ended */

/* `what`: the command. `o` says what is served, its crawls or its cluster. Other
 * errors than success were printed. */
MUST_CHECK enum status metrics_port_open(struct http_server **out,
                                         const char *what,
                                         const struct crawl_settings *s,
                                         struct http_options o);

/*
 * A crawl that nobody runs, opened in this process to be
 * changed.
 *
 * It is started paused, with one fetcher that never gets a URL, and attached to
 * a registry of its own. So the calls that a running crawl takes over HTTP
 * reach it through the same code. It needs no network, and none of its limits
 * ends it. One thread.
 */

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
