/*
 * whole_crawl.h - one crawl as a child of a benchmark, and what it cost.
 *
 * The program is from the same build. It crawls with 64 transfers at once and
 * no delay, and with one fetcher thread unless more are asked for, into a
 * temporary directory. The kernel counts its CPU time and memory.
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
    unsigned threads, conns;    /* fetchers, connections to a host; 0: 1 */
};

/* False: no temporary directory could be made. */
bool whole_crawl_init(struct whole_crawl *r);
void whole_crawl_fini(struct whole_crawl *r);

#define FETCHERS_MOST 8

struct crawl_cost {
    double seconds, cpu_us;
    long rss_kb;
    int status;                       /* exit status; -1: it did not exit */
    double fetcher_us[FETCHERS_MOST]; /* CPU of each fetcher thread, a little
                                         less than all of it */
};

/* Runs the program with `args`, its name first and NULL last, as another sort
 * of crawl needs them; stderr goes to the file `err`, unless NULL. */
struct crawl_cost whole_crawl_run(const struct whole_crawl *r,
                                  const char *const *args, const char *err);

/* The last line that --progress json wrote to the file `path`: the counters of
 * the whole run. Empty: there is none. */
void whole_crawl_last_line(const char *path, char *line, size_t room);
/* 0: it is not there. */
uint64_t whole_crawl_counter(const char *line, const char *name);

/* `seeds` ends with NULL and holds at most CRAWL_SEEDS_MOST. */
struct crawl_cost whole_crawl_measure(const struct whole_crawl *r,
                                      const char *scope, char *const *seeds,
                                      bool warc);

/* Append every URL that the crawl without --warc got a response from, one a
 * line. */
void whole_crawl_fetched(const struct whole_crawl *r, struct buf *out);

/* The same by wget2, which writes files and deletes them. False: it is not
 * installed. */
bool whole_crawl_wget2(const struct whole_crawl *r, bool all_hosts,
                       char *const *seeds, struct crawl_cost *out);

/* Waits for a child that was started at `begun`, by clock_mono. */
struct crawl_cost crawl_cost_of(pid_t pid, int64_t begun);

#endif
