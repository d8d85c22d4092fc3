/*
 * fetch_limits.h - what all fetchers share: memory for bodies in flight, and
 * the octets received a second.
 *
 * Fetchers reserve memory before they buffer; when the pool is empty, the
 * transfer is paused (back-pressure on the sender) until others give back. One
 * transfer at a time may overdraw by one body, so that paused transfers cannot
 * wait for each other for ever. Thread-safe.
 */
#ifndef URLWEIR_CRAWLER_FETCH_FETCH_LIMITS_H
#define URLWEIR_CRAWLER_FETCH_FETCH_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct body_pool;

struct body_pool *body_pool_new(uint64_t bytes);
void body_pool_free(struct body_pool *p); /* NULL is fine */

/* True: `bytes` are reserved for `owner` (any address that names the transfer).
 * False: wait and try again. */
bool body_pool_take(struct body_pool *p, const void *owner, uint64_t bytes);
/* Counts `bytes` that exist already, and never refuses: for records that
 * replace a body whose reservation is given back at once, and that are larger
 * only by their heads; and for transfers that need more than their memory. */
void body_pool_hold(struct body_pool *p, uint64_t bytes);
/* Gives back everything that `owner` has: `bytes` in total. */
void body_pool_give(struct body_pool *p, const void *owner, uint64_t bytes);
uint64_t body_pool_used(struct body_pool *p);
uint64_t body_pool_size(const struct body_pool *p);

/* ---- limits the octets received a second, over all fetchers ---- */

/*
 * A bucket that holds one second's worth. Received octets are always spent,
 * since they cannot be sent back; a transfer that wants more waits until the
 * bucket is level again. So the total over any time is within the limit plus
 * that second's worth and what one turn of the fetchers reads. Thread-safe.
 */

struct rate_limit;

/* `rate` in octets a second, 0: no limit. The bucket is full. */
struct rate_limit *rate_limit_new(uint64_t rate);
void rate_limit_free(struct rate_limit *l); /* NULL is fine */

/* Changes the rate from `now` (monotonic) on. An overdraft keeps its size in
 * octets, and is forgiven if there is no limit any more; if there was none
 * before, the bucket starts empty. */
void rate_limit_set(struct rate_limit *l, uint64_t rate, int64_t now);
uint64_t rate_limit_rate(const struct rate_limit *l);

/* Limits each transfer too, to `each` octets a second from its start; 0: no
 * limit, as at first. Transfers of a host that come one after the other are
 * then within the limit together. */
void rate_limit_set_each(struct rate_limit *l, uint64_t each);
uint64_t rate_limit_each(const struct rate_limit *l);
/* When a transfer that began at `began` may have received so many octets;
 * INT64_MIN: at once. */
int64_t rate_limit_each_at(const struct rate_limit *l, uint64_t octets,
                           int64_t began);

/* Spends received octets, and returns the time from which on they and all
 * before them are within the limit. A caller that waits until then may go on,
 * whatever others spend meanwhile. */
int64_t rate_limit_spend(struct rate_limit *l, uint64_t octets, int64_t now);
/* The same time for all octets so far; earlier than the one returned to a
 * spender if the rate was raised since. */
int64_t rate_limit_level_at(struct rate_limit *l);

#endif
