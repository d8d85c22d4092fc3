/*
 * stop_signals.h - the signals that end a command in good order: SIGINT,
 * SIGTERM and SIGHUP.
 *
 * Signals that our parent set to be ignored are left out: nohup(1) does this
 * with SIGHUP, a shell with SIGINT for commands in the background.
 */
#ifndef URLWEIR_CLI_STOP_SIGNALS_H
#define URLWEIR_CLI_STOP_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

void stop_signals(sigset_t *set);
/* Blocks them, so that they can be waited for, and ignores SIGPIPE. Call it
 * before any thread is made, since threads inherit the mask. */
void stop_signals_block(void);
/* Is a signal that has come now a wish of its own? False: it is an echo of the
 * one at *last, as timeout(1) sends its signal to a process and then to its
 * group, and a parent passes on what its child has got as well. *last, 0 at
 * first, is when the last wish came. */
bool stop_signals_is_wish(int64_t *last);
/* Unblocks them for this thread while it has nothing to lose: they end the
 * process. */
void stop_signals_unblock(void);

#endif
