/*
 * call_ops.h - the operations that a frontier must have, so that other programs
 * can work with it.
 *
 *   router ─► the frontier's thread ─► call_execute ─► struct call_ops
 *                                        what a call     ├─► call_served.c
 *                                        means           └─► call_crawl.c
 *
 * One table, and two that fill it: URLs that programs put (call_served.c) and a
 * crawl of our own (call_crawl.c). What both have in common is in
 * call_execute.c and written once: limits and their defaults, parts and paging,
 * names, seconds of the wire against milliseconds, statuses, and how an answer
 * is put together. An operation gets checked values and says what happened.
 *
 * `of` is whatever the table's owner gave to call_execute. Crawls and keys are
 * as in the call, a blank crawl named; a table for one crawl ignores the
 * former. Times are the wall clock in milliseconds. All of it runs on the
 * thread that owns the frontier.
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_OPS_H
#define URLWEIR_SERVICE_CALLS_CALL_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "frontier/url_view.h"
#include "service/calls/call.h"

/* STATUS_NOT_FOUND, _ARG, _LIMIT and _REFUSED are answers; every other one that
 * is not STATUS_OK is the frontier's failure. *more, false at first: there is
 * more to do, and the operation is to be asked again, with what it was asked
 * for, after others had a turn. Operations that may be NULL are those that make
 * no sense for one crawl: calls that need them are refused. */
struct call_ops {
    /* Sets items[i]->ack, which is FRONTIER_ACK_FAIL. Their sizes are checked.
     * The order counts. */
    enum status (*put)(void *of, struct frontier_item *const *items, size_t n);
    /* `visit` gets each URL leased; for a->lease_ms from now. Where it
     * says enough, *more says whether there are others. */
    enum status (*lease)(void *of, struct url_ask *a, url_visit visit,
                         void *ctx, bool *more);
    /* STATUS_NOT_FOUND: there is no such lease any more. `due_ms`: as in
     * served_settle (frontier/served/served.h). metadata NULL: it stays. */
    enum status (*settle)(void *of, uint64_t lease, enum url_settle how,
                          int64_t due_ms, const struct bytes *metadata);
    /* One visit. STATUS_NOT_FOUND; STATUS_ARG: no key can be derived. */
    enum status (*find)(void *of, struct bytes crawl, struct bytes key,
                        struct bytes url, struct url_facts *facts,
                        url_visit visit, void *ctx);
    /* visit NULL: they are only counted, in l->passed. l->budget is its own
     * affair. */
    enum status (*list)(void *of, struct url_list *l, url_visit visit,
                        void *ctx, bool *more);
    /* How many URLs there are, where that is known without a list. */
    bool (*count)(void *of, struct bytes crawl, struct bytes key, uint64_t *n);
    enum status (*stats)(void *of, struct bytes crawl, struct bytes key,
                         struct url_counts *out, bool *more);
    /* Keys in order of appearance. Without `inactive`: those that are not
     * blocked and have a URL that is not completed. */
    void (*each_queue)(void *of, struct bytes crawl, bool inactive,
                       uint64_t skip, uint64_t most,
                       void (*visit)(void *ctx, struct bytes key), void *ctx);
    /* *gone: how many URLs so far, over all times that they were asked. */
    enum status (*remove_queue)(void *of, struct bytes crawl, struct bytes key,
                                uint64_t *gone, bool *more);
    enum status (*purge)(void *of, struct bytes crawl, struct bytes key,
                         int64_t before_ms, uint64_t *gone, bool *more);
    /* These three: STATUS_NOT_FOUND, no such queue. until_ms 0: not blocked;
     * delay_ms -1: the default; most 0: no limit. */
    enum status (*block)(void *of, struct bytes crawl, struct bytes key,
                         int64_t until_ms);
    enum status (*delay)(void *of, struct bytes crawl, struct bytes key,
                         int64_t delay_ms);
    enum status (*limit)(void *of, struct bytes crawl, struct bytes key,
                         uint32_t most, bool *more);

    /* ---- of all crawls; may be NULL ---- */

    enum status (*default_delay)(void *of, int64_t delay_ms);
    void (*each_crawl)(void *of, void (*visit)(void *ctx, struct bytes crawl),
                       void *ctx);
    enum status (*remove_crawl)(void *of, struct bytes crawl, uint64_t *gone);
    enum status (*set_active)(void *of, bool active);
    bool (*active)(void *of);
    struct bytes (*node)(void *of); /* its name among others */
};

/* Carries out a call, or as much of it as may be done at a time: *again says
 * that it is to be given here once more, with what is done until then durable.
 * The answer is in the call, a failure of the frontier too, which is returned.
 * `now`: wall clock, milliseconds. */
MUST_CHECK enum status call_execute(const struct call_ops *ops, void *of,
                                    struct frontier_call *call, int64_t now,
                                    bool *again);

/* Items of PUTs, gathered so that they are put together. All zero at first. */
struct call_batch {
    struct frontier_item **items;
    size_t n, room;
};
/* Adds those of `n` that can be put; the others are acknowledged as skipped. */
void call_batch_add(struct call_batch *b, struct frontier_item *items,
                    size_t n);
/* Puts them, if there are any, and empties the batch. */
MUST_CHECK enum status call_batch_put(struct call_batch *b,
                                      const struct call_ops *ops, void *of);
void call_batch_fini(struct call_batch *b);

#endif
