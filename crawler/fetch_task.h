/*
 * fetch_task.h - one leased URL on its way through a fetcher: robots.txt, page,
 * report.
 *
 * A task asks the robots cache first. Where that knows nothing of the origin,
 * the task fetches robots.txt in place of its page and gives its URL back: the
 * delay between two requests is the frontier's to keep. Where robots.txt is
 * redirected, each hop is such a request, to another host by a lease that says
 * so. Each task ends with exactly one report for its URL. One thread runs all
 * tasks of a fetcher.
 */
#ifndef URLWEIR_CRAWLER_FETCH_TASK_H
#define URLWEIR_CRAWLER_FETCH_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/queue.h"
#include "crawler/archive/warc_recorder.h"
#include "crawler/fetch/fetch_set.h"
#include "crawler/fetcher.h"
#include "crawler/report.h"
#include "crawler/robots/robots_cache.h"

/* What the tasks of a fetcher work with. */
struct fetch_task_tools {
    const struct fetcher_options *o;
    struct fetch_set *fetches;
    struct reporter *reporter;
    struct warc_recorder *recorder; /* NULL: answers are not recorded */
    struct robots_cache *robots;
    struct queue *reports;
    /* Where the robots.txt of an origin was redirected to, until a task of that
     * origin goes on with it: origin to struct robots_hop. */
    struct map *hops;
};

struct robots_hop;
void robots_hop_free(void *hop); /* for map_free */

enum fetch_task_state {
    FETCH_TASK_BUSY,  /* a transfer is under way; fetch_task_on_ended follows */
    FETCH_TASK_WAITS, /* another task fetches the robots.txt it needs: begin it
                 again when that has ended, or release it */
    FETCH_TASK_DONE   /* its report was sent */
};

struct fetch_task {
    struct assignment *assignment; /* freed by fetch_task_fini */
    struct fetch_task *next;       /* for the fetcher's lists */
    struct bytes origin;           /* of the URL */
    int64_t crawl_delay_ms;        /* as in engine_host_news */
    struct buf note;               /* what robots.txt says to its page */
    struct robots_hop *hop;        /* while it fetches robots.txt */
    struct sitemap_stream *list;   /* its page is read as it comes, or NULL */
    struct warc_capture *robots_warc; /* the records of that, until reported */
    bool read_robots; /* it did; others of its origin had to wait */
    enum fetch_task_state (*on_ended)(const struct fetch_task_tools *t,
                                      struct fetch_task *task,
                                      const struct fetch_result *result);
};

/* Takes the assignment. Tasks are used again and again; fetch_task_init only
 * once. */
void fetch_task_init(struct fetch_task *task);
void fetch_task_fini(struct fetch_task *task);
void fetch_task_set(struct fetch_task *task, struct assignment *a);

enum fetch_task_state fetch_task_begin(const struct fetch_task_tools *t,
                                       struct fetch_task *task, int64_t now);
/* The transfer whose ctx is `task` has ended. */
enum fetch_task_state fetch_task_on_ended(const struct fetch_task_tools *t,
                                          struct fetch_task *task,
                                          const struct fetch_result *result);
/* Give its URL back, not begun. */
enum fetch_task_state fetch_task_release(const struct fetch_task_tools *t,
                                         struct fetch_task *task);

#endif
