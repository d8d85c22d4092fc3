/*
 * rate.h - how fast a counter grows, over about ten seconds.
 *
 * Rates are smoothed over elapsed time, not over the number of calls, so that
 * calling more often does not change them. Any thread.
 */
#ifndef URLWEIR_BASE_RATE_H
#define URLWEIR_BASE_RATE_H

#include <stdint.h>

/* Updates `*rate`, per second and 0 at first, after a counter went from
 * `before` to `now` in `ms`. Ignores a counter that went backwards. */
void rate_follow(double *rate, uint64_t before, uint64_t now, int64_t ms);

#endif
