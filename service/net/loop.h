/*
 * loop.h - sockets, timers, and hand-over from other threads.
 *
 * One thread runs a loop and owns everything that hangs on it: descriptors
 * that are watched, timers that are set. Other threads reach it by
 * loop_post() and loop_stop() alone. Callbacks run one after another on the
 * loop's thread and wait for nothing.
 */
#ifndef URLWEIR_SERVICE_NET_LOOP_H
#define URLWEIR_SERVICE_NET_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/status.h"

struct loop;

/* What is watched; part of its owner's struct. `events` are epoll's. */
struct loop_fd {
    int fd;
    void (*ready)(struct loop_fd *f, uint32_t events);
};

/* Zeroed but for `fire` before it is first set. It fires once. */
struct loop_timer {
    struct heap_item item;
    void (*fire)(struct loop_timer *t);
};

/* Work handed to the loop's thread; the poster's memory until it has run. */
struct loop_post {
    struct loop_post *next; /* the loop's */
    void (*run)(struct loop_post *p);
};

MUST_CHECK enum status loop_new(struct loop **out);
void loop_free(struct loop *l); /* NULL is fine; what was posted is not run */

/* ---- on the loop's thread, or before it runs ---- */

MUST_CHECK enum status loop_watch(struct loop *l, struct loop_fd *f,
                                  uint32_t events);
/* Other events for a descriptor that is watched. */
void loop_change(struct loop *l, struct loop_fd *f, uint32_t events);
/* Before the descriptor is closed. Its callback comes no more, not even for
 * what has been reported already. */
void loop_unwatch(struct loop *l, struct loop_fd *f);

/* Fire at `at`, in monotonic nanoseconds; set again, the new moment holds. */
void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t at);
void loop_timer_cancel(struct loop *l, struct loop_timer *t);

/* Monotonic time at which this turn of the loop began. */
int64_t loop_now(const struct loop *l);

/* Called at the end of each turn, before the loop sleeps. One at most. */
void loop_at_turn_end(struct loop *l, void (*call)(void *ctx), void *ctx);

/* Runs until loop_stop. */
void loop_run(struct loop *l);
/* What was posted and has not run, after loop_run or instead of it. */
void loop_run_posted(struct loop *l);

/* ---- any thread ---- */

/* In the order of posting. */
void loop_post(struct loop *l, struct loop_post *p);
void loop_stop(struct loop *l);

#endif
