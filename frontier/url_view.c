/* SPDX-License-Identifier: MIT */
/* url_view.c - names of states, and filters of lists. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "frontier/url_view.h"

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

/* ---- the life of a URL ---- */

#define QUEUED LIFE_QUEUED
#define LEASED LIFE_LEASED
#define DONE   LIFE_DONE
#define DUE    LIFE_DUE
#define AGAIN  LIFE_AGAIN
#define GONE   LIFE_GONE

/* clang-format off */
static const uint8_t table[LIFE_EVENTS_][LIFE_STATES_] = {
    /*                     queued  leased  done  due    again  gone */
    [LIFE_LEASE] =     {0, LEASED, 0,      0,    AGAIN, 0,     0},
    [LIFE_GIVE_BACK] = {0, 0,      QUEUED, 0,    0,     DUE,   0},
    [LIFE_RETRY] =     {0, 0,      QUEUED, 0,    0,     DUE,   0},
    [LIFE_END] =       {0, DONE,   DONE,   DONE, DONE,  DONE,  0},
    [LIFE_DATE] =      {0, DUE,    DUE,    DUE,  DUE,   DUE,   0},
    [LIFE_MISS] =      {0, 0,      0,      0,    0,     GONE,  0},
    [LIFE_ASK] =       {0, 0,      0,      DUE,  DUE,   0,     DUE},
    [LIFE_UNDATE] =    {0, 0,      0,      0,    DONE,  0,     0},
};
/* clang-format on */

enum url_life url_life_after(enum url_life is, enum life_event event)
{
    return (enum url_life)table[event][is];
}
