/*
 * charset.h - which encoding a page is in, and to UTF-8.
 *
 * Order: byte order mark, HTTP charset, meta within 1,024 octets, then
 * windows-1252. Labels mean what the Encoding Standard says
 * (https://encoding.spec.whatwg.org/), not what iconv makes of them. A bad
 * sequence becomes one U+FFFD and decoding goes on. Any thread; an encoder
 * belongs to one thread.
 */
#ifndef URLWEIR_CRAWLER_CHARSET_CHARSET_H
#define URLWEIR_CRAWLER_CHARSET_CHARSET_H

#include "base/buf.h"
#include "base/bytes.h"
#include "frontier/url/url.h"

/* One encoding of the Encoding Standard; compare by pointer. */
struct charset;

/* By label, white space around it and case ignored; NULL: no such label. */
const struct charset *charset_of_label(struct bytes label);
/* The standard's name, "windows-1252"; static. */
const char *charset_name(const struct charset *c);
const struct charset *charset_utf8(void);

#define CHARSET_PRESCAN_MOST ((size_t)1024) /* octets of a body looked at */

/* What the first octets of a page and its HTTP header say; `content_type` is
 * the header's value, or empty. NULL: nothing (html_charset.h goes on). */
const struct charset *charset_sniff(struct bytes body,
                                    struct bytes content_type);
/* What a meta element says; `attributes` are the octets between its name and
 * its end, that `>` included. NULL: nothing. */
const struct charset *charset_of_meta(struct bytes attributes);
/* Of an XML document: BOM, HTTP charset, XML declaration, then UTF-8. */
const struct charset *charset_sniff_xml(struct bytes body,
                                        struct bytes content_type);

/* Of a style sheet: BOM, HTTP charset, @charset, then UTF-8. */
const struct charset *charset_sniff_css(struct bytes body,
                                        struct bytes content_type);

/* Appends `body` as UTF-8, its byte order mark removed. When the body is
 * already valid UTF-8 in a UTF-8 page nothing is copied: *out_view is the body
 * itself; otherwise it is the content of `scratch`. STATUS_LIMIT: over the
 * ceiling of `scratch`; what was decoded until then is the view. */
MUST_CHECK enum status charset_decode(const struct charset *c,
                                      struct bytes body, struct buf *scratch,
                                      struct bytes *out_view);

/* How queries of links on such a page are written; NULL for UTF-8 and UTF-16
 * pages (URL Standard: output encoding). Freed with charset_encoder_free. */
struct url_encoder *charset_encoder_new(const struct charset *c);
void charset_encoder_free(struct url_encoder *e); /* NULL is fine */

#endif
