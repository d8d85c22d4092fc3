/*
 * surt.h - sort-friendly form of a URL, for scope and for order.
 *
 * The key that pywb gives a canonical URL (Internet Archive SURT):
 * "org,example)/path?query", host labels reversed, lower case, default port
 * left out, www. dropped as pywb does. Any thread.
 */
#ifndef URLWEIR_FRONTIER_SURT_H
#define URLWEIR_FRONTIER_SURT_H

#include "frontier/url.h"

/* Appends the SURT of canonical `u`. */
void surt_of(const struct url *u, struct buf *out);

#endif
