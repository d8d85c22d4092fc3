/*
 * robots_tag.h - X-Robots-Tag and the content of <meta name=robots>.
 *
 * No standard describes them; this follows the documentation of the search
 * engines that made them (developers.google.com, "Robots meta tag,
 * data-nosnippet, and X-Robots-Tag"). noindex, nofollow and none are
 * understood, in upper or lower case; other directives (all, noarchive,
 * max-snippet:-1, unavailable_after: DATE) do not concern a crawler. Several
 * values add up: the functions only ever set a bool to true, so one pair can
 * collect all headers and metas of a page. Any thread.
 */
#ifndef URLWEIR_CRAWLER_ROBOTS_ROBOTS_TAG_H
#define URLWEIR_CRAWLER_ROBOTS_ROBOTS_TAG_H

#include <stdbool.h>

#include "base/bytes.h"

/* A list of directives, as in a meta's content: "noindex, nofollow". Commas,
 * semicolons and white space separate them. */
void robots_tag_directives(struct bytes content, bool *noindex, bool *nofollow);

/* One X-Robots-Tag value: directives, perhaps after an `agent:`, which applies
 * until the next one in the same value. Directives for an agent other than our
 * product token `agent` (case ignored) are skipped. */
void robots_tag_header(struct bytes value, struct bytes agent, bool *noindex,
                       bool *nofollow);

#endif
