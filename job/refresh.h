/*
 * refresh.h - makes done URLs due again, in a crawl that no process runs.
 *
 * For a running crawl, CRAWLS_REFRESH (crawls.h) does the same. One thread.
 */
#ifndef URLWEIR_JOB_REFRESH_H
#define URLWEIR_JOB_REFRESH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "frontier/engine.h"
#include "frontier/url/url_pattern.h"

/* A request for the URLs of `host` (a queue key; empty: all hosts) that match
 * `match` (NULL: every URL). Both must outlive it. `at_once`: see
 * refresh_request.now. The caller frees walk.seen. */
struct refresh_request refresh_wish(struct bytes host,
                                    const struct url_pattern *match,
                                    bool at_once);
/* Makes them due, durably. *dated: how many got a date, or an earlier one. */
MUST_CHECK enum status refresh_all(struct engine *e, struct bytes host,
                                   const struct url_pattern *match,
                                   bool at_once, uint64_t *dated);

#endif
