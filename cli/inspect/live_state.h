/*
 * live_state.h - what a crawl that runs says of its own state.
 *
 * The store knows that somebody runs the crawl; whether it is paused, only that
 * process knows.
 */
#ifndef URLWEIR_CLI_INSPECT_LIVE_STATE_H
#define URLWEIR_CLI_INSPECT_LIVE_STATE_H

#include <jansson.h>
#include <stdbool.h>

/* A crawl as `GET /v1/crawls` has it, with a "state" that is one of "running",
 * "paused", "waiting" and "stopping"; json_decref() frees. NULL: nobody runs
 * the crawl in `dir`, or nobody answers within a second. */
json_t *live_state(const char *dir);

#endif
