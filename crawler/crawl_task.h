/*
 * crawl_task.h - lets other threads run work on the frontier thread.
 *
 * The frontier thread alone touches engine and store. Other threads that need
 * them (to add seeds, block a host, lease a URL to another program, or read the
 * queues) post a task. The frontier thread calls `run` between two turns of the
 * crawl's loop, and then `done`; `run` must be short, as all fetchers wait for
 * it. The caller owns a struct crawl_task, except from a successful post until
 * `done`: then the crawl owns it.
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
    /* Called on the frontier thread. Its status concerns the task alone, unless
     * the engine broke. */
    enum status (*run)(struct crawl_task *t, struct engine *e, int64_t now,
                       int64_t wall_ms);
    /* `run` changes the store, and `done` waits for the commit. Set by the
     * poster or by `run`. */
    bool durable;
    /* Called once, on the frontier thread: t->status is what `run` returned, or
     * why it could not be called or committed (STATUS_CLOSED: the crawl has
     * ended). May free the task and post others. */
    void (*done)(struct crawl_task *t);
    void *ctx; /* for the caller */

    enum status status;
    struct crawl_task *next; /* for the crawl */
    void *waiter;            /* for crawl_perform */
};

/* Posted tasks in order; any thread. */
struct task_list {
    pthread_mutex_t mtx;
    struct crawl_task *first, **end;
    bool closed;
};

void task_list_init(struct task_list *l);
void task_list_fini(struct task_list *l);
/* STATUS_CLOSED: the list is closed, and the caller keeps the task. */
MUST_CHECK enum status task_list_add(struct task_list *l, struct crawl_task *t);
/* Takes all tasks, as a chain by `next`; NULL: there are none. */
struct crawl_task *task_list_take(struct task_list *l);
/* Accepts no more tasks; those in the list can still be taken. */
void task_list_close(struct task_list *l);

#endif
