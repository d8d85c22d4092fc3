/* SPDX-License-Identifier: MIT */
/* refresh_rule.c - when a URL is fetched again. */
#include "frontier/refresh/refresh_rule.h"

bool refresh_applies(struct outcome o)
{
    return o.status == OUTCOME_FETCHED || o.status == OUTCOME_REDIRECT ||
           o.status == OUTCOME_FAILED || o.status == OUTCOME_DENIED;
}

bool refresh_is_absent(struct outcome o)
{
    return o.status == OUTCOME_FAILED && o.reason == REASON_HTTP &&
           (o.http_status == 404 || o.http_status == 410);
}

int64_t refresh_after(const struct refresh_rules *r, uint32_t absent,
                      int64_t at_ms)
{
    if (r->every_ms == 0 || absent >= REFRESH_ABSENT_MOST)
        return 0;
    return at_ms + (absent > 0 ? r->every_ms << (absent - 1) : r->every_ms);
}

int64_t refresh_next(const struct refresh_rules *r, struct outcome o,
                     uint32_t absent, int64_t at_ms)
{
    return refresh_applies(o) ? refresh_after(r, absent, at_ms) : 0;
}

bool refresh_has_turn(const struct refresh_rules *r, double *credit)
{
    *credit += r->share;
    if (*credit < 1)
        return false;
    *credit -= 1;
    return true;
}
