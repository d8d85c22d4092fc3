/*
 * robots_line.h - parses one line of a robots.txt, in any spelling.
 *
 * Any thread; nothing is allocated, everything is borrowed from the file.
 */
#ifndef URLWEIR_CRAWLER_ROBOTS_ROBOTS_LINE_H
#define URLWEIR_CRAWLER_ROBOTS_ROBOTS_LINE_H

#include <stdbool.h>

#include "base/bytes.h"

enum robots_directive {
    ROBOTS_LINE_OTHER, /* a comment, an empty line, or an unknown record */
    ROBOTS_LINE_AGENT,
    ROBOTS_LINE_ALLOW,
    ROBOTS_LINE_DISALLOW,
    ROBOTS_LINE_SITEMAP,
    ROBOTS_LINE_DELAY
};

struct robots_line {
    enum robots_directive directive;
    struct bytes whole; /* trimmed, with its comment */
    struct bytes value; /* trimmed, without it; empty if ROBOTS_LINE_OTHER */
};

bool robots_is_line_end(char c); /* LF or CR; CR LF gives an extra empty line */

/* Cuts the next line off *rest; false: there is none. */
bool robots_line_next(struct bytes *rest, struct robots_line *l);

#endif
