/*
 * start_watch.h - SIGINT and SIGTERM end a service that is still starting.
 *
 * A start reads stores, builds filters anew and stores the seeds of crawls,
 * which can take minutes, or wait for a pipe that nobody writes. Nothing was
 * acknowledged to anyone yet, so the process ends at once, by that signal, as
 * after a crash: all that was committed is found by the next start.
 */
#ifndef URLWEIR_CLI_RUN_START_WATCH_H
#define URLWEIR_CLI_RUN_START_WATCH_H

struct start_watch;

/* With both signals blocked, which they stay. NULL: it cannot be watched, and
 * they are heard when the start is over. */
struct start_watch *start_watch_begin(const char *command);
/* From here on they are the caller's. NULL is fine. */
void start_watch_end(struct start_watch *w);

#endif
