/*
 * fault.h - named points at which a test may end the process.
 *
 * URLWEIR_KILL_AT=NAME[:N] makes the Nth passage (1 by default) of the point
 * NAME end the process with SIGKILL, as a power cut would: nothing is flushed,
 * no handler runs. Crash tests use it to stand at every step of a commit and
 * of a checkpoint. Without the variable a passage costs one load.
 */
#ifndef URLWEIR_BASE_FAULT_H
#define URLWEIR_BASE_FAULT_H

/* Reads the environment; call once, before other threads exist. */
void fault_init(void);
void fault_point(const char *name);

#endif
