/*
 * sitemap_hint.h - a sitemap entry's values as numbers.
 *
 * sitemaps.org: priority is a fraction from 0.0 to 1.0, lastmod a W3C datetime
 * (www.w3.org/TR/NOTE-datetime: as little as a year), changefreq a word. Feeds
 * write dates by RFC 822 or RFC 3339. A value that cannot be parsed counts as
 * missing; a priority out of bounds is clamped. Any thread.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_SITEMAP_HINT_H
#define URLWEIR_CRAWLER_SITEMAP_SITEMAP_HINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "crawler/sitemap/sitemap.h"
#include "storage/rows/side_tables.h"

/* False: the entry has no hint. */
bool sitemap_hint(const struct sitemap_entry *e, struct url_hint *out);

/* Milliseconds since 1970, UTC, of a W3C datetime or a date of RFC 822 or RFC
 * 850; without a time it is midnight, without a zone UTC. HINT_NO_LASTMOD: it
 * is not a date. */
int64_t sitemap_date_ms(struct bytes text);

/* Which of two URLs to fetch first: < 0 the first, 0 either. The higher
 * priority wins, then the newer date; NULL is a URL without a hint, and a
 * missing priority counts as 0.5 (sitemaps.org). */
int sitemap_hint_order(const struct url_hint *a, const struct url_hint *b);

#endif
