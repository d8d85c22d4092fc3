/*
 * call_ops.h - the operations that a frontier must offer to serve other
 * programs.
 *
 *   router ─► the frontier's thread ─► call_execute ─► struct call_ops
 *                                        a call as       ├─► frontier_service.c
 *                                        operations      └─► call_crawl.c
 *
 * Two modules fill in this table: URLs that programs put (frontier_service.c) and a
 * crawl of our own (call_crawl.c). call.c does what both share: limits
 * and their defaults, parts and paging, names, the wire's seconds to
 * milliseconds, statuses, and building the answer. An operation gets checked
 * values and reports what happened.
 *
 * `of` is the pointer that the table's owner gave to call_execute. Crawls and
 * keys are those of the call, with a blank crawl named; a table for one crawl
 * ignores the crawl. Times are wall clock in milliseconds. Everything runs on
 * the thread that owns the frontier.
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_OPS_H
#define URLWEIR_SERVICE_CALLS_CALL_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "frontier/url_view.h"
#include "service/calls/call.h"

/* STATUS_NOT_FOUND, _ARG, _LIMIT and _REFUSED are answers; any other status but
 * STATUS_OK is a failure of the frontier. An operation sets *more, false at
 * first, if it has more to do; it is then called again with the same arguments
 * after others had a turn. Operations that make no sense for one crawl may be
 * NULL; calls that need them are refused. */
struct call_ops {
    /* Puts the items in this order and sets items[i]->ack, which starts as
     * FRONTIER_ACK_FAIL. The caller has checked their sizes. */
    enum status (*put)(void *of, struct frontier_item *const *items, size_t n);
    /* Leases URLs for a->lease_ms from now and passes each to `visit`. If
     * `visit` stops it, *more tells whether there are others. */
    enum status (*lease)(void *of, struct url_ask *a, url_visit visit,
                         void *ctx, bool *more);
    /* STATUS_NOT_FOUND: the lease no longer exists. `due_ms`: see
     * served_settle (frontier/served/served.h). metadata NULL: unchanged. */
    enum status (*settle)(void *of, uint64_t lease, enum url_settle how,
                          int64_t due_ms, const struct bytes *metadata);
    /* Calls `visit` once. STATUS_NOT_FOUND; STATUS_ARG: no key can be derived.
     */
    enum status (*find)(void *of, struct bytes crawl, struct bytes key,
                        struct bytes url, struct url_facts *facts,
                        url_visit visit, void *ctx);
    /* With visit NULL it only counts, in l->passed. The operation sets
     * l->budget itself. */
    enum status (*list)(void *of, struct url_list *l, url_visit visit,
                        void *ctx, bool *more);
    /* The number of URLs; false if only a list can tell. */
    bool (*count)(void *of, struct bytes crawl, struct bytes key, uint64_t *n);
    enum status (*stats)(void *of, struct bytes crawl, struct bytes key,
                         struct url_counts *out, bool *more);
    /* Keys in order of appearance. Without `inactive`, only queues that are
     * not blocked and have a URL that is not completed. Returns how many were
     * passed, skipped ones and visited ones. */
    uint64_t (*each_queue)(void *of, struct bytes crawl, bool inactive,
                           uint64_t skip, uint64_t most,
                           void (*visit)(void *ctx, struct bytes key),
                           void *ctx);
    /* *gone: URLs removed so far, over all calls of the operation. */
    enum status (*remove_queue)(void *of, struct bytes crawl, struct bytes key,
                                uint64_t *gone, bool *more);
    enum status (*purge)(void *of, struct bytes crawl, struct bytes key,
                         int64_t before_ms, uint64_t *gone, bool *more);
    /* All three return STATUS_NOT_FOUND if there is no such queue. until_ms 0:
     * not blocked; delay_ms -1: the default; most 0: no limit. */
    enum status (*block)(void *of, struct bytes crawl, struct bytes key,
                         int64_t until_ms);
    enum status (*delay)(void *of, struct bytes crawl, struct bytes key,
                         int64_t delay_ms);
    enum status (*limit)(void *of, struct bytes crawl, struct bytes key,
                         uint32_t most, bool *more);

    /* ---- for all crawls; may be NULL ---- */

    enum status (*default_delay)(void *of, int64_t delay_ms);
    void (*each_crawl)(void *of, void (*visit)(void *ctx, struct bytes crawl),
                       void *ctx);
    enum status (*remove_crawl)(void *of, struct bytes crawl, uint64_t *gone);
    enum status (*set_active)(void *of, bool active);
    bool (*active)(void *of);
    struct bytes (*node)(void *of); /* its name among other nodes */
};

/* Carries out a call, or as much of it as one turn allows: if it sets *again,
 * commit and then call it once more. The answer goes into the call; a failure
 * of the frontier goes there too and is returned. `now`: wall clock, ms. */
MUST_CHECK enum status call_execute(const struct call_ops *ops, void *of,
                                    struct frontier_call *call, int64_t now,
                                    bool *again);

/* Items of several PUTs, gathered to be put together. All zero at first. */
struct call_batch {
    struct frontier_item **items;
    size_t n, room;
};
/* Adds those of the `n` items that can be put; acknowledges the others as
 * skipped. */
void call_batch_add(struct call_batch *b, struct frontier_item *items,
                    size_t n);
/* Puts the items, if there are any, and empties the batch. */
MUST_CHECK enum status call_batch_put(struct call_batch *b,
                                      const struct call_ops *ops, void *of);
void call_batch_fini(struct call_batch *b);

#endif
