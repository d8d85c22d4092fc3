/*
 * retry.h - failed URLs of a crawl that no process runs are tried again.
 *
 * Of one that runs, CRAWLS_RETRY (crawls.h) does the same. One thread.
 */
#ifndef URLWEIR_JOB_RETRY_H
#define URLWEIR_JOB_RETRY_H

#include "base/buf.h"
#include "base/status.h"
#include "config/option.h"
#include "frontier/engine.h"

/* "http_503", "timeout" ...; "all" is any reason. False: one is no reason why a
 * URL fails, which `why` says. */
bool retry_reasons_are_known(const struct option_list *reasons,
                             struct buf *why);
/* Queues those of `host` (a queue key; empty: all) that failed for one of
 * `reasons` (empty, or "all": any), durably. *queued: how many. */
MUST_CHECK enum status retry_all(struct engine *e, struct bytes host,
                                 const struct option_list *reasons,
                                 uint64_t *queued);

#endif
