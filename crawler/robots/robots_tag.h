/*
 * robots_tag.h - X-Robots-Tag and the content of <meta name=robots>.
 *
 * No standard describes them; this follows the documentation of the search
 * engines that made them (developers.google.com, "Robots meta tag,
 * data-nosnippet, and X-Robots-Tag"). noindex, nofollow and none are
 * understood, in any case; whatever else stands there (all, noarchive,
 * max-snippet:-1, unavailable_after: DATE) asks nothing of a crawler. Several
 * values add up: the functions only ever set a bool, so one pair can go through
 * all headers and metas of a page. Any thread.
 */
#ifndef URLWEIR_CRAWLER_ROBOTS_ROBOTS_TAG_H
#define URLWEIR_CRAWLER_ROBOTS_ROBOTS_TAG_H

#include <stdbool.h>

#include "base/bytes.h"

/* A list of directives, as in a meta's content: "noindex, nofollow". Commas,
 * semicolons and white space part them. */
void robots_tag_directives(struct bytes content, bool *noindex, bool *nofollow);

/* One X-Robots-Tag value: directives, each maybe behind `agent:`, which then
 * holds until the next one in the same value. What is said to another agent
 * than our product token `agent` (in any case) is passed over. */
void robots_tag_header(struct bytes value, struct bytes agent, bool *noindex,
                       bool *nofollow);

#endif
