/*
 * external.h - external leases of the embedded engine.
 *
 * engine_calls.h explains them and has arguments and results; engine.h, whose
 * table has these functions, says what each does. A lease is a row of
 * item_lease, so that it survives a restart. Nothing is durable, and no URL may
 * be given to a caller, before the engine's next commit.
 *
 * `e` is an embedded engine. Frontier thread only. After an error nothing but
 * closing is allowed.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_EXTERNAL_H
#define URLWEIR_FRONTIER_EMBEDDED_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "frontier/engine.h"

struct external_leases; /* all of one crawl */
struct external_lease;  /* one of them, with its deadline */

MUST_CHECK enum status external_grant(struct engine *e,
                                      const struct external_request *a,
                                      int64_t now, int64_t wall_ms,
                                      struct external_url *out, size_t *n);
uint64_t external_find(struct engine *e, uint64_t number, int64_t now);
MUST_CHECK enum status external_extend(struct engine *e, uint64_t number,
                                       int64_t length, int64_t now,
                                       int64_t wall_ms);

MUST_CHECK enum status external_settle(struct engine *e, uint64_t id,
                                       const struct external_report *word,
                                       int64_t now, int64_t wall_ms,
                                       enum external_result *said);
MUST_CHECK enum status external_discover(struct engine *e,
                                         const struct engine_item *items,
                                         size_t n,
                                         const struct engine_drop *drops,
                                         size_t drop_count, int64_t now,
                                         int64_t wall_ms, uint64_t *ids);

void external_get_facts(struct engine *e, uint64_t id, int64_t now,
                        struct external_facts *out);

void external_get_queue(struct engine *e, uint32_t queue, int64_t now,
                        struct external_queue *out);

#endif
