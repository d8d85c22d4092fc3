/*
 * url_params.h - leave chosen parameters out of a query (--drop-params).
 *
 * A rewriting of URLs that people ask for, off by default: session ids and
 * campaign marks make many URLs of one page. It is applied to canonical URLs
 * and gives canonical URLs. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_URL_PARAMS_H
#define URLWEIR_FRONTIER_URL_URL_PARAMS_H

#include <stddef.h>

#include "frontier/url/url.h"

/* Takes out each `name=value` or `name` between `&` whose name, octet for octet
 * as it stands in the canonical form, is one of `names`; a name that ends in
 * `*` stands for all that begin so. The others keep their order. A query that
 * is empty then goes with its question mark. */
void url_drop_params(struct url *u, const char *const *names, size_t count);

#endif
