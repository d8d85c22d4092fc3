/*
 * stored_budgets.h - which hosts of a stored crawl are over a budget.
 *
 * As of the last commit, by the settings that a resume would use.
 */
#ifndef URLWEIR_CLI_STATUS_STORED_BUDGETS_H
#define URLWEIR_CLI_STATUS_STORED_BUDGETS_H

#include "frontier/budget.h"
#include "frontier/reader.h"

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
