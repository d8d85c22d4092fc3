/*
 * crowd.h - processes that run at once: those of a crawl on many machines.
 *
 * Each is a life (life.h) forked from the simulator. One has its turn while the
 * others stand still: it runs until its threads all wait, or for a shorter while
 * by chance. Which of those that can go on is next is thrown; if none can, the
 * clock moves. Processes start others, send them signals and wait for them, as
 * the worker of a cluster does with its shards; one that dies takes those that
 * it started with it.
 */
#ifndef URLWEIR_TESTS_SIM_CROWD_H
#define URLWEIR_TESTS_SIM_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/dice.h"
#include "tests/sim/life.h"

#define CROWD_MOST 1000 /* processes of a seed */

/* A process as others see it, in memory that all share. */
struct crowd_member {
    unsigned life, parent; /* parent 0: the person started it */
    int shard;             /* of `urlweir shard`, else -1 */
    bool ended, killed;
    bool clean;      /* it ended with a status, and nothing befell it */
    bool weary;      /* it, or one that it started, was stopped for its steps */
    int exit_status; /* -1: killed */
};

void crowd_begin(struct dice);
/* Kills those that are left; the simulation has ended. */
void crowd_end(void);

/* Starts a process; its life. `order`'s words are copied. */
unsigned crowd_start(const struct life_order *order);
/* Gives a process its turn, or moves the clock on, to `until` of the monotonic
 * clock at most. False: it is that time. */
bool crowd_turn(int64_t until);
const struct crowd_member *crowd_member(unsigned life);
bool crowd_any_alive(void);
/* Those it started die with it. */
void crowd_kill(unsigned life);
void crowd_signal(unsigned life, int number);
/* It and those that it started stand still for so long. */
void crowd_stop(unsigned life, int64_t ns);
/* What a process must not do, of which it cannot go on; NULL: none did. */
const char *crowd_fault(void);
/* What a process that has ended printed to standard output. */
void crowd_output(unsigned life, struct buf *out);
/* What befalls the next process that another one starts. */
void crowd_befall(const struct life_order *);
/* A process of that shard of the parent, alive; 0: none. */
unsigned crowd_shard_of(unsigned parent, int shard);

/* ---- within a process ---- */

bool crowd_is_self(void);
/* Nothing to do before `until`. */
void crowd_give_turn(int64_t until);
/* The process waits for what may take long, so that it stores nothing; 0: not
 * any more. As passed_ms of the log. */
void crowd_stalls(int64_t since_ms);
/* A request to another process's DIR/control, and its answer. */
struct crowd_request {
    const char *method, *url, *body; /* JSON */
    unsigned status;                 /* of HTTP */
    char *answer;                    /* JSON, in memory that all share */
};
/* False: nobody answers there. */
bool crowd_ask(const char *socket, struct crowd_request *);
/* Who started this process; 0: the person. */
unsigned crowd_parent(unsigned life);

#endif
