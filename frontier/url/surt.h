/*
 * surt.h - sort-friendly form of a URL, for scope and for order.
 *
 * The key that pywb gives a canonical URL (Internet Archive SURT):
 * "org,example)/path?query": host labels reversed, all in lower case, default
 * port left out, www. and www1. dropped. The key is coarser than the canonical
 * form: session identifiers go, parameters are sorted, empty segments and the
 * last slash are dropped, escapes are undone wherever they can be. URLs of one
 * key need not be one URL, and nothing here decides what is fetched. Any
 * thread.
 */
#ifndef URLWEIR_FRONTIER_URL_SURT_H
#define URLWEIR_FRONTIER_URL_SURT_H

#include "base/buf.h"
#include "frontier/url/url.h"

/* The longest key, where each octet of the URL is a bare percent sign. */
#define SURT_CEILING (3 * URL_LENGTH_CEILING)

/* Appends the SURT of canonical `u`. When `out` reaches its ceiling it has
 * failed, as after any append. */
void surt_of(const struct url *u, struct buf *out);

#endif
