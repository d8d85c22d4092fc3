/*
 * links.h - links of an HTML page (libxml2): base, nofollow, canonical.
 *
 * The page is decoded to UTF-8 (charset.h), read as an HTML5 tokenizer reads
 * it (html.h), and only markup that can matter reaches libxml2's SAX parser. A
 * page whose type is one of XML is read by XML's rules (xhtml.h).
 * One parser belongs to one thread and is used again and again.
 */
#ifndef URLWEIR_CRAWLER_HTML_LINKS_H
#define URLWEIR_CRAWLER_HTML_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/status.h"
#include "crawler/html/link_values.h"
#include "frontier/url/url.h"

/* One link as found. `url` is in the form of url_parse (the --whatwg form); the
 * visitor may use it and canonicalise it in place until it returns. */
struct found_link {
    enum link_kind kind;
    bool nofollow; /* rel=nofollow on the element itself */
    struct url *url;
    /* If options.texts: its rel, and the text between the tags of <a>, or the
     * alt of an image or area; white space folded, at most ANCHOR_TEXT_MOST
     * octets (text_digest.h). Else empty. */
    struct bytes rel, text;
};

/* What the page says of itself. */
struct page_info {
    bool noindex, nofollow; /* meta robots, and meta named after our agent */
    struct bytes title;     /* UTF-8, white space collapsed, <= 512 octets */
    struct bytes lang;      /* of <html lang>, <= 64 octets */
    /* If options.about, else empty; folded and cut as the title is. */
    struct bytes description; /* the first meta description that has text */
    struct bytes h1;          /* the first <h1> that has text */
    struct bytes robots;  /* contents of those meta robots, <= 256 octets, with
                             ", " between them */
    uint32_t hreflang;    /* <link rel=alternate hreflang> with an href */
    uint64_t words;       /* of its text: runs without white space or tags */
    const char *charset;  /* the encoding that was used; static */
    uint64_t found;       /* links visited */
    uint64_t broken_line; /* of a page in XML: the line from which on it is not
                             well formed and was read as HTML; 0: none */
    uint64_t simhash;     /* of its text, if asked for; 0: none */
    struct digest text_digest; /* the same; all zero: not asked for */
};

struct link_parser;

/* `agent`: our product token, lower case, for <meta name=TOKEN>; may be NULL.
 */
struct link_parser *link_parser_new(const char *agent);
void link_parser_free(struct link_parser *p); /* NULL is fine */

struct link_options {
    uint32_t kinds;             /* LINK_BIT set of kinds to visit */
    struct bytes content_type;  /* the HTTP header's value, or empty */
    const struct url *page_url; /* final URL of the page, canonical or not */
    uint64_t most;              /* most links to visit; 0: no limit */
    bool simhash;               /* take the fingerprint of the text */
    bool texts;                 /* rel and text of links */
    bool about;                 /* what the page says of itself */
    bool text_digest; /* take the digest of the text, and count its words
                         (text_digest.h) ... */
    bool no_numbers;  /* ... without numbers and dates */
};

/* Visit each link of `body` (wire octets, decompressed). Links may repeat and
 * come in any order (L5). The bytes in *info live until the next call.
 * STATUS_LIMIT: a bound was reached; links found until then were visited. */
MUST_CHECK enum status link_parser_html(
    struct link_parser *p, struct bytes body, const struct link_options *o,
    void (*visit)(void *ctx, const struct found_link *link), void *ctx,
    struct page_info *info);

/* As link_parser_html, for a style sheet (text/css); its links are of kind
 * LINK_STYLE. */
MUST_CHECK enum status link_parser_css(
    struct link_parser *p, struct bytes body, const struct link_options *o,
    void (*visit)(void *ctx, const struct found_link *link), void *ctx,
    struct page_info *info);

#endif
