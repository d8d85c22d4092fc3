/*
 * steering.h - what a person does to a crawl while it runs.
 *
 * A process takes such acts from DIR/control; here a thread of the process
 * calls the registry as the handlers of that socket do.
 */
#ifndef URLWEIR_TESTS_SIM_STEERING_H
#define URLWEIR_TESTS_SIM_STEERING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "tests/sim/dice.h"

struct crawls;
struct plan;

enum steer_verb {
    STEER_PAUSE,
    STEER_UNPAUSE,
    STEER_STOP,
    STEER_SEED,
    STEER_SET,
    STEER_RETRY,
    STEER_REFRESH,
    STEER_BLOCK,
    STEER_DELAY,
    STEER_LIMIT
};

struct sim_steer {
    enum steer_verb verb;
    int64_t after_ms;  /* of the beginning of the process */
    const char *what;  /* a URL, a host, a reason, or the name of a setting */
    const char *value; /* of SET */
    unsigned setting, choice; /* the same, as person.h has them */
    int64_t number; /* BLOCK, DELAY: ms; LIMIT: URLs; REFRESH: 1: now */

    /* what came of it; times are passed_ms of the log */
    int64_t asked_ms; /* 0: never, as there was no crawl to call */
    int64_t said_ms;  /* 0: the process ended before it said anything */
    bool done;        /* it was said to be done */
};

#define STEERS 8
/* Those of an act, in order of time. */
struct steering {
    struct sim_steer at[STEERS];
    unsigned count;
};

/* None, mostly, or a few; none of SET. */
void steering_throw(struct steering *, const struct plan *, struct dice *);
/* Adds one, at its time; false: there is no room. */
bool steering_add(struct steering *, const struct sim_steer *);
/* The thread, for life_order.steer; `arg` is a struct steering in memory that
 * outlives the process. */
void *steering_thread(void *arg);
/* For people, after the words of the act. */
void steering_describe(const struct steering *, struct buf *out);

/* ---- for other threads that call the registry ---- */

/* NULL: it cannot be called now; else it can until steering_leave. */
struct crawls *steering_enter(void);
void steering_leave(void);

struct crowd_request;
/* Performs a request to DIR/control, of those on the crawl as a whole. */
void steering_answer(struct crowd_request *);

/* ---- for stubs.c ---- */

/* The registry can be called from now on, until steering_end, which waits for
 * the call that runs. */
void steering_begin(struct crawls *);
void steering_end(void);

#endif
