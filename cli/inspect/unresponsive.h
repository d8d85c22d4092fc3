/* unresponsive.h - hosts of a crawl that did not respond when they were asked
 * last, and the URLs that wait for them. For `urlweir status`. */
#ifndef URLWEIR_CLI_INSPECT_UNRESPONSIVE_H
#define URLWEIR_CLI_INSPECT_UNRESPONSIVE_H

#include <jansson.h>

#include "base/status.h"
#include "frontier/reader.h"

#define UNRESPONSIVE_MOST 100 /* hosts listed, those with most URLs */

/* [{"host", "reason", "given_up", "queued"}], most URLs first. */
MUST_CHECK enum status unresponsive_json(struct reader *r, json_t **out);
/* A line each of the first few, on stdout. */
void unresponsive_print(const json_t *list);

#endif
