/*
 * start_watch.h - SIGINT and SIGTERM end a service that is still starting.
 *
 * A start reads stores, rebuilds filters and stores the seeds of crawls, which
 * can take minutes, or waits for a pipe that nobody writes to. Nothing has been
 * acknowledged to anyone yet, so the signal ends the process at once, as a
 * crash would: the next start finds everything that was committed.
 */
#ifndef URLWEIR_CLI_RUN_START_WATCH_H
#define URLWEIR_CLI_RUN_START_WATCH_H

struct start_watch;

/* Call this with both signals blocked; they stay blocked. NULL: the watch could
 * not be made, and the signals take effect when the start is over. */
struct start_watch *start_watch_begin(const char *command);
/* From here on the caller handles the signals. NULL is fine. */
void start_watch_end(struct start_watch *w);

#endif
