/*
 * rate_limit.h - how many octets a second may come, over all fetchers.
 *
 * A bucket that holds one second's worth. What has come is spent, whatever it
 * comes to, since it cannot be sent back; who would go on waits until the
 * bucket is level again. So the sum over any time is within the limit but for
 * that second and for what one turn of the fetchers reads. Thread-safe.
 */
#ifndef URLWEIR_CRAWLER_FETCH_RATE_LIMIT_H
#define URLWEIR_CRAWLER_FETCH_RATE_LIMIT_H

#include <stdint.h>

struct rate_limit;

/* `rate` in octets a second, 0: no limit. The bucket is full. */
struct rate_limit *rate_limit_new(uint64_t rate);
void rate_limit_free(struct rate_limit *l); /* NULL is fine */

/* Another rate, from `now` (monotonic) on. What is overdrawn stays so many
 * octets, and is forgiven where there is no limit any longer; where there was
 * none, the bucket is empty. */
void rate_limit_set(struct rate_limit *l, uint64_t rate, int64_t now);
uint64_t rate_limit_rate(const struct rate_limit *l);

/* So many octets have come: the moment from which on they and all before them
 * are within the limit. Whoever waits until then before he takes more has his
 * turn, whatever others spend meanwhile. */
int64_t rate_limit_spend(struct rate_limit *l, uint64_t octets, int64_t now);
/* The same for all that has come until now; earlier than what a spender was
 * told where the rate has been raised since. */
int64_t rate_limit_level_at(struct rate_limit *l);

#endif
