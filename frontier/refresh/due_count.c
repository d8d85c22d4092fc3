/* SPDX-License-Identifier: MIT */
/* due_count.c - how many URLs are past their dates. */
#include "frontier/refresh/due_count.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

#define MINUTE_MS INT64_C(60000)
#define DAY       1440 /* minutes */
#define MINUTES   ((int64_t)DUE_COUNT_DAYS * DAY)

void due_count_init(struct due_count *c, int64_t now_ms)
{
    int64_t minute = now_ms / MINUTE_MS;

    *c = (struct due_count){.base = minute - minute % DAY - MINUTES / 2,
                            .first = MINUTES};
}

void due_count_fini(struct due_count *c)
{
    for (size_t i = 0; i < DUE_COUNT_DAYS; i++)
        free(c->days[i]);
}

/* Floors a moment to the minutes that are counted. */
static int64_t minute_of(const struct due_count *c, int64_t ms)
{
    int64_t minute = ms / MINUTE_MS - c->base;

    return minute < 0 ? 0 : minute < MINUTES ? minute : MINUTES - 1;
}

static uint32_t *count_at(struct due_count *c, int64_t minute)
{
    uint32_t **day = &c->days[minute / DAY];

    if (*day == NULL) {
        *day = xcalloc(DAY, sizeof **day);
        c->allocated++;
    }
    return &(*day)[minute % DAY];
}

static uint32_t read_at(const struct due_count *c, int64_t minute)
{
    const uint32_t *day = c->days[minute / DAY];

    return day != NULL ? day[minute % DAY] : 0;
}

void due_count_add(struct due_count *c, int64_t due_ms)
{
    int64_t minute = minute_of(c, due_ms);

    ++*count_at(c, minute);
    if (minute < c->first)
        c->first = minute;
    c->passed += minute < c->upto;
}

void due_count_remove(struct due_count *c, int64_t due_ms)
{
    int64_t minute = minute_of(c, due_ms);
    uint32_t *n = count_at(c, minute);

    assert(*n > 0);
    --*n;
    c->passed -= minute < c->upto;
}

/* The next minute, or the next day that has dates. */
static int64_t after(const struct due_count *c, int64_t minute)
{
    if (c->days[minute / DAY] != NULL)
        return minute + 1;
    return minute - minute % DAY + DAY;
}

uint64_t due_count_passed(struct due_count *c, int64_t now_ms,
                          int64_t *oldest_ms)
{
    int64_t now = minute_of(c, now_ms);

    while (c->upto > now) /* the clock was set back */
        c->passed -= read_at(c, --c->upto);
    while (c->upto < now) {
        int64_t next = after(c, c->upto);

        c->passed += read_at(c, c->upto);
        c->upto = next < now ? next : now;
    }
    while (c->first < c->upto && read_at(c, c->first) == 0)
        c->first = after(c, c->first);
    *oldest_ms = c->passed > 0 ? (c->base + c->first) * MINUTE_MS : now_ms;
    return c->passed;
}

uint64_t due_count_memory(const struct due_count *c)
{
    return c->allocated * DAY * sizeof(uint32_t);
}
