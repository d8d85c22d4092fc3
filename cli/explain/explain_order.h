/*
 * explain_order.h - the place of an admitted URL in the order of its host.
 */
#ifndef URLWEIR_CLI_EXPLAIN_EXPLAIN_ORDER_H
#define URLWEIR_CLI_EXPLAIN_EXPLAIN_ORDER_H

#include <jansson.h>

#include "frontier/reader.h"
#include "job/settings/options.h"
#include "storage/url_record.h"

/* Adds order, and its score with the parts, unless all goes in order of
 * arrival. In-links are those stored: they are counted until the URL is done,
 * and stored at each doubling. */
MUST_CHECK enum status explain_order(json_t *out, struct reader *r,
                                     const struct url_record *f,
                                     const struct crawl_settings *settings);

#endif
