/*
 * surt.h - sort-friendly form of a URL, for scope and for order.
 *
 * The key that pywb gives a canonical URL (Internet Archive SURT):
 * "org,example)/path?query": host labels reversed, all in lower case, default
 * port left out, www. and www1. dropped. The key is coarser than the canonical
 * form: it has no session identifiers, sorted parameters, no empty segments, no
 * last slash, and as few escapes as possible. URLs with one key may be
 * different URLs; the key never decides what is fetched. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_SURT_H
#define URLWEIR_FRONTIER_URL_SURT_H

#include <stddef.h>

#include "base/buf.h"
#include "frontier/url/url.h"

/* The longest key, where each octet of the URL is a bare percent sign. */
#define SURT_CEILING (3 * URL_LENGTH_CEILING)

/* Appends the SURT of canonical `u`. If `out` reaches its ceiling, it has
 * failed, as with any append. */
void surt_of(const struct url *u, struct buf *out);

/* ---- session identifiers that a SURT leaves out ---- */

/*
 * The patterns are those of the Internet Archive's canonicaliser, as pywb
 * applies them: they match text, not parameters, so `zsid=...` loses all but
 * its z. Input is in lower case. Any thread.
 */

/* Removes the session segments of ASP.NET from the path of `len` octets at
 * `at`, in place; returns the new length. */
size_t surt_strip_path_session(char *at, size_t len);

/* Removes session parameters from a query, given without its question mark. */
size_t surt_strip_query_session(char *at, size_t len);

#endif
