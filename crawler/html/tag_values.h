/*
 * tag_values.h - attributes of one tag of the markup that html_filter.h writes,
 * as libxml2 hands them out.
 */
#ifndef URLWEIR_CRAWLER_HTML_TAG_VALUES_H
#define URLWEIR_CRAWLER_HTML_TAG_VALUES_H

#include <libxml/xmlstring.h>

#include "base/buf.h"
#include "base/bytes.h"

/* The attributes of a start tag; at == NULL: it lacks this one. */
struct tag_values {
    struct bytes href, src, srcset, action, data, cite, content, http_equiv,
        name, property, rel, type, style, data_src, data_srcset, poster, alt,
        hreflang, background, imagesrcset, srcdoc;
};

/* Reads `count` attributes in the form of startElementNsSAX2Func. Values that
 * are written in codes (html_markup.h) are decoded into `room`, which is
 * cleared first; the others stay where they are. All are empty if `room` has no
 * room.
 */
struct tag_values tag_values_of(struct buf *room, const xmlChar *const *atts,
                                int count);

#endif
