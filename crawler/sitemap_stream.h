/*
 * sitemap_stream.h - reads a sitemap while it arrives.
 *
 * Takes the octets of a response, parses them (sitemap.h), makes the listed
 * URLs canonical, asks the scope, and sends them in reports of a thousand
 * entries, REPORT_PART, each ordered by what the sitemap says about its URLs.
 * So memory does not grow with the sitemap, and the entries
 * of a truncated body are not lost. The limits are those of the protocol: 50
 * MiB uncompressed, 50,000 entries.
 *
 * Entries have the depth of their sitemap, and so have the sitemaps of an
 * index; an index within an index is ignored. sitemap_stream.h decides about
 * entries on other hosts than the sitemap's. One thread.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_STREAM_H
#define URLWEIR_CRAWLER_SITEMAP_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/thread/queue.h"
#include "crawler/fetch/response.h"
#include "crawler/fetcher.h"
#include "crawler/html/link_values.h"
#include "crawler/robots/robots.h"
#include "crawler/sitemap/sitemap.h"
#include "frontier/frontier.h"
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

struct sitemap_stream;

/* Where to look for a sitemap that nothing names. */
#define SITEMAP_GUESS "/sitemap.xml"

/* Most memory of a stream, beside its parser. */
#define SITEMAP_STREAM_MEMORY ((uint64_t)1 << 20)

/* All three arguments outlive the stream. */
struct sitemap_stream *sitemap_stream_new(const struct fetcher_options *o,
                                          struct queue *reports,
                                          const struct url_lease *l);
void sitemap_stream_free(struct sitemap_stream *s); /* NULL is fine */

/* Takes octets of the body of `a`, without content codings. False: the sitemap
 * is over its limits, and further octets are not needed. `stream` is a struct
 * sitemap_stream. */
bool sitemap_stream_take(void *stream, const struct response *a,
                         struct bytes octets);

struct sitemap_end {
    bool is_sitemap;    /* or a feed, by its root or a URL in it */
    enum status status; /* OK; LIMIT: over a limit; FORMAT: its gzip is damaged
                           or cut short */
    bool too_many;      /* LIMIT: too many entries */
    uint64_t links;     /* entries that are URLs */
};
/* Call it when the body has ended: sends the rest. */
struct sitemap_end sitemap_stream_end(struct sitemap_stream *s);

/* ---- the sitemaps that a robots.txt names ---- */

/*
 * RFC 9309 section 2.2.4 allows such lines, and sitemaps.org defines them. They
 * count anywhere in the file, for every agent, and may name another host. Any
 * thread.
 */

/* Puts the sitemaps that the robots.txt of `origin` names into done.outlinks of
 * `r`, a report on `l`. Puts none if the origin is not in the scope of the
 * crawl, for example if it only holds a sitemap. */
void sitemap_lines_report(const struct fetcher_options *o,
                          const struct url_lease *l, struct bytes origin,
                          const struct robots *rules, struct report *r);

/* ---- whether a sitemap may list another host's URLs ---- */

/*
 * sitemaps.org, "Sitemaps & cross submits": a sitemap lists URLs of its own
 * host; those of another host count if that host's robots.txt names the
 * sitemap. Here it is enough that the host names, or holds, one of the sitemaps
 * that led to this one, as an index or by a redirect. The frontier thread looks
 * at the robots.txt files in the store; a host without one there names no
 * sitemap.
 */

/* The kind of link that an entry is. */
enum link_kind link_kind_of_entry(enum sitemap_kind kind);
/* Is it for the entry's host to say whether `page` may list it? A feed may link
 * to any host, and so may a listed page to another language; a sitemap speaks
 * for its own. */
bool sitemap_needs_trust(const struct url *page, const struct sitemap_entry *e);

/* Keeps those of the last `elsewhere` items of r->done.outlinks that count; the
 * others become drops, REASON_CROSS_HOST. */
void sitemap_trust_sift(struct report *r, const struct candidate_rules *of,
                        struct frontier *e);

#endif
