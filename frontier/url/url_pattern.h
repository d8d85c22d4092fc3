/*
 * url_pattern.h - regular expressions over URLs (PCRE2).
 *
 * An expression is unanchored and sees octets: canonical URLs are ASCII.
 * Backtracking is bounded, so that no URL can stall the crawl; a match that
 * hits the bound counts as none. Any number of threads may use one pattern.
 */
#ifndef URLWEIR_FRONTIER_URL_URL_PATTERN_H
#define URLWEIR_FRONTIER_URL_URL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

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
 * A rule replaces every match in the URL (url_pattern.h); without REPLACEMENT
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

/* Applies all rules once to the text in `url`. False: the result would be too
 * long, and `url` is unspecified. */
bool url_rewrite_apply(const struct url_rewrite *r, struct buf *url);

size_t url_rewrite_count(const struct url_rewrite *r);
/* The line of rule `i`, for messages. */
size_t url_rewrite_line(const struct url_rewrite *r, size_t i);
/* Writes URLs that rule `i` is likely to match, made from its expression, one
 * after the other into `out`; `n` counts from 0. False: there are no more. */
bool url_rewrite_sample(const struct url_rewrite *r, size_t i, unsigned n,
                        struct buf *out);

#endif
