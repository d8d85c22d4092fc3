/*
 * serve_crawls.h - the crawls of `urlweir serve`: those of --crawl, and those
 * that are in DIR/crawls.
 *
 * Main thread; DIR is there and locked.
 */
#ifndef URLWEIR_CLI_RUN_SERVE_CRAWLS_H
#define URLWEIR_CLI_RUN_SERVE_CRAWLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/option.h"
#include "job/registry/crawls.h"
#include "service/service.h"

struct serve_crawls;

/* Opens all, and makes them known to the service's router; `files` are those of
 * --crawl. The service ends if a fetcher of one of them does not come back.
 * False: *code is the exit status, and what is wrong was said. */
MUST_CHECK bool serve_crawls_open(struct serve_crawls **out, const char *dir,
                                  struct service *service,
                                  const struct option_list *files,
                                  int64_t drain_ms, bool quiet, int *code);
struct crawls *serve_crawls_of(struct serve_crawls *s);
/* Begins to stop them; any thread. */
void serve_crawls_stop(struct serve_crawls *s);
/* After the stop: none of them is open any more. */
bool serve_crawls_are_over(struct serve_crawls *s);
/* Waits until they have stopped: for what is under way, at most as long as the
 * drain. *stuck: a fetcher has not come back, see stuck_end.h. NULL is fine. */
enum status serve_crawls_close(struct serve_crawls *s, bool *stuck);

#endif
