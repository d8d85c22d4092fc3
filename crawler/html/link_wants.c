/* SPDX-License-Identifier: MIT */
/* link_wants.c - which attributes of a page can hold links of given kinds. */
#include "crawler/html/link_wants.h"

#include <string.h>

#include "crawler/html/link_kinds.h"

#define OF_LINK                                                                \
    (LINK_BIT(LINK_LINK) | LINK_BIT(LINK_CANONICAL) | LINK_BIT(LINK_CSS) |     \
     LINK_BIT(LINK_SITEMAP) | LINK_BIT(LINK_ALTERNATE) | LINK_BIT(LINK_FEED) | \
     LINK_BIT(LINK_MANIFEST) | LINK_BIT(LINK_AMPHTML) |                        \
     LINK_BIT(LINK_RESOURCE))

/* Elements whose attributes hold links of any of `kinds`, or say more about
 * such a link. */
struct wanted {
    uint32_t kinds;
    enum html_word element;
    uint32_t attrs;
};

static const struct wanted of_html[] = {
    {LINK_BIT(LINK_A), WORD_A, ATTR_HREF | ATTR_REL},
    {LINK_BIT(LINK_AREA), WORD_AREA, ATTR_HREF | ATTR_REL},
    {OF_LINK, WORD_LINK, ATTR_HREF | ATTR_REL | ATTR_TYPE},
    {LINK_BIT(LINK_IMG), WORD_IMG, ATTR_SRC},
    {LINK_BIT(LINK_SRCSET), WORD_IMG, ATTR_SRCSET},
    {LINK_BIT(LINK_SRCSET), WORD_SOURCE, ATTR_SRCSET},
    {LINK_BIT(LINK_IFRAME), WORD_IFRAME, ATTR_SRC},
    {LINK_SET_ALL, WORD_IFRAME, ATTR_SRCDOC}, /* holds links of all kinds */
    {LINK_BIT(LINK_IFRAME), WORD_FRAME, ATTR_SRC},
    {LINK_BIT(LINK_SCRIPT), WORD_SCRIPT, ATTR_SRC},
    {LINK_BIT(LINK_FORM), WORD_FORM, ATTR_ACTION | ATTR_REL},
    {LINK_BIT(LINK_OBJECT), WORD_OBJECT, ATTR_DATA},
    {LINK_BIT(LINK_EMBED), WORD_EMBED, ATTR_SRC},
    {LINK_BIT(LINK_MEDIA), WORD_VIDEO, ATTR_SRC | ATTR_POSTER},
    {LINK_BIT(LINK_MEDIA), WORD_AUDIO, ATTR_SRC},
    {LINK_BIT(LINK_MEDIA), WORD_TRACK, ATTR_SRC},
    {LINK_BIT(LINK_MEDIA), WORD_SOURCE, ATTR_SRC},
    {LINK_BIT(LINK_MEDIA), WORD_LINK, ATTR_IMAGESRCSET},
    {LINK_BIT(LINK_MEDIA), WORD_INPUT, ATTR_SRC},
    {LINK_BIT(LINK_MEDIA), WORD_BODY, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TABLE, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_COLGROUP, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_COL, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_THEAD, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TBODY, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TFOOT, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TR, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TD, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TH, ATTR_BACKGROUND},
    {LINK_BIT(LINK_CITE), WORD_BLOCKQUOTE, ATTR_CITE},
    {LINK_BIT(LINK_CITE), WORD_Q, ATTR_CITE},
    {LINK_BIT(LINK_CITE), WORD_DEL, ATTR_CITE},
    {LINK_BIT(LINK_CITE), WORD_INS, ATTR_CITE},
};

#define ATTR_ANY_HREF (ATTR_HREF | ATTR_XLINK_HREF)

static const struct wanted of_svg[] = {
    {LINK_BIT(LINK_A), WORD_A, ATTR_ANY_HREF | ATTR_REL},
    {LINK_BIT(LINK_SCRIPT), WORD_SCRIPT, ATTR_ANY_HREF},
    {LINK_BIT(LINK_MEDIA), WORD_IMAGE, ATTR_ANY_HREF},
    {LINK_BIT(LINK_MEDIA), WORD_USE, ATTR_ANY_HREF},
    {LINK_BIT(LINK_MEDIA), WORD_FEIMAGE, ATTR_ANY_HREF},
};

static void want_of(uint32_t of[WORD_COUNT_], const struct wanted *rows,
                    size_t n, uint32_t kinds)
{
    for (size_t i = 0; i < n; i++)
        if (kinds & rows[i].kinds)
            of[rows[i].element] |= rows[i].attrs;
}

void link_wants(struct html_wants *out, uint32_t kinds, const char *agent)
{
    memset(out, 0, sizeof *out);
    want_of(out->of, of_html, sizeof of_html / sizeof *of_html, kinds);
    want_of(out->of_svg, of_svg, sizeof of_svg / sizeof *of_svg, kinds);
    if (kinds & LINK_BIT(LINK_LAZY))
        out->of_any |= ATTR_DATA_SRC | ATTR_DATA_SRCSET;
    if (kinds & LINK_BIT(LINK_STYLE))
        out->of_any |= ATTR_STYLE | ATTR_PRESENTATION;
    out->style_text = kinds & LINK_BIT(LINK_STYLE);
    out->og = kinds & LINK_BIT(LINK_OG);
    out->agent = agent;
}

void link_wants_texts(struct html_wants *out)
{
    out->link_texts = true;
    out->of[WORD_IMG] |= ATTR_ALT;
    out->of[WORD_AREA] |= ATTR_ALT;
}

void link_wants_about(struct html_wants *out)
{
    out->about = true;
    out->of[WORD_LINK] |= ATTR_HREF | ATTR_REL | ATTR_HREFLANG;
    out->of[WORD_IMG] |= ATTR_ALT;
}
