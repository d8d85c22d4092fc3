/*
 * sitemap_stream.h - a sitemap on its way into the frontier, as it arrives.
 *
 * Takes the octets of a response, hands them to the parser (sitemap.h), brings
 * what is listed to canonical form, asks the scope, and sends it on in reports
 * of a thousand entries, REPORT_PART, each ordered by what the sitemap says of
 * its URLs (sitemap_hint.h). So memory does not go with the sitemap's size,
 * and a body that breaks off has said what it could. The limits are those of
 * the protocol: 50 MiB uncompressed, 50,000 entries.
 *
 * Entries have the depth of their sitemap, and so have the sitemaps of an
 * index; an index within an index is passed over. What stands on another host
 * than the sitemap is left for sitemap_trust.h to judge. One thread.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_STREAM_H
#define URLWEIR_CRAWLER_SITEMAP_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/queue.h"
#include "base/status.h"
#include "crawler/fetch/response.h"
#include "crawler/fetcher.h"

struct sitemap_stream;

/* Where one may be although nobody named it. */
#define SITEMAP_GUESS "/sitemap.xml"

/* Memory that one may take while it is read, beside its parser. */
#define SITEMAP_STREAM_MEMORY ((uint64_t)1 << 20)

/* All three outlive the stream. */
struct sitemap_stream *sitemap_stream_new(const struct fetcher_options *o,
                                          struct queue *reports,
                                          const struct engine_lease *l);
void sitemap_stream_free(struct sitemap_stream *s); /* NULL is fine */

/* Octets of the body of `a`, content codings taken off. False: it is over its
 * limits, and no more need come. `stream` is a struct sitemap_stream. */
bool sitemap_stream_take(void *stream, const struct response *a,
                         struct bytes octets);

struct sitemap_end {
    bool is_sitemap;    /* or a feed: its root, or some URL in it, says so */
    enum status status; /* OK; LIMIT: over a limit; FORMAT: its gzip is damaged
                           or cut short */
    bool too_many;      /* LIMIT was that of entries */
    uint64_t links;     /* entries that are URLs */
};
/* The body has ended: what is left of it is sent on. */
struct sitemap_end sitemap_stream_end(struct sitemap_stream *s);

#endif
