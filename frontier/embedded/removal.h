/*
 * removal.h - URLs that a person takes out of their queues, in the embedded
 * engine.
 *
 * What that means says engine_calls.h, and engine.h what each of these does.
 *
 * A queue of a million is removed in steps between which the crawl goes on.
 * How far it was removed is kept with the queue and durable with the commit of
 * the first step: from then on none of them is asked for. Where a crash keeps
 * the other steps from being taken, the rest gets its last word when the
 * queue's turn comes, and who asks again has it at once.
 *
 * `e` is an embedded engine. Frontier thread only. After an error nothing but
 * closing is allowed.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_REMOVAL_H
#define URLWEIR_FRONTIER_EMBEDDED_REMOVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "frontier/engine.h"

MUST_CHECK enum status removal_begin(struct engine *e, struct bytes key,
                                     int64_t before_ms, struct removal *out);
MUST_CHECK enum status removal_step(struct engine *e, struct removal *r,
                                    size_t most, int64_t now, int64_t wall_ms,
                                    bool *over);
MUST_CHECK enum status removal_count(struct engine *e, uint32_t queue,
                                     uint64_t *n);

#endif
