/*
 * robots_pattern.h - paths and path patterns of robots.txt, and their match.
 *
 * Both sides are brought to one spelling first (RFC 9309 section 2.2.2), then
 * compared octet by octet. Any thread.
 */
#ifndef URLWEIR_CRAWLER_ROBOTS_ROBOTS_PATTERN_H
#define URLWEIR_CRAWLER_ROBOTS_ROBOTS_PATTERN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"

/* Appends the path and query of a URL as they are compared: %XX of unreserved
 * octets decoded, once; every other %XX in capitals; octets that are neither
 * reserved nor unreserved in RFC 3986 (non-ASCII, space, `|` ...) as %XX, and
 * also `*` and `$`, which would be special in a pattern. */
void robots_path_normalise(struct bytes path, struct buf *out);
/* As above, for a pattern, where each `*` and a final `$` keep their meaning.
 * Writes at most three octets for one. */
void robots_pattern_normalise(struct bytes pattern, struct buf *out);

/* Does the normalised pattern match the normalised path from its first octet?
 * At most linear in the length of both, whatever the wildcards. */
bool robots_pattern_matches(struct bytes pattern, struct bytes path);

#endif
