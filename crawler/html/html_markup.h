/*
 * html_markup.h - values of attributes in the markup that html_filter.h writes.
 *
 * A printable ASCII character that XML lets stand in a value stands for itself;
 * every other octet, and the backslash, is a backslash and two lower-case
 * hexadecimal digits. Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_MARKUP_H
#define URLWEIR_CRAWLER_HTML_HTML_MARKUP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"

/* Most octets of a written value; libxml2 refuses 10,000,000 and more unless it
 * is told XML_PARSE_HUGE. */
#define MARKUP_VALUE_MOST ((size_t)9 << 20)

/* Is `value`, of MARKUP_VALUE_MOST octets at most, written as it is? */
bool html_markup_is_same(struct bytes value);

/* Appends any octets as a value, without zero octets. One longer than
 * MARKUP_VALUE_MOST when written is left empty. */
void html_markup_write(struct buf *out, struct bytes value);

/* Does `written` differ from its value? */
bool html_markup_is_coded(struct bytes written);
/* Appends the value of `written`, which html_markup_write wrote; it is no
 * longer than that. */
void html_markup_read(struct buf *out, struct bytes written);

#endif
