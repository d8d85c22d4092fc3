/*
 * serve_crawls.h - the crawls of `urlweir serve`: those of --crawl and those in
 * DIR/crawls.
 *
 * Main thread. DIR exists and is locked.
 */
#ifndef URLWEIR_CLI_RUN_SERVE_CRAWLS_H
#define URLWEIR_CLI_RUN_SERVE_CRAWLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "cli/run/serve_settings.h"
#include "config/option.h"
#include "job/registry/crawls.h"
#include "service/service.h"

struct serve_crawls;

/* Opens all crawls and makes them known to the service's router. If a fetcher
 * of a crawl does not come back, the service ends. False: the reason was
 * printed, and *code is the exit status. */
MUST_CHECK bool serve_crawls_open(struct serve_crawls **out, const char *dir,
                                  struct service *service,
                                  const struct serve_settings *set, int *code);
struct crawls *serve_crawls_of(struct serve_crawls *s);
/* Begins to stop the crawls; any thread may call this. */
void serve_crawls_stop(struct serve_crawls *s);
/* After serve_crawls_stop: has every crawl stopped or failed? */
bool serve_crawls_are_over(struct serve_crawls *s);
/* Waits until the crawls have stopped, for visits under way at most as long as
 * the drain. *stuck: a fetcher has not come back, see stuck_end.h. NULL is
 * fine. */
enum status serve_crawls_close(struct serve_crawls *s, bool *stuck);

#endif
