/*
 * charset.h - the encoding of a page, and its conversion to UTF-8.
 *
 * Order: byte order mark, HTTP charset, meta within 1,024 octets, then
 * windows-1252. Labels mean what the Encoding Standard says
 * (https://encoding.spec.whatwg.org/), which differs from iconv. A bad sequence
 * becomes one U+FFFD and decoding goes on. Any thread; an encoder belongs to
 * one thread.
 */
#ifndef URLWEIR_CRAWLER_CHARSET_CHARSET_H
#define URLWEIR_CRAWLER_CHARSET_CHARSET_H

#include "base/buf.h"
#include "base/bytes.h"
#include "frontier/url/url.h"

/* One encoding of the Encoding Standard; compare by pointer. */
struct charset;

/* The encoding with this label; surrounding white space and case are ignored.
 * NULL: no such label. */
const struct charset *charset_of_label(struct bytes label);
/* The standard's name, "windows-1252"; static. */
const char *charset_name(const struct charset *c);
const struct charset *charset_utf8(void);

#define CHARSET_PRESCAN_MOST ((size_t)1024) /* octets of a body to search */

/* The encoding that the first octets of a page or its HTTP header name;
 * `content_type` is the header's value, or empty. NULL: they name none
 * (html_tree.h searches on). */
const struct charset *charset_sniff(struct bytes body,
                                    struct bytes content_type);
/* The encoding that a meta element names; `attributes` are the octets after its
 * name up to its `>`, which is included. NULL: none. */
const struct charset *charset_of_meta(struct bytes attributes);
/* The encoding of an XML document: BOM, HTTP charset, XML declaration, then
 * UTF-8. */
const struct charset *charset_sniff_xml(struct bytes body,
                                        struct bytes content_type);

/* The encoding of a style sheet: BOM, HTTP charset, @charset, then UTF-8. */
const struct charset *charset_sniff_css(struct bytes body,
                                        struct bytes content_type);

/* Decodes `body` to UTF-8 without its byte order mark. If a UTF-8 page is
 * valid, nothing is copied, and *out_view is the body itself; otherwise it is
 * the content of `scratch`. STATUS_LIMIT: over the ceiling of `scratch`;
 * *out_view has what was decoded until then. */
MUST_CHECK enum status charset_decode(const struct charset *c,
                                      struct bytes body, struct buf *scratch,
                                      struct bytes *out_view);

/* An encoder for the queries of links on such a page; NULL for UTF-8 and UTF-16
 * pages (URL Standard: output encoding). Free it with charset_encoder_free. */
struct url_encoder *charset_encoder_new(const struct charset *c);
void charset_encoder_free(struct url_encoder *e); /* NULL is fine */

#endif
