/* SPDX-License-Identifier: MIT */
/* schedule.c - the moment at which a host may next be asked. */
#include "frontier/embedded/schedule.h"

#include "base/clock.h"

#define DAY   (SCHEDULE_BACKOFF_MOST_MS * NS_PER_MS)
#define FIRST (INT64_C(60) * NS_PER_S)

/* Marsaglia 2003, with the multiplier of Vigna 2014. */
double schedule_random_next(struct schedule_random *r)
{
    uint64_t x = r->state != 0 ? r->state : UINT64_C(0x9e3779b97f4a7c15);

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    r->state = x;
    return (double)((x * UINT64_C(0x2545f4914f6cdd1d)) >> 11) * 0x1p-53;
}

/* `base` doubled `times` times, at most `most`. */
static int64_t doubled(int64_t base, uint32_t times, int64_t most)
{
    while (times-- > 0 && base < most)
        base *= 2;
    return base < most ? base : most;
}

int64_t schedule_pause(const struct schedule_options *o, int64_t own,
                       uint32_t errors, struct schedule_random *r)
{
    int64_t pause = o->delay, ceiling = o->max_delay;

    if (o->random_delay)
        pause = (int64_t)((double)pause * (0.5 + schedule_random_next(r)));
    if (own > o->max_crawl_delay)
        own = o->max_crawl_delay;
    if (own > pause)
        pause = own;
    if (ceiling < pause)
        ceiling = pause;
    return doubled(pause, errors, ceiling);
}

int64_t schedule_backoff(int64_t retry_after, uint32_t backoffs,
                         struct schedule_random *r)
{
    int64_t pause;

    if (retry_after >= 0)
        return retry_after < DAY ? retry_after : DAY;
    pause = doubled(FIRST, backoffs > 0 ? backoffs - 1 : 0, DAY);
    pause += (int64_t)((double)pause * 0.25 * schedule_random_next(r));
    return pause < DAY ? pause : DAY;
}

int64_t schedule_left(int64_t until_ms, int64_t wall_ms, int64_t most_ms)
{
    int64_t left = until_ms - wall_ms;

    if (left <= 0)
        return 0;
    return (left < most_ms ? left : most_ms) * NS_PER_MS;
}

int64_t schedule_retry(const struct schedule_options *o, uint32_t tries,
                       struct schedule_random *r)
{
    int64_t most =
        o->max_delay > o->retry_delay ? o->max_delay : o->retry_delay;
    int64_t pause = doubled(o->retry_delay, tries > 0 ? tries - 1 : 0, most);

    return (int64_t)((double)pause * (0.75 + 0.5 * schedule_random_next(r)));
}
