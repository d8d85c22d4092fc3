/*
 * hub.h - where calls of other programs go: to the URLs that programs put, or
 * to a crawl that this process runs with its own fetchers.
 *
 *                        ┌─► frontier_service (frontier_calls.h)
 *   gRPC, HTTP ─► hub ───┤
 *                        └─► crawls (crawls.h), by name: lend.h
 *
 * The crawl's name in a call says which. A batch of puts for several is split,
 * carried out side by side, and answered as one; a GET of any crawl asks all in
 * turn, the first one another each time, and gives each an equal share of the
 * queues asked for, and of what the others leave. A crawl of our own goes
 * before one of the same name that programs put.
 *
 * Threads: submit from any; `done` is called on the thread of whoever answered.
 */
#ifndef URLWEIR_SERVICE_CALLS_HUB_H
#define URLWEIR_SERVICE_CALLS_HUB_H

#include <stdbool.h>

#include "base/status.h"
#include "job/crawls.h"
#include "service/calls/frontier_calls.h"

struct hub;

/* Each may be NULL; both outlive it. */
struct hub *hub_new(struct frontier_service *frontier, struct crawls *crawls);
/* Before the first submit that is to find them. */
void hub_set_crawls(struct hub *h, struct crawls *crawls);
/* Before they go, when no transport submits any more: no call is handed to one
 * when it returns, or later. A call that is under way elsewhere and comes to
 * want them then ends with STATUS_CLOSED, as every submit does. */
void hub_end_crawls(struct hub *h);
/* Both are gone, or about to: every submit is STATUS_CLOSED from now on. */
void hub_close(struct hub *h);
/* When no call is under way; waits until threads that answered the last ones
 * are out of it. NULL is fine. */
void hub_free(struct hub *h);

/* As frontier_service_submit, and with its statuses; `done` may be called
 * before it returns. */
MUST_CHECK enum status hub_submit(struct hub *h, struct frontier_call *call);

/* Do other programs have URLs in a crawl of this name? Waits for the frontier
 * of other programs; not from its thread. For who is to make a crawl. */
bool hub_is_put(struct hub *h, struct bytes name);

struct frontier_service *hub_frontier(const struct hub *h);

#endif
