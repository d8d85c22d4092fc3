/*
 * html_charset.h - the encoding of an HTML page.
 *
 * After the byte order mark, the HTTP header and the first 1,024 octets
 * (charset.h), the rest of the head is read as a browser does, which changes
 * the encoding when it comes to a meta element that names one (HTML standard,
 * section 13.2.3.4). After the head, nothing counts any more. Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_CHARSET_H
#define URLWEIR_CRAWLER_HTML_HTML_CHARSET_H

#include "base/bytes.h"
#include "crawler/charset/charset.h"

/* The encoding of a page in XML; if nothing names one, UTF-8, and for octets
 * that are not that html_charset's. */
const struct charset *html_charset_of_xml(struct bytes body,
                                          struct bytes content_type);

/* Never NULL: if nothing names one, UTF-8 if the whole body is that and more
 * than ASCII, and else windows-1252. `content_type` is the HTTP header's value,
 * or empty. */
const struct charset *html_charset(struct bytes body,
                                   struct bytes content_type);

#endif
