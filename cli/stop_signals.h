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

void stop_signals(sigset_t *set);
/* Blocks them, so that they can be waited for, and ignores SIGPIPE. Call it
 * before any thread is made, since threads inherit the mask. */
void stop_signals_block(void);
/* Unblocks them for this thread while it has nothing to lose: they end the
 * process. */
void stop_signals_unblock(void);

#endif
