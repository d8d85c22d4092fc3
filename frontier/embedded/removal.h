/*
 * removal.h - URLs of our own crawl that a person takes out of their queues.
 *
 * What stands in a queue gets its last word: skipped, "removed". What is out at
 * that moment, leased to our fetchers or another program, is finished there,
 * and tried no second time. All of them stay known: no link, seed or put brings
 * one back. What is found later is new, as ever; politeness forgets nothing.
 *
 * A queue of a million is removed in steps between which the crawl goes on.
 * How far it was removed is kept with the queue and durable with the commit of
 * the first step: from then on none of them is asked for. Where a crash keeps
 * the other steps from being taken, the rest gets its last word when the
 * queue's turn comes, and who asks again has it at once.
 *
 * `e` is an embedded engine of a crawl of our own. Frontier thread only. After
 * an error nothing but closing is allowed.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_REMOVAL_H
#define URLWEIR_FRONTIER_EMBEDDED_REMOVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "frontier/engine.h"

struct removal {
    uint64_t gone; /* URLs removed so far */
    /* its own */
    uint32_t queue, last_queue; /* where it is, and where it ends */
    uint64_t after, upto;       /* ids: looked at, and to be looked at */
};

/* Of queue `key`, of all where it is empty: URLs found before `before_ms`, wall
 * clock (INT64_MAX: all that are there now). A queue that nobody knows is one
 * without URLs. */
MUST_CHECK enum status removal_begin(struct engine *e, struct bytes key,
                                     int64_t before_ms, struct removal *out);
/* Looks at `most` URLs and queues, or some more; *over: that was all. */
MUST_CHECK enum status removal_step(struct engine *e, struct removal *r,
                                    size_t most, int64_t now, int64_t wall_ms,
                                    bool *over);
/* How many of the queue were, ever; they count as done for no limit. */
MUST_CHECK enum status removal_count(struct engine *e, uint32_t queue,
                                     uint64_t *n);

#endif
