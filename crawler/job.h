/*
 * job.h - one leased URL on its way through a fetcher: robots.txt, page,
 * report.
 *
 * A job asks the robots cache first. Where that knows nothing of the origin,
 * the job fetches robots.txt in place of its page and gives its URL back: the
 * delay between two requests is the frontier's to keep. Where robots.txt is
 * redirected, each hop is such a request, to another host by a lease that says
 * so. Each job ends with exactly one report for its URL. One thread runs all
 * jobs of a fetcher.
 */
#ifndef URLWEIR_CRAWLER_JOB_H
#define URLWEIR_CRAWLER_JOB_H

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

/* What the jobs of a fetcher work with. */
struct job_tools {
    const struct fetcher_options *o;
    struct fetch_set *fetches;
    struct reporter *reporter;
    struct warc_recorder *recorder; /* NULL: answers are not recorded */
    struct robots_cache *robots;
    struct queue *reports;
    /* Where the robots.txt of an origin was redirected to, until a job of that
     * origin goes on with it: origin to struct robots_hop. */
    struct map *hops;
};

struct robots_hop;
void robots_hop_free(void *hop); /* for map_free */

enum job_state {
    JOB_BUSY, /* a transfer is under way; job_on_ended follows */
    JOB_HELD, /* another job fetches the robots.txt it needs: begin it again
                 when that has ended, or release it */
    JOB_DONE  /* its report was sent */
};

struct job {
    struct assignment *assignment; /* freed by job_fini */
    struct job *next;              /* for the fetcher's lists */
    struct bytes origin;           /* of the URL */
    int64_t crawl_delay_ms;        /* as in engine_host_news */
    struct buf note;               /* what robots.txt says to its page */
    struct robots_hop *hop;        /* while it fetches robots.txt */
    struct sitemap_stream *list;   /* its page is read as it comes, or NULL */
    struct warc_capture *robots_warc; /* the records of that, until reported */
    bool read_robots; /* it did; others of its origin had to wait */
    enum job_state (*on_ended)(const struct job_tools *t, struct job *j,
                               const struct fetch_result *result);
};

/* Takes the assignment. Jobs are used again and again; job_init only once. */
void job_init(struct job *j);
void job_fini(struct job *j);
void job_set(struct job *j, struct assignment *a);

enum job_state job_begin(const struct job_tools *t, struct job *j, int64_t now);
/* The transfer whose ctx is `j` has ended. */
enum job_state job_on_ended(const struct job_tools *t, struct job *j,
                            const struct fetch_result *result);
/* Give its URL back, not begun. */
enum job_state job_release(const struct job_tools *t, struct job *j);

#endif
