/*
 * serve_watch.h - `urlweir serve redis://HOST/NAME`: the dashboard, the HTTP
 * API and metrics of a crawl in a cluster, from any machine.
 *
 * Main thread.
 */
#ifndef URLWEIR_CLI_RUN_SERVE_WATCH_H
#define URLWEIR_CLI_RUN_SERVE_WATCH_H

#include <signal.h>

#include "cli/run/serve_settings.h"

/* Serves until one of `signals`, which are blocked, comes; SIGHUP among them
 * reads tokens and certificates again instead. Returns the exit status; errors
 * were printed. */
int serve_watch(const struct serve_settings *s, const char *url,
                const sigset_t *signals);

#endif
