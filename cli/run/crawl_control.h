/*
 * crawl_control.h - control and watch `urlweir crawl` and `resume` while they
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
#ifndef URLWEIR_CLI_RUN_CRAWL_CONTROL_H
#define URLWEIR_CLI_RUN_CRAWL_CONTROL_H

#include <stdbool.h>

#include "base/file/file.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

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
/* Has `urlweir stop` been called for this crawl? The caller then stops it. */
bool crawl_control_stopped(const struct crawl_control *c);
/* Ends the calls and forgets the crawl; call it before crawl_free. */
void crawl_control_release(struct crawl_control *c);
void crawl_control_close(struct crawl_control *c); /* NULL is fine */

#endif
