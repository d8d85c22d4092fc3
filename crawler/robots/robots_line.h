/*
 * robots_line.h - one line of a robots.txt: what it says, in whatever spelling.
 *
 * Any thread; nothing is allocated, everything is borrowed from the file.
 */
#ifndef URLWEIR_CRAWLER_ROBOTS_ROBOTS_LINE_H
#define URLWEIR_CRAWLER_ROBOTS_ROBOTS_LINE_H

#include <stdbool.h>

#include "base/bytes.h"

enum robots_directive {
    ROBOTS_LINE_OTHER, /* a comment, nothing, or a record we do not know */
    ROBOTS_LINE_AGENT,
    ROBOTS_LINE_ALLOW,
    ROBOTS_LINE_DISALLOW,
    ROBOTS_LINE_SITEMAP,
    ROBOTS_LINE_DELAY
};

struct robots_line {
    enum robots_directive directive;
    struct bytes whole; /* trimmed, with its comment */
    struct bytes value; /* trimmed, without; empty where ROBOTS_LINE_OTHER */
};

bool robots_is_line_end(char c); /* LF or CR; CR LF is two, one line empty */

/* Cuts the next line off *rest; false: there is none. */
bool robots_line_next(struct bytes *rest, struct robots_line *l);

#endif
