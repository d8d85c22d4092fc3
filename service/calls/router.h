/*
 * router.h - where calls of other programs go: to the URLs that programs put,
 * or to a crawl that this process runs with its own fetchers.
 *
 *                           ┌─► served URLs (frontier_service.h)
 *   gRPC, HTTP ─► router ───┤
 *                           └─► a crawl of that name (call_crawl.h)
 *
 * Both carry calls out by the same rules (call_ops.h).
 *
 * The crawl's name in a call says which. A batch of puts for several is split,
 * carried out side by side, and answered as one; a GET of any crawl asks all in
 * turn, the first one another each time, and gives each an equal share of the
 * queues asked for, and of what the others leave. A crawl of our own goes
 * before one of the same name that programs put.
 *
 * Threads: submit from any; `done` is called on the thread of whoever answered.
 */
#ifndef URLWEIR_SERVICE_CALLS_ROUTER_H
#define URLWEIR_SERVICE_CALLS_ROUTER_H

#include <stdbool.h>

#include "base/status.h"
#include "job/registry/crawls.h"
#include "service/calls/frontier_service.h"

struct router;

/* Each may be NULL; both outlive it. */
struct router *router_new(struct frontier_service *frontier,
                          struct crawls *crawls);
/* Before the first submit that is to find them. */
void router_set_crawls(struct router *r, struct crawls *crawls);
/* Before they go, when no transport submits any more: no call is handed to one
 * when it returns, or later. A call that is under way elsewhere and comes to
 * want them then ends with STATUS_CLOSED, as every submit does. */
void router_end_crawls(struct router *r);
/* Both are gone, or about to: every submit is STATUS_CLOSED from now on. */
void router_close(struct router *r);
/* When no call is under way; waits until threads that answered the last ones
 * are out of it. NULL is fine. */
void router_free(struct router *r);

/* As frontier_service_submit, and with its statuses; `done` may be called
 * before it returns. */
MUST_CHECK enum status router_submit(struct router *r,
                                     struct frontier_call *call);

/* Do other programs have URLs in a crawl of this name? Waits for the frontier
 * of other programs; not from its thread. For who is to make a crawl. */
bool router_is_served(struct router *r, struct bytes name);

struct frontier_service *router_frontier(const struct router *r);

#endif
