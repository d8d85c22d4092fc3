/*
 * loop.h - sockets, timers, and posts from other threads.
 *
 * One thread runs a loop and owns its watched descriptors and timers. Other
 * threads may only call loop_post() and loop_stop(). Callbacks run one after
 * another on the loop's thread and must not block.
 */
#ifndef URLWEIR_SERVICE_NET_LOOP_H
#define URLWEIR_SERVICE_NET_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/status.h"

struct loop;

/* A watched descriptor; part of its owner's struct. `events` are epoll's. */
struct loop_fd {
    int fd;
    void (*ready)(struct loop_fd *f, uint32_t events);
};

/* Zero it and set `fire` before first use. A timer fires once. */
struct loop_timer {
    struct heap_item item;
    void (*fire)(struct loop_timer *t);
};

/* Work for the loop's thread; the caller keeps its memory valid until it has
 * run. */
struct loop_post {
    struct loop_post *next; /* used by the loop */
    void (*run)(struct loop_post *p);
};

MUST_CHECK enum status loop_new(struct loop **out);
void loop_free(struct loop *l); /* NULL is fine; pending posts do not run */

/* ---- on the loop's thread, or before it runs ---- */

MUST_CHECK enum status loop_watch(struct loop *l, struct loop_fd *f,
                                  uint32_t events);
/* Changes the events of a watched descriptor. */
void loop_change(struct loop *l, struct loop_fd *f, uint32_t events);
/* Call it before the descriptor is closed. Its callback is not called any more,
 * not even for events already reported. */
void loop_unwatch(struct loop *l, struct loop_fd *f);

/* Fires at `at`, in monotonic nanoseconds; if it is set already, the new time
 * replaces the old. */
void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t at);
void loop_timer_cancel(struct loop *l, struct loop_timer *t);

/* Monotonic time at which this turn of the loop began. */
int64_t loop_now(const struct loop *l);

/* Sets the one function that is called at the end of each turn, before the loop
 * sleeps. */
void loop_at_turn_end(struct loop *l, void (*call)(void *ctx), void *ctx);

/* Runs until loop_stop. */
void loop_run(struct loop *l);
/* Runs pending posts, after loop_run or instead of it. */
void loop_run_posted(struct loop *l);

/* ---- any thread ---- */

/* Posts run in the order of posting. */
void loop_post(struct loop *l, struct loop_post *p);
void loop_stop(struct loop *l);

#endif
