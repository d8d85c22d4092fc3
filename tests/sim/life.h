/*
 * life.h - one process of `urlweir`, from its command line to its end.
 *
 * The simulator forks; the child calls the program's main with the words that a
 * person would have typed, in the simulated world, and ends as that ends, or is
 * killed at a step. What it printed is kept.
 */
#ifndef URLWEIR_TESTS_SIM_LIFE_H
#define URLWEIR_TESTS_SIM_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "tests/sim/dice.h"
#include "tests/sim/points.h"

/* Steps of a process, until it is stopped as by a person. */
#define LIFE_PATIENT UINT64_C(2000000)
#define LIFE_WORDS   64

/* A signal that the process gets. */
struct life_signal {
    int64_t after_ms;
    int number;
};

/* A second process that reads meanwhile. */
struct life_reader {
    int64_t after_ms;
    const char *words[8]; /* as of life_order; words[0] NULL: there is none */
};

/* What befalls it; all zero is nothing. */
struct life_faults {
    uint64_t fail_at;            /* the operation of the disk that fails */
    uint64_t full_from, full_to; /* operations during which the disk is full */
    uint64_t no_memory_at;       /* the allocation that fails */
    uint64_t pause_at;           /* the step before which it is stopped, for */
    int64_t pause_ms;            /* so long, as by SIGSTOP */
    int64_t jump_after_ms, jump_ms; /* of the wall clock */
};

struct life_order {
    const char *words[LIFE_WORDS]; /* "crawl", "-o", ..., NULL */
    uint64_t kill_at;             /* the step at which it is killed; 0: never */
    int64_t kill_after_ms;        /* the same by time; 0: never */
    struct kill_point kill_point; /* the same by a named point */
    struct life_faults faults;
    struct life_reader reader;
    struct life_signal signals[4];
    unsigned signal_count;
    /* A thread of the process that plays a person; NULL: none. It may sleep
     * (scheduler.h), and must not outlive what it calls. */
    void *(*steer)(void *);
    void *steer_arg;
};

enum life_end {
    LIFE_EXITED, /* with a status of its own */
    LIFE_KILLED, /* as was ordered */
    LIFE_FAULTY  /* it crashed, hung or was aborted: a finding */
};

struct life_result {
    enum life_end end;
    int status;                         /* of LIFE_EXITED */
    uint64_t steps;                     /* it took */
    uint64_t disk_ops;                  /* it did */
    uint64_t disk_failed, disk_refused; /* of these */
    uint64_t allocations;
    bool no_memory; /* one failed */
    int reader;     /* exit status of the reader; -1: none, or it was cut off */
    struct buf out, err;
    struct buf why; /* of LIFE_FAULTY */
};

void life_result_init(struct life_result *);
void life_result_fini(struct life_result *);

/* Called once, before the first life: takes what is slow to make, and the same
 * for all lives. */
void life_prepare(void);
/* `dice` decides what is left to chance within the life. */
void life_run(const struct life_order *, struct dice dice,
              struct life_result *out);

/* The life of a process that was forked for it; `why` has room for 1000 octets,
 * for what makes it a finding. */
_Noreturn void life_live(const struct life_order *, struct dice dice,
                         char *why);

/* ---- what the simulated system calls, within a life ---- */

/* Counts a step, at which the life may end. */
void life_step(const char *what);
/* Kills the process here and now. */
void life_kill(const char *when);
/* The life is a finding; ends it. */
_Noreturn void life_end_badly(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The number of the process that runs, from 1; a reader's is another. */
unsigned life_number(void);
/* Numbers for all that the program takes for chance. */
uint64_t life_random(void);

#endif
