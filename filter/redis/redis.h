/*
 * redis.h - the `redis` kind: a shared Bloom filter behind filter.h.
 *
 * Keeps the contract of filter.h although its bits are elsewhere. While the
 * server is out of reach, or has lost keys, every question is answered "maybe"
 * and counted as unsure: slower for who asks an exact set then, never wrong.
 * It never waits for a server to come back: each call tries at most once, and
 * only when the back-off is over.
 *
 * Which keys the server lacks is remembered. A few are put in when it is back;
 * after more, or when it was restarted or the filter made anew, all keys are
 * taken from the source, a part with each call. Without a source a filter that
 * lost keys says "maybe" for good, and adding answers STATUS_CLOSED.
 *
 * One thread calls everything, filter_check() too. Said once, in the log, when
 * the server is lost and when the filter is whole again.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_H
#define URLWEIR_FILTER_REDIS_REDIS_H

#include <stdbool.h>

#include "base/buf.h"
#include "filter/filter.h"

/*
 * What a filter is to be known by after a restart of ours: a line of text that
 * names the filter and the server's run. False: the server lacks keys now, and
 * there is nothing to be known by. Any other kind: false.
 */
MUST_CHECK bool redis_filter_mark(struct filter *f, struct buf *out);
/* A filter just made: does the server still have all that was in it when the
 * mark was given? True: the keys added since are the caller's to add again.
 * False: it is filled from its source, and says "maybe" until then. */
MUST_CHECK bool redis_filter_trust(struct filter *f, struct bytes mark);

/* How it stands with the server. */
struct redis_filter_state {
    bool whole;       /* it answers by itself */
    uint64_t outages; /* times it did not */
};
struct redis_filter_state redis_filter_state(const struct filter *f);

#endif
