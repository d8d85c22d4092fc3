/* SPDX-License-Identifier: MIT */
/* schedule.c - when a host may next be asked. */
#include "frontier/crawl/schedule.h"
#include "base/clock.h"

#define DAY   (SCHEDULE_BACKOFF_MOST_MS * NS_PER_MS)
#define FIRST (INT64_C(60) * NS_PER_S)

/* A number in [0, 1).
 *
 * Marsaglia 2003, with the multiplier of Vigna 2014. */
static double schedule_random_next(struct schedule_random *r)
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

/* More than nothing, whatever the options say: what doubles has to begin
 * somewhere. */
static int64_t first_wait(const struct schedule_options *o)
{
    return o->retry_delay > 0 ? o->retry_delay : NS_PER_MS;
}

static int64_t ceiling(const struct schedule_options *o)
{
    return clock_later(o->max_delay, o->retry_delay);
}

bool schedule_slows(uint32_t failures)
{
    return failures >= SCHEDULE_FAILURES;
}

/* What a host's slowness or failures make of its pause, at most max_delay. */
static int64_t grown(const struct schedule_options *o,
                     const struct schedule_host *h, int64_t pause)
{
    int64_t most = ceiling(o);

    if (o->adaptive && o->delay > 0 && h->latency > 0)
        pause = clock_later(pause, clock_earlier(h->latency, most) *
                                       SCHEDULE_LATENCY_FACTOR);
    if (schedule_slows(h->failures))
        pause = doubled(clock_later(pause, first_wait(o)),
                        h->failures - SCHEDULE_FAILURES + 1, most);
    return clock_earlier(pause, most);
}

int64_t schedule_pause(const struct schedule_options *o,
                       const struct schedule_host *h, struct schedule_random *r)
{
    int64_t pause = o->delay;

    if (o->random_delay)
        pause = (int64_t)((double)pause * (0.5 + schedule_random_next(r)));
    pause = clock_later(pause, clock_earlier(h->own, o->max_crawl_delay));
    return clock_later(pause, grown(o, h, pause));
}

const char *schedule_why(const struct schedule_options *o,
                         const struct schedule_host *h)
{
    int64_t own = clock_earlier(h->own, o->max_crawl_delay);
    int64_t pause = clock_later(o->delay, own);

    if (grown(o, h, pause) > pause)
        return schedule_slows(h->failures) ? "failures" : "adaptive";
    if (own <= o->delay)
        return "delay";
    return h->own > own ? "max_crawl_delay" : "crawl_delay";
}

int64_t schedule_backoff(const struct schedule_options *o, int64_t retry_after,
                         uint32_t backoffs, struct schedule_random *r)
{
    int64_t most = ceiling(o), pause;

    if (retry_after >= 0)
        return clock_earlier(retry_after, DAY);
    pause = doubled(clock_earlier(FIRST, most), backoffs > 0 ? backoffs - 1 : 0,
                    most);
    return pause - (int64_t)((double)pause * 0.25 * schedule_random_next(r));
}

int64_t schedule_silence(const struct schedule_options *o, uint32_t failures,
                         struct schedule_random *r)
{
    int64_t most = clock_later(ceiling(o), first_wait(o));
    int64_t pause =
        doubled(first_wait(o), failures > 0 ? failures - 1 : 0, most);

    pause += (int64_t)((double)pause * 0.25 * schedule_random_next(r));
    return clock_earlier(pause, most);
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
    int64_t most = ceiling(o);
    int64_t pause = doubled(o->retry_delay, tries > 0 ? tries - 1 : 0, most);

    pause = (int64_t)((double)pause * (0.75 + 0.5 * schedule_random_next(r)));
    return clock_earlier(pause, most);
}
