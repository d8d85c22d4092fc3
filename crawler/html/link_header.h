/*
 * link_header.h - the links of an HTTP Link header (RFC 8288 section 3).
 *
 * Nothing is copied: results are parts of the input. Linear time. Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_LINK_HEADER_H
#define URLWEIR_CRAWLER_HTML_LINK_HEADER_H

#include <stdbool.h>

#include "base/bytes.h"

struct header_link {
    struct bytes target; /* a URI reference */
    struct bytes rel;    /* its link types; may be empty */
    bool anchored;       /* it is a link of another document than this one */
};

/* The next link. *rest begins as the whole value. Text that is not a link is
 * skipped. False: no more. */
bool link_header_next(struct bytes *rest, struct header_link *out);

#endif
