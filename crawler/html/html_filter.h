/*
 * html_filter.h - the part of a page that can matter, as plain XML.
 *
 * Reads a page as a browser with scripting off does (html.h, html_tree.h) and
 * writes the few tags that can hold what is asked for: empty elements side by
 * side in one root. It also collects the page's title and language, the texts
 * of its links, and its first heading.
 *
 * Whatever octets the page has, the markup is a well-formed XML document
 * without namespaces, references, comments, processing instructions or a DTD,
 * in printable ASCII; its values are written as html_markup_write says.
 *
 * Linear time; the markup grows to a small multiple of the page at most, and
 * never past the ceiling of its buffer. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_FILTER_H
#define URLWEIR_CRAWLER_HTML_HTML_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "crawler/html/html_tree.h"
#include "crawler/html/html_words.h"
#include "crawler/html/text_digest.h"

/* Appends any octets as a value, without zero octets. One longer than
 * MARKUP_VALUE_MOST when written is left empty. */
void html_markup_write(struct buf *out, struct bytes value);

/* Does `written` differ from its value? */
bool html_markup_is_coded(struct bytes written);
/* Appends the value of `written`, which html_markup_write wrote; it is no
 * longer than that. */
void html_markup_read(struct buf *out, struct bytes written);

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

/* ---- what stands between the tags of <a> ---- */

/*
 * html_filter.h writes tags without their content; this keeps, beside them and
 * in their order, the text of each <a> that it writes: up to the next <a> or
 * </a>, with the alt of images, folded and cut (text_digest.h). One thread.
 */

struct html_anchors {
    struct buf texts; /* for each <a>: its text, and a zero octet */
    struct text_fold fold;
    bool open;
    size_t body_at; /* where those of the page's body begin */
};

/* The text at *at, in the order in which they were begun; moves *at on. Empty
 * behind the last. */
struct bytes html_anchors_next(const struct html_anchors *a, size_t *at);

/* ---- the text of a page's first <h1> ---- */

/*
 * Its text with the alt of images, folded and cut, up to the end
 * tag of any heading, which is what ends it in a browser too. An <h1> without
 * text does not count. One thread.
 */

struct html_heading {
    struct buf text;
    struct text_fold fold;
    bool open;
};
/* Lives until the next page. */
struct bytes html_heading_get(const struct html_heading *h);

/* ---- html filter ---- */

#define HTML_NOTED_MOST ((size_t)16 << 10)

/* What is asked for. Zero it, then set. */
struct html_wants {
    uint32_t of[WORD_COUNT_];     /* attributes written, by element ... */
    uint32_t of_svg[WORD_COUNT_]; /* ... of HTML and of SVG */
    uint32_t of_any;              /* attributes written for every element */
    bool style_text;   /* text of style sheets, as a style attribute */
    bool og;           /* meta og: properties */
    bool link_texts;   /* texts of <a> with a link, and whole rel */
    bool about;        /* the meta description, and the first <h1> */
    const char *agent; /* <meta> name to read besides robots; or NULL */
    /* Gets the visible text of the page in pieces, decoded, each a word or more
     * (but no title, style, script or content of a template); NULL: nobody. */
    void (*text)(void *ctx, struct bytes piece);
    void *text_ctx;
};

struct html_filter {
    struct html_reader reader;
    struct html_tree tree;
    struct buf markup;           /* the XML document */
    struct buf scratch;          /* a value being read */
    struct buf style;            /* text of a style sheet inside SVG */
    struct html_anchors anchors; /* of the <a> in it */
    struct html_heading heading; /* the first <h1> with text */
    size_t body_at; /* where the tags of the page's body begin in it */
    bool body_begun;
    bool in_xml; /* the tags are the tree; the current one is ... */
    enum html_word xml_word;
    enum html_space xml_space; /* ... of that word and space */
    bool in_style;
    bool in_title, title_found;
    struct buf title; /* at most HTML_NOTED_MOST octets of each */
    struct buf lang;
    bool broken;      /* of a page in XML: it is not well formed, ... */
    size_t broken_at; /* ... from this octet on */
    uint32_t found;   /* attributes of the current tag */
    struct bytes value[ATTR_COUNT_];
    uint32_t presented; /* presentation attributes of it, by their numbers */
    struct bytes presentation[PRESENTATION_COUNT_];
};

/* `markup_ceiling` bounds the markup, in octets, before its last end tag. */
void html_filter_init(struct html_filter *f, size_t markup_ceiling);
void html_filter_fini(struct html_filter *f);

/* Reads all of `page` (UTF-8). `base` gets each base element's href, decoded,
 * until it returns true. Afterwards .markup, .anchors, .heading, .title and
 * .lang are valid until the next page. STATUS_LIMIT: the markup reached its
 * ceiling; it ends with a whole tag. */
MUST_CHECK enum status html_filter_page(
    struct html_filter *f, struct bytes page, const struct html_wants *wants,
    bool (*base)(void *ctx, struct bytes href), void *ctx);

/* As html_filter_page, by the rules of XML (xhtml.h); from where the page is
 * not well formed, which .broken and .broken_at tell, as HTML. */
MUST_CHECK enum status html_filter_xml(
    struct html_filter *f, struct bytes page, const struct html_wants *wants,
    bool (*base)(void *ctx, struct bytes href), void *ctx);

#endif
