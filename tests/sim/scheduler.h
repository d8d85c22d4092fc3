/*
 * scheduler.h - the threads and the clock of a simulated process.
 *
 * Threads are coroutines of one thread of the system. One runs until it waits;
 * which of those that can runs next is thrown with the seed's dice. If none
 * can, the clock moves on to the first moment that one waits for, so a week of
 * waiting takes no time.
 *
 * A thread of a real system may wake late, and these do: one that has had
 * nothing to do for a while oversleeps by a part of that while, an hour at
 * most. Otherwise a week would be millions of looks at nothing.
 */
#ifndef URLWEIR_TESTS_SIM_SCHEDULER_H
#define URLWEIR_TESTS_SIM_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/dice.h"

#define SCHEDULER_NEVER INT64_MAX

/* What runs now becomes the first thread. */
void scheduler_begin(struct dice dice);

/* Starts a thread; returns its number, from 2. */
unsigned scheduler_spawn(void *(*run)(void *), void *arg);
unsigned scheduler_self(void);
/* Waits until the thread has ended, and forgets it. */
void *scheduler_join(unsigned number);
void scheduler_detach(unsigned number);
void scheduler_name(unsigned number, const char *name);

/* Waits for scheduler_wake with the same object, or until `deadline`, a time of
 * the monotonic clock in ns. False: it is over. */
bool scheduler_wait(const void *object, int64_t deadline);
/* The same for one that only looks whether there is something to do: it may
 * wake later. */
bool scheduler_idle(const void *object, int64_t deadline);
/* There was something to do. */
void scheduler_busy(void);
/* Wakes those that wait for `object`: all, or one of them by chance. */
void scheduler_wake(const void *object, bool all);
/* A moment at which another thread may be given the processor. */
void scheduler_pass(void);
/* Waits without an object; as scheduler_wait, and as scheduler_idle. */
void scheduler_sleep(int64_t ns);
void scheduler_doze(int64_t ns);

/* Reads the clocks; each look takes a little time. */
int64_t scheduler_mono(void);
int64_t scheduler_wall(void);
/* Nothing of the process runs for so long. */
void scheduler_pause(int64_t ns);

#endif
