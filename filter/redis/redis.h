/*
 * redis.h - the `redis` kind: a shared Bloom filter behind filter.h.
 *
 * Keeps the contract of filter.h although its bits are elsewhere. While the
 * server is out of reach, or has lost keys, every question is answered "maybe"
 * and counted as unsure: slower for a caller that then asks an exact set, but
 * never wrong. It never waits for a server to come back: each call tries at
 * most once, and only when the back-off is over.
 *
 * It remembers which keys the server lacks. A few are added when the server is
 * back; if there are more, or if the server was restarted or the filter made
 * anew, all keys are read from the source, some with each call. Without a
 * source a filter that lost keys says "maybe" for good, and adding answers
 * STATUS_CLOSED.
 *
 * Threads: one thread calls everything, filter_check() too. The log has one
 * line when the server is lost and one when the filter is whole again.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_H
#define URLWEIR_FILTER_REDIS_REDIS_H

#include <stdbool.h>

#include "base/buf.h"
#include "filter/filter.h"

/*
 * Append a mark by which the filter is recognised after a restart of our
 * process: a line of text that names the filter and the server's run. False:
 * the server lacks keys now, so there is no mark; or the filter is of another
 * kind.
 */
MUST_CHECK bool redis_filter_mark(struct filter *f, struct buf *out);
/* Call this on a filter just made. Does the server still have all keys that it
 * had when redis_filter_mark() gave this mark? True: the caller adds the keys
 * added since then again. False: the filter is filled from its source, and says
 * "maybe" until it is. */
MUST_CHECK bool redis_filter_trust(struct filter *f, struct bytes mark);

/* The state of the connection and of the filter behind it. */
struct redis_filter_state {
    bool whole;       /* the server has all keys and can be asked */
    uint64_t outages; /* times the filter stopped being whole */
};
struct redis_filter_state redis_filter_state(const struct filter *f);

#endif
