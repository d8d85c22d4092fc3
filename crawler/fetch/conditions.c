/* SPDX-License-Identifier: MIT */
/* conditions.c - which conditions a request carries. */
#include "crawler/fetch/conditions.h"

#include <string.h>

#include "base/clock.h"

#define DATE_RESOLUTION_MS 1000

/* entity-tag of RFC 9110 section 8.8.3: so no server can have us send `*`, a
 * list, or the end of a line. */
static bool is_entity_tag(struct bytes tag)
{
    if (tag.len >= 2 && memcmp(tag.at, "W/", 2) == 0)
        tag = bytes_of(tag.at + 2, tag.len - 2);
    if (tag.len < 2 || tag.at[0] != '"' || tag.at[tag.len - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < tag.len; i++) {
        unsigned char c = (unsigned char)tag.at[i];

        if (c <= ' ' || c == '"' || c == 0x7f)
            return false;
    }
    return true;
}

static bool is_usable_date(struct bytes date, int64_t asked_ms)
{
    int64_t at_ms;

    return clock_parse_http_date(date, &at_ms) == STATUS_OK &&
           at_ms <= asked_ms - DATE_RESOLUTION_MS;
}

struct conditions conditions_of(const struct engine_last *last)
{
    struct conditions c = {{"", 0}, {"", 0}};

    if (last->seq == 0)
        return c;
    if (is_entity_tag(last->etag))
        c.if_none_match = last->etag;
    if (is_usable_date(last->last_modified, last->at_ms))
        c.if_modified_since = last->last_modified;
    return c;
}

bool conditions_any(const struct conditions *c)
{
    return c->if_none_match.len > 0 || c->if_modified_since.len > 0;
}
