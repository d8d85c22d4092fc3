/*
 * sitemap_trust.h - whether a sitemap may list another host's URLs.
 *
 * sitemaps.org, "Sitemaps & cross submits": a sitemap lists URLs of its own
 * host; those of another host count if that host's robots.txt names the
 * sitemap. Here it is enough that the host names, or holds, one of the sitemaps
 * that led to this one, as an index or by a redirect. The frontier thread looks
 * at the robots.txt files in the store; a host without one there names no
 * sitemap.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_TRUST_H
#define URLWEIR_CRAWLER_SITEMAP_TRUST_H

#include "crawler/fetcher.h"
#include "frontier/engine.h"
#include "storage/frontier_store.h"
#include "storage/rows/page_store.h"

/* Keeps those of the last `elsewhere` items of r->done.outlinks that count; the
 * others become drops, REASON_CROSS_HOST. */
void sitemap_trust_sift(struct report *r, const struct candidate_rules *of,
                        struct engine *e);

#endif
