/*
 * histogram.h - durations in fixed buckets, and rates, for monitoring.
 *
 * One scale for the whole program, 100 us to 60 s in steps of 1, 2.5 and 5, so
 * that histograms of several threads can be added and different ones compared.
 * A quantile is only as exact as its bucket; times below 100 us or above 60 s
 * are only counted.
 *
 * Threads: one writes (histogram_note), any number read meanwhile without
 * waiting. A reader copies the buckets one after the other, so it neither loses
 * an observation nor counts one twice, but the sum may lack one that the
 * buckets have, or the other way round. An observation costs a few nanoseconds,
 * with neither a lock nor a locked instruction.
 */
#ifndef URLWEIR_BASE_HISTOGRAM_H
#define URLWEIR_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS 18 /* plus one bucket above the last */

/* The upper bounds in ns, rising; each bucket includes its bound. */
extern const int64_t histogram_bounds[HISTOGRAM_BOUNDS];

/* All zero: empty. */
struct histogram {
    _Atomic uint64_t buckets[HISTOGRAM_BOUNDS + 1];
    _Atomic uint64_t sum; /* ns */
};

/* A copy of a histogram at one moment; not cumulative. All zero: empty. */
struct histogram_stats {
    uint64_t buckets[HISTOGRAM_BOUNDS + 1];
    uint64_t sum; /* ns */
};

/* Records a duration; a negative one counts as 0. Only the writer's thread. */
void histogram_note(struct histogram *h, int64_t ns);

/* Adds the content of `h` to *into. */
void histogram_add_to(const struct histogram *h, struct histogram_stats *into);
/* The number of observations. */
uint64_t histogram_count(const struct histogram_stats *s);

/* ---- how fast a counter grows, over about ten seconds ----
 *
 * Rates are smoothed over elapsed time, not over the number of calls, so that
 * calling more often does not change them. Any thread.
 */

/* Updates `*rate`, per second and 0 at first, after a counter went from
 * `before` to `now` in `ms`. Ignores a counter that went backwards. */
void rate_follow(double *rate, uint64_t before, uint64_t now, int64_t ms);

#endif
