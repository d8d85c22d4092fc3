/* SPDX-License-Identifier: MIT */
/* html_attrs.c - the attributes of a page that are read. */
#include "crawler/html/html_attrs.h"

#include <stdint.h>

static const enum html_word words[ATTR_COUNT_] = {
    WORD_HREF,       WORD_SRC,         WORD_SRCSET,   WORD_ACTION,
    WORD_DATA,       WORD_CITE,        WORD_CONTENT,  WORD_HTTP_EQUIV,
    WORD_NAME,       WORD_PROPERTY,    WORD_REL,      WORD_TYPE,
    WORD_LANG,       WORD_STYLE,       WORD_DATA_SRC, WORD_DATA_SRCSET,
    WORD_XLINK_HREF, WORD_ENCODING,    WORD_COLOR,    WORD_FACE,
    WORD_SIZE,       WORD_POSTER,      WORD_ALT,      WORD_HREFLANG,
    WORD_BACKGROUND, WORD_IMAGESRCSET, WORD_XML_LANG, WORD_SRCDOC,
};

/* One more than the index in words; 0: not one of ours. */
static const uint8_t places[WORD_COUNT_] = {
    [WORD_HREF] = 1,         [WORD_SRC] = 2,          [WORD_SRCSET] = 3,
    [WORD_ACTION] = 4,       [WORD_DATA] = 5,         [WORD_CITE] = 6,
    [WORD_CONTENT] = 7,      [WORD_HTTP_EQUIV] = 8,   [WORD_NAME] = 9,
    [WORD_PROPERTY] = 10,    [WORD_REL] = 11,         [WORD_TYPE] = 12,
    [WORD_LANG] = 13,        [WORD_STYLE] = 14,       [WORD_DATA_SRC] = 15,
    [WORD_DATA_SRCSET] = 16, [WORD_XLINK_HREF] = 17,  [WORD_ENCODING] = 18,
    [WORD_COLOR] = 19,       [WORD_FACE] = 20,        [WORD_SIZE] = 21,
    [WORD_POSTER] = 22,      [WORD_ALT] = 23,         [WORD_HREFLANG] = 24,
    [WORD_BACKGROUND] = 25,  [WORD_IMAGESRCSET] = 26, [WORD_XML_LANG] = 27,
    [WORD_SRCDOC] = 28,
};

enum html_word html_attr_word(unsigned place)
{
    return words[place];
}

unsigned html_attr_place(enum html_word w)
{
    return places[w] > 0 ? places[w] - 1U : ATTR_COUNT_;
}

unsigned html_presentation_place(enum html_word w)
{
    switch (w) {
    case WORD_FILL:
        return 0;
    case WORD_STROKE:
        return 1;
    case WORD_FILTER:
        return 2;
    case WORD_MASK:
        return 3;
    case WORD_CLIP_PATH:
        return 4;
    case WORD_MARKER_START:
        return 5;
    case WORD_MARKER_MID:
        return 6;
    case WORD_MARKER_END:
        return 7;
    case WORD_CURSOR:
        return 8;
    default:
        return PRESENTATION_COUNT_;
    }
}
