/*
 * sitemap_stream.h - reads a sitemap while it arrives.
 *
 * Takes the octets of a response, parses them (sitemap.h), makes the listed
 * URLs canonical, asks the scope, and sends them in reports of a thousand
 * entries, REPORT_PART, each ordered by what the sitemap says about its URLs
 * (sitemap_hint.h). So memory does not grow with the sitemap, and the entries
 * of a truncated body are not lost. The limits are those of the protocol: 50
 * MiB uncompressed, 50,000 entries.
 *
 * Entries have the depth of their sitemap, and so have the sitemaps of an
 * index; an index within an index is ignored. sitemap_trust.h decides about
 * entries on other hosts than the sitemap's. One thread.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_STREAM_H
#define URLWEIR_CRAWLER_SITEMAP_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/thread/queue.h"
#include "crawler/fetch/response.h"
#include "crawler/fetcher.h"

struct sitemap_stream;

/* Where to look for a sitemap that nothing names. */
#define SITEMAP_GUESS "/sitemap.xml"

/* Most memory of a stream, beside its parser. */
#define SITEMAP_STREAM_MEMORY ((uint64_t)1 << 20)

/* All three arguments outlive the stream. */
struct sitemap_stream *sitemap_stream_new(const struct fetcher_options *o,
                                          struct queue *reports,
                                          const struct engine_lease *l);
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

#endif
