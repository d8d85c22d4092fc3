/*
 * feed.h - items of RSS 0.9x, 1.0 (RDF), 2.0 and of Atom.
 *
 * Takes the events of an XML reader (xml_scan.h) and gathers entries (entry.h).
 * An item's location is its <link>; in RSS without one a <guid> that is a
 * permalink (RSS 2.0), or rdf:about (RSS 1.0); in Atom the first <link> that is
 * an alternate (RFC 4287 section 4.2.7.2). Its date is <pubDate>, else dc:date;
 * in Atom <updated> (0.3: <modified>), else <published> (<issued>). The feed's
 * own links, enclosures, comments and sources are not items. xml:base applies.
 * One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_FEED_H
#define URLWEIR_CRAWLER_SITEMAP_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "crawler/sitemap/entry.h"
#include "crawler/sitemap/sitemap.h"
#include "crawler/sitemap/xml_scan.h"
#include "frontier/url/url.h"

/* The format of a feed whose root is this element; SITEMAP_UNKNOWN: none. */
enum sitemap_format feed_of_root(const struct xml_name *name, size_t depth);

enum { FEED_BASES_MOST = 8 }; /* nested xml:base attributes */

struct feed {
    enum sitemap_format format;
    struct entry *entry;
    const struct url *document; /* its own URL; NULL: not known */
    struct {
        struct url url;
        size_t depth; /* of the element with the attribute */
    } bases[FEED_BASES_MOST];
    size_t base_count;
};

void feed_init(struct feed *f, struct entry *entry, const struct url *document);
void feed_fini(struct feed *f);

/* Events from the root's start tag on; text goes to entry_text(). */
void feed_start(struct feed *f, const struct xml_name *name,
                const struct xml_attr *attrs, size_t attr_count, size_t depth);
void feed_end(struct feed *f, size_t depth, bool closed);

#endif
