/*
 * conditions.h - which conditions a request carries (RFC 9110 section 13).
 *
 * Made from the last whole response of the same URL. Its entity tag goes into
 * If-None-Match, weak or strong, since that field compares weakly (section
 * 13.1.2). Its date goes into If-Modified-Since, beside the tag for caches that
 * know dates only (section 8.8.4), unless it is no HTTP date, or less than a
 * second before the request: two changes within one second have one date
 * (section 8.8.2.2). Pure functions; any thread.
 */
#ifndef URLWEIR_CRAWLER_FETCH_CONDITIONS_H
#define URLWEIR_CRAWLER_FETCH_CONDITIONS_H

#include <stdbool.h>

#include "frontier/engine.h"

/* Values of header fields, borrowed from `last`; empty: none. */
struct conditions {
    struct bytes if_none_match, if_modified_since;
};

struct conditions conditions_of(const struct engine_last *last);
bool conditions_any(const struct conditions *c);

#endif
