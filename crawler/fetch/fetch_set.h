/*
 * fetch_set.h - the transfers of one fetcher, with their deadlines.
 *
 * Reuses handles, ends each transfer at its deadline, and resumes those that
 * wait for the body pool or the rate limit; that waiting does not count as the
 * server's time. One thread owns a set; fetch_set_wake may be called by any.
 */
#ifndef URLWEIR_CRAWLER_FETCH_FETCH_SET_H
#define URLWEIR_CRAWLER_FETCH_FETCH_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "crawler/fetch/fetch.h"
#include "crawler/fetch/fetch_options.h"

struct fetch_set;

/* `o`, `counters` and `in_hand` (may be NULL) must outlive the set. */
MUST_CHECK enum status fetch_set_new(struct fetch_set **out,
                                     const struct fetcher_options *o,
                                     struct fetcher_counters *counters,
                                     struct in_hand_slot *in_hand);
/* Call it when nothing is active. NULL is fine. */
void fetch_set_free(struct fetch_set *s);

/* False: the rate limit is exceeded; ask again after the next turn. */
bool fetch_set_may_start(struct fetch_set *s, int64_t now);
/* Begin a transfer on behalf of `ctx`. If the guard refuses its URL, it ends at
 * once as FETCH_ADDRESS or FETCH_PORT. False: no memory for one. */
bool fetch_set_start(struct fetch_set *s, const struct fetch_order *order,
                     void *ctx, int64_t now, int64_t wall_ms);
/* Wait for something to do, `until` at the latest, and do it. */
void fetch_set_turn(struct fetch_set *s, int64_t until);
/* The next transfer that has ended or timed out; NULL: no more. The caller
 * returns it with fetch_set_recycle; *r is valid until then. */
struct fetch *fetch_set_next_ended(struct fetch_set *s, int64_t now,
                                   struct fetch_result *r);
void fetch_set_recycle(struct fetch_set *s, struct fetch *f);
/* All active transfers end as FETCH_STOPPED. */
void fetch_set_abort(struct fetch_set *s);

void fetch_set_wake(struct fetch_set *s);

#endif
