/*
 * live_state.h - ask a running crawl for its state.
 *
 * The store shows that a process runs the crawl; only that process knows
 * whether it is paused.
 */
#ifndef URLWEIR_CLI_STATUS_LIVE_STATE_H
#define URLWEIR_CLI_STATUS_LIVE_STATE_H

#include <jansson.h>
#include <stdbool.h>

/* Returns the crawl as `GET /v1/crawls` shows it, with a "state" that is one of
 * "running", "paused", "waiting" and "stopping"; free it with json_decref().
 * NULL: no process runs the crawl in `dir`, or it does not answer within a
 * second. */
json_t *live_state(const char *dir);

/* The hosts with the most URLs left, as `GET /v1/crawls/NAME/hosts` shows them;
 * free them with json_decref(). NULL as above. */
json_t *live_hosts(const char *dir);

#endif
