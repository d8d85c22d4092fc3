/*
 * router.h - sends the calls of other programs to the URLs that programs put,
 * or to a crawl that this process runs with its own fetchers.
 *
 *                           ┌─► served URLs (frontier_service.h)
 *   gRPC, HTTP ─► router ───┤
 *                           └─► a crawl of that name (call_crawl.h)
 *
 * Both carry calls out by the same rules (call_ops.h).
 *
 * The crawl's name in a call decides. The router splits a batch of puts for
 * several crawls, puts the parts side by side, and answers once. A GET of any
 * crawl asks all of them, starting with another one each time; each gets an
 * equal share of the queues asked for, and of those that the others leave. If
 * programs put a crawl with the name of one of our own, ours takes precedence.
 *
 * Threads: submit from any thread; the thread that answers calls `done`.
 */
#ifndef URLWEIR_SERVICE_CALLS_ROUTER_H
#define URLWEIR_SERVICE_CALLS_ROUTER_H

#include <stdbool.h>

#include "base/status.h"
#include "job/registry/crawls.h"
#include "service/calls/frontier_service.h"

struct router;

/* Either may be NULL; both must outlive the router. */
struct router *router_new(struct frontier_service *frontier,
                          struct crawls *crawls);
/* Call it before the first submit that is to find them. */
void router_set_crawls(struct router *r, struct crawls *crawls);
/* Call it before the crawls are closed, when no transport submits any more:
 * once it returns, the router hands no call to a crawl. A call under way
 * elsewhere that then needs one ends with STATUS_CLOSED, as every submit does.
 */
void router_end_crawls(struct router *r);
/* Call it before frontier or crawls are freed: from now on every submit returns
 * STATUS_CLOSED. */
void router_close(struct router *r);
/* Call it when no call is under way; it waits until the threads that answered
 * the last ones have left the router. NULL is fine. */
void router_free(struct router *r);

/* Like frontier_service_submit, with the same statuses; `done` may be called
 * before it returns. */
MUST_CHECK enum status router_submit(struct router *r,
                                     struct frontier_call *call);

/* Do other programs have URLs in a crawl of this name? Ask before making a
 * crawl. Waits for the frontier thread, so do not call it from there. */
bool router_is_served(struct router *r, struct bytes name);

struct frontier_service *router_frontier(const struct router *r);

#endif
