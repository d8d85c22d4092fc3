/*
 * retry.h - tries failed URLs again, in a crawl that no process runs.
 *
 * For a running crawl, CRAWLS_RETRY (crawls.h) does the same. One thread.
 */
#ifndef URLWEIR_JOB_RETRY_H
#define URLWEIR_JOB_RETRY_H

#include "base/buf.h"
#include "base/status.h"
#include "config/option.h"
#include "frontier/engine.h"

/* Is each of `reasons` a reason why a URL fails ("http_503", "timeout" ...), or
 * "all" for any? False: `why` names the first that is not. */
bool retry_reasons_are_known(const struct option_list *reasons,
                             struct buf *why);
/* Queues the URLs of `host` (a queue key; empty: all hosts) that failed for one
 * of `reasons` (empty, or "all": any), durably. *queued: their number. */
MUST_CHECK enum status retry_all(struct engine *e, struct bytes host,
                                 const struct option_list *reasons,
                                 uint64_t *queued);

#endif
