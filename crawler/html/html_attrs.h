/*
 * html_attrs.h - the attributes of a page that are read.
 *
 * Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_ATTRS_H
#define URLWEIR_CRAWLER_HTML_HTML_ATTRS_H

#include "crawler/html/html_words.h"

/* A set of them is a sum of their bits. */
enum html_attr_bit {
    ATTR_HREF = 1 << 0,
    ATTR_SRC = 1 << 1,
    ATTR_SRCSET = 1 << 2,
    ATTR_ACTION = 1 << 3,
    ATTR_DATA = 1 << 4,
    ATTR_CITE = 1 << 5,
    ATTR_CONTENT = 1 << 6,
    ATTR_HTTP_EQUIV = 1 << 7,
    ATTR_NAME = 1 << 8,
    ATTR_PROPERTY = 1 << 9,
    ATTR_REL = 1 << 10,
    ATTR_TYPE = 1 << 11,
    ATTR_LANG = 1 << 12,
    ATTR_STYLE = 1 << 13,
    ATTR_DATA_SRC = 1 << 14,
    ATTR_DATA_SRCSET = 1 << 15,
    ATTR_XLINK_HREF = 1 << 16,
    ATTR_ENCODING = 1 << 17,
    ATTR_COLOR = 1 << 18,
    ATTR_FACE = 1 << 19,
    ATTR_SIZE = 1 << 20,
    ATTR_POSTER = 1 << 21,
    ATTR_ALT = 1 << 22,
    ATTR_HREFLANG = 1 << 23,
    ATTR_BACKGROUND = 1 << 24,
    ATTR_IMAGESRCSET = 1 << 25,
    ATTR_XML_LANG = 1 << 26,
    ATTR_SRCDOC = 1 << 27,
    ATTR_COUNT_ = 28,
    /* The presentation attributes of SVG that can have a url(). */
    ATTR_PRESENTATION = 1 << 28
};
#define PRESENTATION_COUNT_ 9

/* Its name. `place`: the number of its bit. */
enum html_word html_attr_word(unsigned place);
/* The number of its bit; ATTR_COUNT_: it is not one of these. */
unsigned html_attr_place(enum html_word w);
/* Its number among the presentation attributes; PRESENTATION_COUNT_: it is not
 * one of them. */
unsigned html_presentation_place(enum html_word w);

#endif
