/*
 * sitemap_trust.h - whether a sitemap may speak of another host.
 *
 * sitemaps.org, "Sitemaps & cross submits": a sitemap lists URLs of its own
 * host; those of another count where that host's robots.txt names the sitemap.
 * Here it is enough that it names, or holds, one of the sitemaps that led to
 * this one, as an index or by a redirect. Asked on the frontier thread, of the
 * robots.txt files in the store: that of a host that was not asked yet names
 * nothing.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_TRUST_H
#define URLWEIR_CRAWLER_SITEMAP_TRUST_H

#include "crawler/fetcher.h"
#include "frontier/engine.h"
#include "storage/frontier_store.h"
#include "storage/rows/page_store.h"

/* Of the last `elsewhere` items of r->done.outlinks those that count stay; the
 * others become drops, REASON_CROSS_HOST. */
void sitemap_trust_sift(struct report *r, const struct candidate_rules *of,
                        struct engine *e);

#endif
