/*
 * sitemap_lines.h - the sitemaps that a robots.txt names.
 *
 * RFC 9309 section 2.2.4 allows such lines, and sitemaps.org defines them. They
 * count anywhere in the file, for every agent, and may name another host. Any
 * thread.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_LINES_H
#define URLWEIR_CRAWLER_SITEMAP_LINES_H

#include "crawler/fetcher.h"
#include "crawler/robots/robots.h"

#define SITEMAP_LINES_MOST 1000 /* of one robots.txt; others are dropped */

/* Puts the sitemaps that the robots.txt of `origin` names into done.outlinks of
 * `r`, a report on `l`. Puts none if the origin is not in the scope of the
 * crawl, for example if it only holds a sitemap. */
void sitemap_lines_report(const struct fetcher_options *o,
                          const struct engine_lease *l, struct bytes origin,
                          const struct robots *rules, struct report *r);

/* Does a line name exactly this URL, after `of` has made both canonical? */
bool sitemap_lines_name(const struct candidate_rules *of,
                        const struct robots *rules, struct bytes origin,
                        struct bytes url);

#endif
