/*
 * steering.h - what a person does to a crawl while it runs.
 *
 * A process takes such acts from DIR/control; here a thread of the process
 * calls the registry as the handlers of that socket do.
 */
#ifndef URLWEIR_TESTS_SIM_STEERING_H
#define URLWEIR_TESTS_SIM_STEERING_H

#include <stdint.h>

struct crawls;

/* The registry can be called from now on, until steering_end, which waits for
 * the call that runs. */
void steering_begin(struct crawls *);
void steering_end(void);

struct steering {
    int64_t pause_after_ms, pause_ms; /* pause_ms 0: no pause */
    int64_t stop_after_ms;            /* 0: no stop */
};

/* The thread, for life_order.steer; `arg` is a struct steering. */
void *steering_thread(void *arg);

#endif
