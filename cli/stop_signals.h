/*
 * stop_signals.h - the signals that end a command in good order: SIGINT,
 * SIGTERM and SIGHUP.
 *
 * Not those that whoever started us has us ignore: nohup(1) SIGHUP, a shell
 * SIGINT for what it starts in the background.
 */
#ifndef URLWEIR_CLI_STOP_SIGNALS_H
#define URLWEIR_CLI_STOP_SIGNALS_H

#include <signal.h>

void stop_signals(sigset_t *set);
/* Blocks them, to be waited for, and ignores SIGPIPE. Called before any thread
 * is made, which inherits what is blocked. */
void stop_signals_block(void);
/* For this thread, while it has nothing to lose: they end the process. */
void stop_signals_unblock(void);

#endif
