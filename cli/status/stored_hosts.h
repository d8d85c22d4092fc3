/*
 * stored_hosts.h - the hosts of a crawl, as its store has them: what is queued,
 * what they wait for, the delay in force and why.
 *
 * As of the last commit, by the settings that a resume would use.
 */
#ifndef URLWEIR_CLI_STATUS_STORED_HOSTS_H
#define URLWEIR_CLI_STATUS_STORED_HOSTS_H

#include <jansson.h>
#include <stdbool.h>

#include "frontier/budget.h"
#include "frontier/host_columns.h"
#include "frontier/reader.h"

struct stored_hosts;

/* The caller frees *out; NULL on failure. */
MUST_CHECK enum status stored_hosts_load(struct stored_hosts **out,
                                         struct reader *r);
void stored_hosts_free(struct stored_hosts *h); /* NULL is fine */

/* Adds the connections of this run that the running crawl knows, if there is
 * one, of the hosts with most URLs left. */
void stored_hosts_ask(struct stored_hosts *h);

/* Visits all hosts in order of arrival (most_first: those with the most URLs
 * left first), until `visit` returns false. Texts live as long as `h` and the
 * reader. */
void stored_hosts_each(const struct stored_hosts *h, bool most_first,
                       bool (*visit)(void *ctx, const struct host_record *host),
                       void *ctx);

/*
 * Ask a running crawl for its state.
 *
 * The store shows that a process runs the crawl; only that process knows
 * whether it is paused.
 */

/* Returns the crawl as `GET /v1/crawls` shows it, with a "state" that is one of
 * "running", "paused", "waiting" and "stopping"; free it with json_decref().
 * NULL: no process runs the crawl in `dir`, or it does not answer within a
 * second. */
json_t *live_state(const char *dir);

/*
 * Which hosts of a stored crawl are over a budget.
 *
 * As of the last commit, by the settings that a resume would use.
 */

struct stored_budgets;

/* The caller frees *out; NULL on failure. */
MUST_CHECK enum status stored_budgets_load(struct stored_budgets **out,
                                           struct reader *r,
                                           const struct budgets *b);
void stored_budgets_free(struct stored_budgets *s); /* NULL is fine */

/* The name of the budget that holds URLs of the queue back ("per-host",
 * "per-host-bytes", "per-domain", or "limit": a person's); NULL: none does. */
const char *stored_budgets_over(const struct stored_budgets *s, uint32_t queue);

#endif
