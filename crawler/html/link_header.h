/*
 * link_header.h - the targets of an HTTP Link header (RFC 8288 section 3).
 *
 * Nothing is copied: results are parts of the input. Linear time. Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_LINK_HEADER_H
#define URLWEIR_CRAWLER_HTML_LINK_HEADER_H

#include <stdbool.h>

#include "base/bytes.h"

/* The target of the next link, a URI reference; *nofollow: its rel says
 * nofollow. *rest begins as the whole value. Text that is not a link is
 * skipped. False: no more. */
bool link_header_next(struct bytes *rest, struct bytes *target, bool *nofollow);

#endif
