/*
 * link_wants.h - which attributes of a page can hold links of given kinds.
 *
 * Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_LINK_WANTS_H
#define URLWEIR_CRAWLER_HTML_LINK_WANTS_H

#include <stdint.h>

#include "crawler/html/html_filter.h"

/* Asks html_filter.h for all that links of `kinds` (link_kinds.h) need. `agent`
 * is for <meta name=AGENT>; it may be NULL, and must outlive *out. */
void link_wants(struct html_wants *out, uint32_t kinds, const char *agent);
/* Asks for the texts of links, too. */
void link_wants_texts(struct html_wants *out);
/* Asks for what the page says of itself, too: description, first heading,
 * languages of its other versions. */
void link_wants_about(struct html_wants *out);

#endif
