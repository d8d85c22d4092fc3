/*
 * crawl_rates.h - how fast something counts, over the last ten seconds or so.
 *
 * Smoothed exponentially over the time that passed, not over the number of
 * looks at it, so that whoever looks more often sees the same. Any thread.
 */
#ifndef URLWEIR_CRAWLER_CRAWL_RATES_H
#define URLWEIR_CRAWLER_CRAWL_RATES_H

#include <stdint.h>

/* `*rate`, a second, after a counter went from `before` to `now` in `ms`; 0 at
 * first. A counter that went back changes nothing. */
void crawl_rate_follow(double *rate, uint64_t before, uint64_t now, int64_t ms);

#endif
