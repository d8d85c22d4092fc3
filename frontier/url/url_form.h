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
 * Regular expressions over URLs (PCRE2).
 *
 * An expression is unanchored and sees octets: canonical URLs are ASCII.
 * Backtracking is bounded, so that no URL can stall the crawl; a match that
 * hits the bound counts as none. Any number of threads may use one pattern.
 */
struct url_pattern;

/* STATUS_FORMAT: `expression` does not compile; `why` gets the reason and where
 * it is. On failure *out is untouched. */
MUST_CHECK enum status url_pattern_new(struct url_pattern **out,
                                       struct bytes expression,
                                       struct buf *why);
void url_pattern_free(struct url_pattern *p); /* NULL is fine */

bool url_pattern_matches(const struct url_pattern *p, struct bytes text);

/* ---- a user's rules that rewrite URLs (--rewrite FILE) ---- */

/*
 * Text of lines, each a rule or, if blank or begun by #, a comment:
 *
 *     EXPRESSION [REPLACEMENT]        ^http://www\.(.*)$   http://$1
 *
 * A rule replaces every match in the URL (url_form.h); without REPLACEMENT
 * it removes it. Blanks separate the two, as no canonical URL has any. The
 * rules are applied in order, each to the result of the one before.
 *
 * Any thread may apply them; one makes and frees them.
 */

#define URL_REWRITE_CEILING ((size_t)64 << 10) /* octets of all rules */
#define URL_REWRITE_RULES   500
/* URLs longer than this stay as they are; no rule makes longer ones. */
#define URL_REWRITE_LENGTH ((size_t)8 << 10)

struct url_rewrite;

/* The text is copied. STATUS_FORMAT, STATUS_LIMIT: `why` gets "3: missing )
 * at ...", with the line. On failure *out is untouched. */
MUST_CHECK enum status url_rewrite_new(struct url_rewrite **out,
                                       struct bytes text, struct buf *why);
void url_rewrite_free(struct url_rewrite *r); /* NULL is fine */

/* Writes URLs that rule `i` is likely to match, made from its expression, one
 * after the other into `out`; `n` counts from 0. False: there are no more. */
bool url_rewrite_sample(const struct url_rewrite *r, size_t i, unsigned n,
                        struct buf *out);

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
    struct bytes rewrite; /* rules, see url_form.h; empty: none */
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
