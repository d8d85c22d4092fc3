/*
 * sitemap.h - sitemaps and their indexes: XML, text, gzip; and feeds.
 *
 * Reads whatever a sitemap's URL may return: urlset and sitemapindex
 * (sitemaps.org), a text file with one URL a line, RSS 0.9x, 1.0 (RDF) and 2.0,
 * Atom; each of them gzipped or not. Input comes in pieces of any size, memory
 * does not grow with it, and broken input is read as far as possible
 * (xml_scan.h, unpack.h). Nothing is ever loaded from elsewhere.
 *
 * Entries come in file order. An entry whose location is not an http(s) URL is
 * skipped. Locations in a sitemap or a text file must be absolute; those in a
 * feed are resolved (xml:base, then the feed's own URL).
 *
 * A document that is not in UTF-8 is decoded as a whole, at its end
 * (charset.h), and only up to SITEMAP_DECODE_MOST octets; the protocol wants
 * UTF-8. One parser belongs to one thread.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_SITEMAP_H
#define URLWEIR_CRAWLER_SITEMAP_SITEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "frontier/url/url.h"

#define SITEMAP_COUNT_MOST 50000 /* entries, by the protocol */

enum sitemap_kind {
    SITEMAP_PAGE,     /* <url>, or a line of a text file */
    SITEMAP_SITEMAP,  /* <sitemap> of an index: another sitemap */
    SITEMAP_ITEM,     /* item or entry of a feed */
    SITEMAP_ALTERNATE /* <xhtml:link rel=alternate> of a <url>: the page in
                         another language; before its entry */
};

/* One entry. It is valid until the visitor returns; the visitor may
 * canonicalise `url`, which is in the form of url_parse (the --whatwg form), in
 * place. */
struct sitemap_entry {
    enum sitemap_kind kind;
    struct url *url;
    struct bytes lastmod;    /* as written, trimmed; in feeds pubDate, dc:date,
                                updated, or the nearest thing */
    struct bytes priority;   /* as written, trimmed */
    struct bytes changefreq; /* as written, trimmed */
};

enum sitemap_format {
    SITEMAP_UNKNOWN, /* not known yet, or none of these (an HTML page) */
    SITEMAP_TEXT,
    SITEMAP_URLSET,
    SITEMAP_INDEX,
    SITEMAP_RSS, /* 0.91 to 2.0 */
    SITEMAP_RDF, /* RSS 0.90 and 1.0 */
    SITEMAP_ATOM /* 0.3 and 1.0 */
};

struct sitemap_options {
    const struct url *base;    /* the document's own URL */
    struct bytes content_type; /* the HTTP header's value, or empty; borrowed
                                  until the parser is freed */
    size_t bytes_most;         /* decompressed; 0: SITEMAP_BYTES_MOST */
    uint64_t entries_most;     /* visited, alternates aside; 0: no limit */
    bool alternates;           /* visit SITEMAP_ALTERNATE too */
};

struct sitemap_parser;

struct sitemap_parser *sitemap_parser_new(
    const struct sitemap_options *o,
    void (*visit)(void *ctx, const struct sitemap_entry *entry), void *ctx);
void sitemap_parser_free(struct sitemap_parser *p); /* NULL is fine */

/* STATUS_LIMIT: a bound of the options was reached; entries until then were
 * visited, and further input is ignored. STATUS_NOMEM. */
MUST_CHECK enum status sitemap_parser_push(struct sitemap_parser *p,
                                           struct bytes in);
/* Ends the input. Also STATUS_FORMAT: the gzip stream was truncated or damaged;
 * what could be read was visited. */
MUST_CHECK enum status sitemap_parser_finish(struct sitemap_parser *p);

enum sitemap_format sitemap_parser_format(const struct sitemap_parser *p);
uint64_t sitemap_parser_passed_over(
    const struct sitemap_parser *p); /* entries whose location is not a URL */

#endif
