/*
 * url_form.h - the form that a crawl gives its URLs, beyond the canonical one.
 *
 *     canonical ─► parameters dropped, sorted ─► rewritten ─► read again
 *                        ▲                                         │
 *                        └────────── until nothing changes ────────┘
 *
 * Users ask for it (--drop-params, --drop-tracking, --drop-empty-params,
 * --sort-query, --rewrite); without, URLs have the canonical form.
 *
 * Promise: the form of a form is that form, for every URL. Rules that rewrite
 * are applied until nothing changes; a URL on which they do not come to rest in
 * URL_FORM_ROUNDS, become too long, or give no http or https URL keeps its form
 * without them, which is as final. Rules that do so on a sample made from one
 * of their expressions are refused.
 *
 * Any thread may apply a form; one makes and frees it.
 */
#ifndef URLWEIR_FRONTIER_URL_URL_FORM_H
#define URLWEIR_FRONTIER_URL_URL_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "frontier/url/url.h"

/*
 * Only names that mean nothing else: `sid`, `ref` or `source` may name what a
 * page shows, and stay. Any thread.
 */

/* Does a parameter of this name only follow people or sessions? ASCII letters
 * are compared without case. */
bool url_tracking_has(struct bytes name);

/*
 * A parameter is `name=value` or `name` between `&`. All of it is applied to
 * canonical URLs and gives canonical URLs; applied twice it changes nothing
 * more. If the query becomes empty, its question mark is removed too. None of
 * it is done unless a user asks for it (url_form.h). Any thread.
 */

/* Which parameters go; those that stay keep their order. */
struct url_params_drop {
    /* Octet for octet as in the canonical form; `x*` stands for all names that
     * begin with x. */
    const char *const *names;
    size_t count;
    bool tracking; /* those of url_form.h */
    bool empty;    /* `name=` without a value, and nothing between two `&`; a
                      name alone stays, as ?print often means something */
};

/* Sorts parameters by name, octet by octet; those of one name keep their order,
 * as in URLSearchParams.sort() of the URL Standard. A query with more than
 * URL_PARAMS_SORTED parameters stays as it is. */
#define URL_PARAMS_SORTED 1000

/* ---- url form ---- */

struct url_form_options {
    struct url_params_drop drop;
    bool sort;            /* url_params_sort */
    struct bytes rewrite; /* rules, see url_pattern.h; empty: none */
};

struct url_form;

/* Options are copied. STATUS_FORMAT, STATUS_LIMIT: the rules cannot be used;
 * `why` says the line. On failure *out is untouched. */
MUST_CHECK enum status url_form_new(struct url_form **out,
                                    const struct url_form_options *o,
                                    struct buf *why);
void url_form_free(struct url_form *f); /* NULL is fine */

/* Brings a canonical URL to the form. NULL: it is the canonical form. */
void url_form_apply(const struct url_form *f, struct url *u);

/* What the form depends on, as text: the versions of the canonical form and of
 * the lists in use, the options, the rules. Two forms with one text are the
 * same; a crawl stores it. */
struct bytes url_form_text(const struct url_form *f);
/* The rules in such a text; they are the last part of it. */
struct bytes url_form_rules(struct bytes text);

#endif
