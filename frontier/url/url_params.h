/*
 * url_params.h - leave chosen parameters out of a query (--drop-params).
 *
 * Off by default. Session IDs and campaign parameters give one page many URLs;
 * users can ask to drop them. It is applied to canonical URLs and gives
 * canonical URLs. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_URL_PARAMS_H
#define URLWEIR_FRONTIER_URL_URL_PARAMS_H

#include <stddef.h>

#include "frontier/url/url.h"

/* Removes each `name=value` or `name` between `&` whose name, octet for octet
 * as in the canonical form, is one of `names`; a name that ends in `*` matches
 * every name that begins with the rest of it. The others keep their order. If
 * the query becomes empty, its question mark is removed too. */
void url_drop_params(struct url *u, const char *const *names, size_t count);

#endif
