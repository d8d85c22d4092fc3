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

/* Writes `text` to `out`, of `size` octets, with every match replaced, and its
 * length to *len. `with` is as in pcre2_substitute(3), with
 * PCRE2_SUBSTITUTE_EXTENDED: $1, ${name}, \L; a group that is unset is empty.
 * *changed: something matched; otherwise `out` is unspecified.
 * STATUS_FORMAT: `with` is not valid. STATUS_LIMIT: no room. */
MUST_CHECK enum status url_pattern_replace(const struct url_pattern *p,
                                           struct bytes text, struct bytes with,
                                           char *out, size_t size, size_t *len,
                                           bool *changed);

#endif
