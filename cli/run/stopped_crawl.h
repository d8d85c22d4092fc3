/*
 * stopped_crawl.h - a crawl that nobody runs, opened to be changed.
 *
 * It is held as by a resume, which fetches nothing. One thread.
 */
#ifndef URLWEIR_CLI_RUN_STOPPED_CRAWL_H
#define URLWEIR_CLI_RUN_STOPPED_CRAWL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "job/seed_sink.h"

struct stopped_crawl;

/* Opens DIR for `command`. False: *code is the exit status and why was said on
 * stderr. */
MUST_CHECK bool stopped_crawl_open(struct stopped_crawl **out,
                                   const char *command, const char *dir,
                                   int *code);
/* As seed_sink_more; on disk when it returns STATUS_OK. */
MUST_CHECK enum status stopped_crawl_seed(struct stopped_crawl *c,
                                          struct seed *seeds, size_t n);
/* Holds a host back until then, wall clock, 0: no longer. STATUS_NOT_FOUND: the
 * crawl has no URL of it. */
MUST_CHECK enum status stopped_crawl_block(struct stopped_crawl *c,
                                           struct bytes host, int64_t until_ms);

/* As retry_all; on disk when it returns STATUS_OK. */
MUST_CHECK enum status stopped_crawl_retry(struct stopped_crawl *c,
                                           struct bytes host,
                                           const struct option_list *reasons,
                                           uint64_t *queued);
/* With a checkpoint. *left: URLs that wait for a resume. */
MUST_CHECK enum status stopped_crawl_close(struct stopped_crawl *c,
                                           uint64_t *left);

#endif
