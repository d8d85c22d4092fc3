/*
 * percent.h - the percent-encode sets of the URL Standard, and their use.
 *
 * One table gives each octet its classes; the parser looks there first, so that
 * text with nothing to change is copied in runs. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_PERCENT_H
#define URLWEIR_FRONTIER_URL_PERCENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

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

#endif
