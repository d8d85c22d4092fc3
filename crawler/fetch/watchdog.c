/* SPDX-License-Identifier: MIT */
/* watchdog.c - finds hung fetchers. */
#include "crawler/fetch/watchdog.h"

#include <stdlib.h>

#include "base/mem.h"

struct watched {
    uint64_t id, steps;
    int64_t since; /* by the watchdog's own clock */
    bool stuck;
};

struct watchdog {
    int64_t patience;
    int64_t looked; /* monotonic; 0: never */
    int64_t time;   /* time that counts */
    unsigned slots, stuck;
    struct watched at[];
};

struct watchdog *watchdog_new(unsigned slots, int64_t patience)
{
    struct watchdog *w = xcalloc(1, sizeof *w + slots * sizeof w->at[0]);

    w->patience = patience;
    w->slots = slots;
    return w;
}

void watchdog_free(struct watchdog *w)
{
    free(w);
}

int64_t watchdog_round(struct watchdog *w, int64_t now)
{
    int64_t passed = w->looked != 0 ? now - w->looked : 0;

    w->looked = now;
    w->time += passed < WATCHDOG_GAP_MOST ? passed : WATCHDOG_GAP_MOST;
    return w->time;
}

static enum watchdog_news came_back(struct watchdog *w, struct watched *s)
{
    if (!s->stuck)
        return WATCHDOG_NOTHING;
    s->stuck = false;
    w->stuck--;
    return WATCHDOG_BACK;
}

enum watchdog_news watchdog_check(struct watchdog *w, unsigned i, uint64_t id,
                                  uint64_t steps)
{
    struct watched *s = &w->at[i];

    if (id == 0 || id != s->id || steps != s->steps) {
        s->id = id;
        s->steps = steps;
        s->since = w->time;
        return came_back(w, s);
    }
    if (s->stuck || w->time - s->since < w->patience)
        return WATCHDOG_NOTHING;
    s->stuck = true;
    w->stuck++;
    return WATCHDOG_STUCK;
}

void watchdog_heard_of(struct watchdog *w, uint64_t id)
{
    for (unsigned i = 0; i < w->slots; i++)
        if (w->at[i].id == id && !w->at[i].stuck)
            w->at[i].since = w->time;
}

bool watchdog_is_stuck(const struct watchdog *w, unsigned i)
{
    return w->at[i].stuck;
}

unsigned watchdog_stuck(const struct watchdog *w)
{
    return w->stuck;
}

int64_t watchdog_waited(const struct watchdog *w, unsigned i)
{
    return w->time - w->at[i].since;
}
