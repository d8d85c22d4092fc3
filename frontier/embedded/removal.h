/*
 * removal.h - removes URLs from their queues, in the embedded engine.
 *
 * engine_calls.h explains removal, and engine.h says what each function does.
 *
 * A queue of a million URLs is removed in steps between which the crawl goes
 * on. The highest removed id is stored with the queue and durable with the
 * commit of the first step: from then on none of these URLs is fetched. If a
 * crash prevents the other steps, the rest gets its final outcome when the
 * queue's turn comes, or at once if the removal is requested again.
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
