/*
 * fault.h - named points at which a test may kill or block the process, and
 * times that it may shorten.
 *
 * URLWEIR_KILL_AT=NAME[:N] makes the Nth passage (1 by default) of the point
 * NAME end the process with SIGKILL, as a power cut would: nothing is flushed,
 * no handler runs. Crash tests use it to stop at every step of a commit and of
 * a checkpoint.
 *
 * URLWEIR_HOLD_AT=NAME[:N[:MS]] blocks the thread at that passage for MS
 * milliseconds or for ever, like code that never returns.
 *
 * URLWEIR_TIME=NAME:MS makes the time NAME MS milliseconds long.
 *
 * Without the variables a passage costs two loads.
 */
#ifndef URLWEIR_BASE_FAULT_H
#define URLWEIR_BASE_FAULT_H

#include <stdint.h>

/* Reads the environment; call once, before other threads exist. */
void fault_init(void);
void fault_point(const char *name);
/* In ns: `usual`, or the time that a test has set instead. */
int64_t fault_time(const char *name, int64_t usual);

#endif
