/*
 * xml_scan.h - reads XML in pieces, and goes on where it is broken.
 *
 * For sitemaps and feeds, a third of which are not well formed somewhere. It
 * reports elements, attributes and text of a document that arrives in pieces,
 * in bounded memory, and never gives up: an end tag closes the nearest element
 * of its name or is ignored, a stray `<` or `&` is text, a tag without its `>`
 * ends where the next begins, and after the root element reading goes on. Of a
 * well-formed document it reports what libxml2 would (test_xml_scan.c compares
 * them), except for markup inside entities, which is text here. It validates
 * nothing and loads nothing.
 *
 * Input is UTF-8 without a byte order mark; bad sequences pass through. Bounds:
 * elements deeper than XML_DEPTH_MOST are skipped with their text, as are
 * attributes past XML_ATTRS_MOST, and a tag or DOCTYPE past XML_TAG_MOST octets
 * is read as text. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_XML_SCAN_H
#define URLWEIR_CRAWLER_SITEMAP_XML_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"

#define XML_DEPTH_MOST 256

struct xml_name {
    struct bytes prefix, local; /* as written; prefix may be empty */
    struct bytes ns;            /* namespace, empty: none, or not declared */
};

struct xml_attr {
    struct bytes name; /* as written, with its prefix */
    struct bytes value;
};

/* The value of the attribute of this name, trimmed; empty if there is none. */
struct bytes xml_attr_value(const struct xml_attr *attrs, size_t n,
                            const char *name);

/* Arguments of the callbacks live until they return. */
struct xml_handler {
    /* An element begins. `depth`: the root's is 1. */
    void (*start)(void *ctx, const struct xml_name *name,
                  const struct xml_attr *attrs, size_t attr_count,
                  size_t depth);
    /* The element at `depth` ends. `closed`: by an end tag, its own or an outer
     * element's; not by the end of the document. */
    void (*end)(void *ctx, size_t depth, bool closed);
    /* Text, in any number of pieces. `lost`: some of it cannot be known: an
     * entity that we do not load, or one that is too large. */
    void (*text)(void *ctx, struct bytes text, bool lost);
    void *ctx;
};

struct xml_scan;

struct xml_scan *xml_scan_new(const struct xml_handler *h);
void xml_scan_free(struct xml_scan *s); /* NULL is fine */

void xml_scan_push(struct xml_scan *s, struct bytes in);
/* Ends the input: open elements end. */
void xml_scan_finish(struct xml_scan *s);

#endif
