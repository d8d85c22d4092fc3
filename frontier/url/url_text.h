/* url_text.h - small helpers of the URL parsers. */
#ifndef URLWEIR_FRONTIER_URL_URL_TEXT_H
#define URLWEIR_FRONTIER_URL_URL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* In http and https a backslash is a slash. */
static inline bool url_is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* The index of the first `c`; in.len if there is none. */
static inline size_t url_find(struct bytes in, char c)
{
    const char *at = (const char *)memchr(in.at, c, in.len);

    return at == NULL ? in.len : (size_t)(at - in.at);
}

static inline uint16_t url_default_port(bool https)
{
    return https ? 443 : 80;
}

/* ---- the percent-encode sets of the URL Standard, and their use ---- */

/*
 * One table gives each octet its classes; the parser looks there first, so that
 * text with nothing to change is copied in runs. Any thread.
 */

enum octet_class {
    OCTET_PATH = 1,        /* in the path percent-encode set */
    OCTET_QUERY = 2,       /* in the special-query percent-encode set */
    OCTET_USERINFO = 4,    /* in the userinfo percent-encode set */
    OCTET_DOMAIN = 8,      /* a forbidden domain code point */
    OCTET_UNRESERVED = 16, /* RFC 3986, 2.3: letters, digits, - . _ ~ */
    OCTET_UPPER = 32,      /* A to Z */
    OCTET_HIGH = 64,       /* not ASCII */
    OCTET_MARK = 128       /* % and \, which need care in a path */
};

extern const uint8_t octet_classes[256];

static inline unsigned octet_class(char c)
{
    return octet_classes[(unsigned char)c];
}

/* The union of the classes of all octets of `in`. */
unsigned octet_classes_of(struct bytes in);

/* Append `in`, with every octet of class `set` as %XX. The caller picks one of
 * the three percent-encode sets. `in` may be in any encoding: octets that are
 * not UTF-8 stay what they are. */
void percent_encode(struct buf *out, struct bytes in, enum octet_class set);

/* Append `in` with each %XX replaced by its octet; other % stay. */
void percent_decode(struct buf *out, struct bytes in);

/* ---- decoding text that should be UTF-8 but may not be ---- */

/*
 * Follows the Encoding Standard's UTF-8 decoder: each longest run of octets
 * that began like a sequence and went wrong is one U+FFFD. Any thread.
 */

/* The code point at *at, which must be before `end`; moves *at past it. */
uint32_t utf8_next(const char **at, const char *end);

/* Appends `in` as well-formed UTF-8; a byte order mark is kept. */
void utf8_add_clean(struct buf *out, struct bytes in);

#endif
