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

#endif
