/*
 * fetch_task.h - one leased URL on its way through a fetcher: robots.txt, page,
 * report.
 *
 * A task asks the robots cache first. If the cache does not know the origin,
 * the task fetches robots.txt instead of its page and gives its URL back: the
 * frontier keeps the delay between two requests. If robots.txt is redirected,
 * each hop is another such request; a hop to another host has a lease for that
 * host. Each task ends with exactly one report for its URL. One thread runs all
 * tasks of a fetcher.
 */
#ifndef URLWEIR_CRAWLER_FETCH_TASK_H
#define URLWEIR_CRAWLER_FETCH_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/thread/queue.h"
#include "crawler/archive/archive.h"
#include "crawler/fetch/fetch_set.h"
#include "crawler/fetcher.h"
#include "crawler/report.h"
#include "crawler/reporter.h"
#include "crawler/robots/robots_cache.h"

/* What the tasks of a fetcher share. */
struct fetch_task_tools {
    unsigned fetcher; /* its number */
    const struct fetcher_options *o;
    struct fetch_set *fetches;
    struct reporter *reporter;
    struct warc_recorder *recorder; /* NULL: answers are not recorded */
    struct robots_cache *robots;
    struct queue *reports;
    /* Maps an origin to the struct robots_hop that its robots.txt was
     * redirected to, until a task of that origin follows it. */
    struct map *hops;
};

struct robots_hop;
void robots_hop_free(void *hop); /* for map_free */

enum fetch_task_state {
    FETCH_TASK_BUSY,  /* a transfer is in flight; fetch_task_on_ended follows */
    FETCH_TASK_WAITS, /* another task fetches the robots.txt it needs: begin it
                         again after that, or release it */
    FETCH_TASK_DONE   /* its report was sent */
};

struct fetch_task {
    struct assignment *assignment; /* freed by fetch_task_fini */
    struct fetch_task *next;       /* for the fetcher's lists */
    struct bytes origin;           /* of the URL */
    bool robots_known;             /* as host_news.robots_read */
    int64_t crawl_delay_ms;        /* as in host_news */
    struct buf note;               /* what robots.txt says about the page */
    struct robots_hop *hop;        /* while it fetches robots.txt */
    struct sitemap_stream *list;   /* reads the body as it arrives, or NULL */
    struct warc_capture *robots_warc; /* robots.txt's, until reported */
    bool read_robots; /* it read robots.txt while others of its origin waited */
    enum fetch_task_state (*on_ended)(const struct fetch_task_tools *t,
                                      struct fetch_task *task,
                                      const struct fetch_result *result);
};

/* fetch_task_set takes ownership of the assignment. Tasks are reused; call
 * fetch_task_init only once. */
void fetch_task_init(struct fetch_task *task);
void fetch_task_fini(struct fetch_task *task);
void fetch_task_set(struct fetch_task *task, struct assignment *a);

enum fetch_task_state fetch_task_begin(const struct fetch_task_tools *t,
                                       struct fetch_task *task, int64_t now);
/* The transfer whose ctx is `task` has ended. */
enum fetch_task_state fetch_task_on_ended(const struct fetch_task_tools *t,
                                          struct fetch_task *task,
                                          const struct fetch_result *result);
/* Gives the URL of a task back that has not begun. */
enum fetch_task_state fetch_task_release(const struct fetch_task_tools *t,
                                         struct fetch_task *task);

#endif
