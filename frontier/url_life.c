/* SPDX-License-Identifier: MIT */
/* url_life.c - the life of a URL. */
#include "frontier/url_life.h"

#include <stdint.h>

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
