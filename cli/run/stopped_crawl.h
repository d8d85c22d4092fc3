/*
 * stopped_crawl.h - a crawl that nobody runs, opened to be changed.
 *
 * Locks and opens the crawl as a resume does, but fetches nothing. One thread.
 */
#ifndef URLWEIR_CLI_RUN_STOPPED_CRAWL_H
#define URLWEIR_CLI_RUN_STOPPED_CRAWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "frontier/engine.h"
#include "frontier/url/url_pattern.h"
#include "job/seed_sink.h"
#include "job/settings/options.h"

struct stopped_crawl;

/* Opens DIR for `command`. False: the reason was printed on stderr, and *code
 * is the exit status. */
MUST_CHECK bool stopped_crawl_open(struct stopped_crawl **out,
                                   const char *command, const char *dir,
                                   int *code);
/* Like seed_sink_more; the seeds are on disk when it returns STATUS_OK. */
MUST_CHECK enum status stopped_crawl_seed(struct stopped_crawl *c,
                                          struct seed *seeds, size_t n);
/* Blocks a host until `until_ms`, wall clock; 0 ends a block. STATUS_NOT_FOUND:
 * the crawl has no URL of the host. */
MUST_CHECK enum status stopped_crawl_block(struct stopped_crawl *c,
                                           struct bytes host, int64_t until_ms);

/* Like retry_all; the change is on disk when it returns STATUS_OK. */
MUST_CHECK enum status stopped_crawl_retry(struct stopped_crawl *c,
                                           struct bytes host,
                                           const struct option_list *reasons,
                                           uint64_t *queued);
/* Like refresh_all. */
MUST_CHECK enum status stopped_crawl_refresh(struct stopped_crawl *c,
                                             struct bytes host,
                                             const struct url_pattern *match,
                                             bool at_once, uint64_t *dated);
/* Writes a checkpoint and closes the crawl. *left: URLs that wait for a resume.
 */
MUST_CHECK enum status stopped_crawl_close(struct stopped_crawl *c,
                                           uint64_t *left);

/* Says on stderr how many URLs wait for a resume, if there are any; `what`:
 * "queued" or "due". */
void stopped_crawl_say_left(const char *command, const char *dir,
                            const char *what, uint64_t left);

#endif
