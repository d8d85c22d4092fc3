/* SPDX-License-Identifier: MIT */
/* url_view.c - names of states, and filters of lists. */
#include "frontier/url_view.h"

#include <ctype.h>
#include <string.h>

const char *url_state_name(enum url_state s)
{
    static const char *const names[] = {
        [URL_STATE_NONE] = "none",           [URL_STATE_REMOVED] = "removed",
        [URL_STATE_QUEUED] = "queued",       [URL_STATE_LEASED] = "leased",
        [URL_STATE_COMPLETED] = "completed",
    };

    return names[s];
}

static bool same_letters(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (tolower((unsigned char)a[i]) != tolower((unsigned char)b[i]))
            return false;
    }
    return true;
}

bool url_list_matches(const struct url_list *l, struct bytes url)
{
    if (!l->filtered || l->filter.len == 0)
        return true;
    if (!l->ignore_case)
        return url.len > 0 &&
               memmem(url.at, url.len, l->filter.at, l->filter.len) != NULL;
    for (size_t i = 0; i + l->filter.len <= url.len; i++) {
        if (same_letters(url.at + i, l->filter.at, l->filter.len))
            return true;
    }
    return false;
}

bool url_list_is_full(const struct url_list *l)
{
    return l->most > 0 && l->passed >= l->skip &&
           l->passed - l->skip >= l->most;
}
