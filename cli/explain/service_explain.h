/*
 * service_explain.h - `urlweir explain` in a directory of `urlweir serve`.
 */
#ifndef URLWEIR_CLI_EXPLAIN_SERVICE_EXPLAIN_H
#define URLWEIR_CLI_EXPLAIN_SERVICE_EXPLAIN_H

#include <stdbool.h>

#include "frontier/reader.h"

/* Prints all that is known of `url` in each crawl and queue that ever had it,
 * as docs/formats/explain.md describes. Returns an enum exit_code. */
int service_explain(struct reader *r, const char *url, bool json);

#endif
