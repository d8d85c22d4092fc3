/*
 * sitemap_lines.h - the sitemaps that a robots.txt names.
 *
 * RFC 9309 section 2.2.4 leaves such lines to us; sitemaps.org says what they
 * mean. They count wherever they stand in the file, for every agent, and may
 * name another host. Any thread.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_LINES_H
#define URLWEIR_CRAWLER_SITEMAP_LINES_H

#include "crawler/fetcher.h"
#include "crawler/robots/robots.h"

#define SITEMAP_LINES_MOST 1000 /* of one robots.txt; more are dropped */

/* Puts the sitemaps that the robots.txt of `origin` names into done.outlinks of
 * `r`, which is a report of `l`; none where that origin does not belong to the
 * crawl, as when it only holds a sitemap. */
void sitemap_lines_report(const struct fetcher_options *o,
                          const struct engine_lease *l, struct bytes origin,
                          const struct robots *rules, struct report *r);

/* Does some line name exactly this URL, in the form that `of` gives it? */
bool sitemap_lines_name(const struct candidate_rules *of,
                        const struct robots *rules, struct bytes origin,
                        struct bytes url);

#endif
