/*
 * link_header.h - the targets of an HTTP Link header (RFC 8288 section 3).
 *
 * Nothing is copied: what comes out are parts of what went in. Linear time.
 * Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_LINK_HEADER_H
#define URLWEIR_CRAWLER_HTML_LINK_HEADER_H

#include <stdbool.h>

#include "base/bytes.h"

/* The next link's target, a URI reference; *nofollow: its rel says so. *rest
 * begins as the whole value. What is no link is passed over. False: no more. */
bool link_header_next(struct bytes *rest, struct bytes *target, bool *nofollow);

#endif
