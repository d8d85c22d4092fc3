/*
 * html_traits.h - properties of HTML elements for the tree construction.
 *
 * One row of bits for each word (HTML standard, sections 13.2.4.2 and
 * 13.2.6.4). Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_TRAITS_H
#define URLWEIR_CRAWLER_HTML_HTML_TRAITS_H

#include <stdint.h>

#include "crawler/html/html.h"
#include "crawler/html/html_words.h"

enum html_trait {
    TRAIT_SPECIAL = 1 << 0,  /* an end tag does not reach past it */
    TRAIT_SCOPE = 1 << 1,    /* nor does a search for an element "in scope" */
    TRAIT_FORMAT = 1 << 2,   /* its end tag runs the adoption agency */
    TRAIT_BLOCK = 1 << 3,    /* its end tag closes all inside it */
    TRAIT_CLOSES_P = 1 << 4, /* its start tag ends a paragraph */
    TRAIT_EMPTY = 1 << 5,    /* has no content */
    TRAIT_IN_HEAD = 1 << 6,  /* does not begin the body */
    TRAIT_LEAVES = 1 << 7,   /* its start tag ends SVG and MathML */
    TRAIT_SHOWS = 1 << 8,    /* after it, no frameset may replace the body */
    TRAIT_TABLE_PART = 1 << 9
};

/* Bits of enum html_trait. */
extern const uint16_t html_traits[WORD_COUNT_];

/* How the content of an HTML element is read. */
enum html_state html_content_state(enum html_word w);

/* ---- the attributes of a page that are read ---- */

/* Any thread. */

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
