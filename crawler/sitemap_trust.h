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
#include "crawler/html/link_kinds.h"
#include "crawler/sitemap/sitemap.h"
#include "frontier/engine.h"
#include "storage/frontier_store.h"
#include "storage/rows/page_store.h"

/* The kind of link that an entry is. */
enum link_kind link_kind_of_entry(enum sitemap_kind kind);
/* Is it for the entry's host to say whether `page` may list it? A feed may link
 * to any host, and so may a listed page to another language; a sitemap speaks
 * for its own. */
bool sitemap_needs_trust(const struct url *page, const struct sitemap_entry *e);

/* Keeps those of the last `elsewhere` items of r->done.outlinks that count; the
 * others become drops, REASON_CROSS_HOST. */
void sitemap_trust_sift(struct report *r, const struct candidate_rules *of,
                        struct engine *e);

#endif
