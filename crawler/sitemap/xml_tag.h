/*
 * xml_tag.h - one tag of tolerant XML: its extent, name and attributes.
 *
 * No state and no allocation; everything is borrowed from the input.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_XML_TAG_H
#define URLWEIR_CRAWLER_SITEMAP_XML_TAG_H

#include <stdbool.h>
#include <stddef.h>

#include "crawler/sitemap/xml_scan.h"

struct xml_tag {
    struct bytes name;                     /* as written */
    bool empty;                            /* <name/> */
    struct xml_attr attrs[XML_ATTRS_MOST]; /* references not replaced yet */
    size_t attr_count;
};

enum xml_tag_kind {
    XML_TAG_START,
    XML_TAG_END,  /* </name>: attributes do not count */
    XML_TAG_NONE, /* the `<` begins no tag */
    XML_TAG_MORE  /* its end has not come yet; never if `final` */
};

/* Reads the tag at the start of `in`, which is a `<`. *length: its octets. A
 * tag ends at a `>` outside quotes. A `<` inside a tag means that a quote was
 * left open: then the tag ends at its first `>`, or before the `<`. `final`:
 * the same applies to the end of the input. */
enum xml_tag_kind xml_tag_read(struct bytes in, bool final, struct xml_tag *tag,
                               size_t *length);

#endif
