/*
 * whole_crawl.h - one crawl as a child of a benchmark, and what it cost.
 *
 * The program is from the same build. It crawls with one fetcher thread, 64
 * transfers at once and no delay, into a temporary directory. The kernel counts
 * its CPU time and memory.
 */
#ifndef URLWEIR_BENCH_WHOLE_CRAWL_H
#define URLWEIR_BENCH_WHOLE_CRAWL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

#define CRAWL_SEEDS_MOST 16

struct whole_crawl {
    char program[PATH_MAX];
    char dir[32], warc_dir[32]; /* of the crawls, without and with --warc */
};

/* False: no temporary directory could be made. */
bool whole_crawl_init(struct whole_crawl *r);
void whole_crawl_fini(struct whole_crawl *r);

struct crawl_cost {
    double seconds, cpu_us;
    long rss_kb;
    int status; /* exit status; -1: it did not exit */
};

/* `seeds` ends with NULL and holds at most CRAWL_SEEDS_MOST. */
struct crawl_cost whole_crawl_measure(const struct whole_crawl *r,
                                      const char *scope, char *const *seeds,
                                      bool warc);

/* Append every URL that the crawl without --warc got a response from, one a
 * line. */
void whole_crawl_fetched(const struct whole_crawl *r, struct buf *out);

/* Waits for a child that was started at `begun`, by clock_mono. */
struct crawl_cost crawl_cost_of(pid_t pid, int64_t begun);

#endif
