/*
 * call_crawl.h - calls on a crawl that this process runs with its own fetchers.
 *
 * A call becomes a task of the crawl's frontier thread (crawler/crawl.h)
 * which answers it once its changes are durable. Long reads are split between
 * turns of the crawl, so that no fetcher waits for them. A crawl fetches a URL
 * once and makes its own keys; docs/decisions/leases.md lists how it therefore
 * differs from URLs that programs put.
 *
 * Any thread.
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_CRAWL_H
#define URLWEIR_SERVICE_CALLS_CALL_CRAWL_H

#include <stdbool.h>

#include "base/status.h"
#include "job/registry/crawls.h"
#include "service/calls/call.h"

/* Like frontier_service_submit; if the crawl is stopped, `done` is called
 * before this returns. STATUS_NOT_FOUND: no crawl has this name, and the call
 * was not taken. */
MUST_CHECK enum status call_crawl_submit(struct crawls *c, struct bytes name,
                                         struct frontier_call *call);

/* A lease names its owner:
 *
 *   63  62 ........ 47  46 ......................... 0
 *   1   crawl's name    number of the lease (frontier_calls.h)
 *
 * Those of URLs that programs put have bit 63 clear (served.h). */
bool call_crawl_is_lease(uint64_t lease);
/* May this crawl have given the lease? True also for another crawl whose name
 * has the same hash; only one of them knows the number. */
bool call_crawl_may_have(uint64_t lease, struct bytes name);

#endif
