/*
 * reader.h - a second process, which reads a directory while another runs.
 *
 * It is forked by the process that runs, before that does anything, and takes
 * turns with it: it runs until its threads all wait, or a little longer by
 * chance, while the other one stands still, and then gives the processor back. A
 * thread of the other one stands for it there.
 */
#ifndef URLWEIR_TESTS_SIM_READER_H
#define URLWEIR_TESTS_SIM_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/life.h"

/* Called by the one that starts a process with a reader, before and after; the
 * latter returns the exit status of the reader, -1: it did not come to an end. */
void reader_prepare(void);
int reader_finish(void);
/* Forks it; true: this is the reader, whose first turn has come. In the other
 * process add reader_thread to its threads. */
bool reader_fork(const struct life_reader *);
void *reader_thread(void *arg);
/* The process that runs ends. */
void reader_stop(void);

/* Is this process the reader? */
bool reader_is_self(void);
/* The reader has nothing to do before `until`, of the monotonic clock. */
void reader_give_turn(int64_t until);
/* It is over. `why`: it is a finding; else NULL. */
_Noreturn void reader_end(int status, const char *why);

#endif
