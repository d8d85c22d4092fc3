/*
 * crawl_task.h - work that other threads have done on the frontier thread.
 *
 * The frontier thread alone touches engine and store. Whoever wants something
 * of them (seeds to add, a host to block, a URL to lease to another program, a
 * look at the queues) posts a task: `run` is called between two turns of the
 * crawl's loop and must be short, as all fetchers wait for it; then `done`.
 * A struct crawl_task belongs to the caller, but between a post that said
 * STATUS_OK and `done` it is the crawl's.
 */
#ifndef URLWEIR_CRAWLER_CRAWL_TASK_H
#define URLWEIR_CRAWLER_CRAWL_TASK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "frontier/engine.h"

struct crawl;

struct crawl_task {
    /* On the frontier thread. A status that is not STATUS_OK is the task's
     * alone, unless the engine broke over it. */
    enum status (*run)(struct crawl_task *t, struct engine *e, int64_t now,
                       int64_t wall_ms);
    /* `run` changed something, and `done` waits for the commit that holds it.
     * Set by the poster, or by `run`. */
    bool durable;
    /* On the frontier thread, once: t->status is what `run` said, or why it
     * could not be called or committed (STATUS_CLOSED: the crawl has ended). It
     * may free the task, and may post others. */
    void (*done)(struct crawl_task *t);
    void *ctx; /* the caller's */

    enum status status;
    struct crawl_task *next; /* the crawl's own */
    void *waiter;            /* crawl_perform's */
};

/* In the order in which they were posted; any thread. */
struct task_list {
    pthread_mutex_t mtx;
    struct crawl_task *first, **end;
    bool closed;
};

void task_list_init(struct task_list *l);
void task_list_fini(struct task_list *l);
/* STATUS_CLOSED: it is over, the task is still the caller's. */
MUST_CHECK enum status task_list_add(struct task_list *l, struct crawl_task *t);
/* All that are there, as a chain by `next`; NULL: none. */
struct crawl_task *task_list_take(struct task_list *l);
/* No more from now on; what is there is left to be taken. */
void task_list_close(struct task_list *l);

#endif
