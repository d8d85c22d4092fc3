/*
 * retry_failed.h - failed URLs that a person wants tried again, in the embedded
 * engine. What that means says engine_calls.h.
 *
 * A step is durable with the next commit. After a crash in between, some are
 * queued and the rest is failed as before; asking again takes the rest.
 *
 * `e` is an embedded engine. Frontier thread only. After an error nothing but
 * closing is allowed.
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
