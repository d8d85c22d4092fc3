/*
 * call_crawl.h - calls on a crawl that this process runs with its own fetchers.
 *
 * A call becomes a task of the crawl's frontier thread (crawler/crawl_task.h)
 * and is answered from there; what it changes is durable by then. What reads
 * much goes on between other turns of the crawl, so that no fetcher waits for
 * it. What differs from URLs that programs put, since a URL is fetched once
 * here and keys are the crawl's own, is in docs/decisions/leases.md.
 *
 * Any thread.
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_CRAWL_H
#define URLWEIR_SERVICE_CALLS_CALL_CRAWL_H

#include <stdbool.h>

#include "base/status.h"
#include "job/registry/crawls.h"
#include "service/calls/call.h"

/* As frontier_service_submit: `done` is called, from here at once where the
 * crawl is stopped. STATUS_NOT_FOUND: there is no crawl of this name, and
 * nothing was taken. */
MUST_CHECK enum status call_crawl_submit(struct crawls *c, struct bytes name,
                                         struct frontier_call *call);

/* A lease says whose it is:
 *
 *   63  62 ........ 47  46 ......................... 0
 *   1   crawl's name    number of the lease (engine_calls.h)
 *
 * Those of URLs that programs put have bit 63 clear (served.h). */
bool call_crawl_is_lease(uint64_t lease);
/* Of two crawls whose names fall together only one knows the number. */
bool call_crawl_may_have(uint64_t lease, struct bytes name);

#endif
