/*
 * crawl_control.h - how `urlweir crawl` and `resume` are steered and watched
 * while they run.
 *
 * DIR/control takes commands of the directory's owner (control_socket.h), the
 * address of --metrics can be read by whoever reaches it; both serve the HTTP
 * API for one crawl, named CRAWL_ID. Three threads and six descriptors, two and
 * five more with --metrics; the registry's wakes ten times a second, the others
 * sleep until somebody calls (less than 10 ms of CPU in 20 s, no more memory).
 *
 * The main thread, in the order of the functions.
 */
#ifndef URLWEIR_CLI_RUN_CRAWL_CONTROL_H
#define URLWEIR_CLI_RUN_CRAWL_CONTROL_H

#include <stdbool.h>

#include "base/file/file.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

struct crawl_control;

/* Before the crawl is there: callers see none. `lock`, which is that of
 * s->output, gets a note that says where; `what`: "crawl", "resume". False: the
 * address of --metrics cannot be had, which was said; *code is the exit
 * status. */
MUST_CHECK bool crawl_control_open(struct crawl_control **out, const char *what,
                                   const struct crawl_settings *s,
                                   struct file_lock *lock, int *code);
/* Callers see this crawl. All of it outlives the release. */
void crawl_control_attach(struct crawl_control *c, struct crawl_setup *setup,
                          const struct crawl_settings *s, struct engine *engine,
                          struct crawl *crawl);
/* Has `urlweir stop` been called for it? The caller then stops it. */
bool crawl_control_stopped(const struct crawl_control *c);
/* Ends what callers are about, and knows the crawl no more; before crawl_free.
 */
void crawl_control_release(struct crawl_control *c);
void crawl_control_close(struct crawl_control *c); /* NULL is fine */

#endif
