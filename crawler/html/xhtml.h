/*
 * xhtml.h - reads a page by XML's rules, with libxml2's SAX2 parser.
 *
 * In XML a page's tags are its tree: nothing is implied, no element holds raw
 * text, `<script/>` ends at once, and names are told by their namespaces. The
 * reader tells of tags and text up to where the page is no longer well formed;
 * from there the caller reads on as HTML (html_filter.h).
 *
 * Bounded, whatever the page: no DTD reaches the parser (xhtml.h), so that
 * no entity expands and nothing is loaded; references to the characters that
 * HTML names are known where the DOCTYPE is one of XHTML's. Deeper than
 * XHTML_DEPTH_MOST, with more than XHTML_ATTRS_MOST attributes in a tag or
 * namespaces in force, a page counts as not well formed: libxml2 2.9 compares
 * each with each. Linear time; one thread at a time.
 */
#ifndef URLWEIR_CRAWLER_HTML_XHTML_H
#define URLWEIR_CRAWLER_HTML_XHTML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "crawler/html/html_tree.h"

#define XHTML_DEPTH_MOST 256

struct xhtml_handler {
    /* An element begins, by `tag`, a part of the page that html.h reads as a
     * start tag. Elements of no namespace count as HTML's; of an unknown one
     * they are WORD_OTHER. */
    void (*start)(void *ctx, enum html_word word, enum html_space space,
                  struct bytes tag);
    void (*end)(void *ctx); /* the innermost element ends */
    /* Text between tags, without references; lives until the call returns. */
    void (*text)(void *ctx, struct bytes text);
    void *ctx;
};

/* Reads `page`, UTF-8 without a byte order mark. False: it is not well formed;
 * *read: the octets up to there, all if only something is missing at its end.
 */
bool xhtml_read(struct bytes page, const struct xhtml_handler *h, size_t *read);

/* Is `body`, whose type is the HTTP header's value `content_type`, such a page:
 * application/xhtml+xml, or XML whose root is html? */
bool xhtml_is_page(struct bytes body, struct bytes content_type);

/* ---- what stands before the root element of an XML document ---- */

/*
 * Reads past it, so that a parser can begin at the root and never see a DTD: no
 * entity, no attribute's default and no external name in it has any effect.
 * Nothing is copied; linear time. Any thread.
 */

/* The length up to and including the `>` that ends a `<!...` declaration, whose
 * internal subset may hold others, quotes and comments; `in` begins after `<!`.
 * 0: it is not there. */
size_t xml_declaration_length(struct bytes in);

#endif
