/*
 * stopped_crawl.h - a crawl that nobody runs, opened to be given seeds.
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
/* With a checkpoint. *left: URLs that wait for a resume. */
MUST_CHECK enum status stopped_crawl_close(struct stopped_crawl *c,
                                           uint64_t *left);

#endif
