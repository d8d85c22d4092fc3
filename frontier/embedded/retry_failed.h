/*
 * retry_failed.h - queues failed URLs again for a person, in the embedded
 * engine. engine_calls.h says what that means.
 *
 * A step is durable with the next commit. After a crash in between, some URLs
 * are queued and the rest are still failed; a new request takes the rest.
 *
 * `e` is an embedded engine. Frontier thread only. After an error, the engine
 * may only be closed.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_RETRY_FAILED_H
#define URLWEIR_FRONTIER_EMBEDDED_RETRY_FAILED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "frontier/engine.h"

MUST_CHECK enum status retry_failed(struct engine *e, struct failed_retry *r,
                                    size_t most, int64_t now, int64_t wall_ms,
                                    bool *over);

#endif
