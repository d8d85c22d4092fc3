/*
 * url_params.h - leave parameters out of a query, and sort those that stay.
 *
 * A parameter is `name=value` or `name` between `&`. All of it is applied to
 * canonical URLs and gives canonical URLs; applied twice it changes nothing
 * more. If the query becomes empty, its question mark is removed too. None of
 * it is done unless a user asks for it (url_form.h). Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_URL_PARAMS_H
#define URLWEIR_FRONTIER_URL_URL_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "frontier/url/url.h"

/* Which parameters go; those that stay keep their order. */
struct url_params_drop {
    /* Octet for octet as in the canonical form; `x*` stands for all names that
     * begin with x. */
    const char *const *names;
    size_t count;
    bool tracking; /* those of url_tracking.h */
    bool empty;    /* `name=` without a value, and nothing between two `&`; a
                      name alone stays, as ?print often means something */
};
void url_params_drop(struct url *u, const struct url_params_drop *d);

/* Sorts parameters by name, octet by octet; those of one name keep their order,
 * as in URLSearchParams.sort() of the URL Standard. A query with more than
 * URL_PARAMS_SORTED parameters stays as it is. */
#define URL_PARAMS_SORTED 1000
void url_params_sort(struct url *u);

#endif
