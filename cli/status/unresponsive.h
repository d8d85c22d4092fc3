/* unresponsive.h - hosts of a crawl that did not respond to the last request,
 * and the URLs that wait for them. For `urlweir status`. */
#ifndef URLWEIR_CLI_STATUS_UNRESPONSIVE_H
#define URLWEIR_CLI_STATUS_UNRESPONSIVE_H

#include <jansson.h>

#include "base/status.h"
#include "frontier/reader.h"

#define UNRESPONSIVE_MOST 100 /* most hosts listed */

/* [{"host", "reason", "given_up", "queued"}], those with most URLs first. */
MUST_CHECK enum status unresponsive_json(struct reader *r, json_t **out);
/* Prints a line for each of the first few on stdout. */
void unresponsive_print(const json_t *list);

#endif
