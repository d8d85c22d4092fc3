/*
 * live_state.h - what a crawl that runs says of its own state.
 *
 * The store knows that somebody runs the crawl; whether it is paused, only that
 * process knows.
 */
#ifndef URLWEIR_CLI_INSPECT_LIVE_STATE_H
#define URLWEIR_CLI_INSPECT_LIVE_STATE_H

#include <stdbool.h>

#define LIVE_STATE_SIZE 16

/* "running", "paused", "waiting" or "stopping" of the crawl in `dir`. False:
 * nobody runs it, or nobody answers within a second. */
bool live_state(const char *dir, char out[LIVE_STATE_SIZE]);

#endif
