/*
 * fetcher.h - one thread: a curl multi handle, its hosts, its parser.
 *
 * A fetcher takes leased URLs, obeys robots.txt, fetches, finds the links,
 * makes them canonical, asks the scope, takes their digests, and sends one
 * report per URL to the frontier thread. Fetchers share only read-only data,
 * the bounded queues, and the counters below. A connection to a host belongs to
 * one fetcher (crawl_balance.h), so keep-alive and politeness stay together;
 * the frontier decides when, and a fetcher never waits for a delay to pass.
 */
#ifndef URLWEIR_CRAWLER_FETCHER_H
#define URLWEIR_CRAWLER_FETCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/thread/queue.h"
#include "crawler/fetch/fetch.h"
#include "frontier/frontier.h"

struct warc_capture; /* crawler/archive/archive.h */

enum report_kind {
    REPORT_DONE,    /* `done` is filled in */
    REPORT_RELEASE, /* not fetched: only id, not_before, done.host and, in
                       done.outlinks, sitemaps of robots.txt are set */
    REPORT_PART, /* part of a sitemap: done.outlinks and .drops; the URL's own
                    report follows */
    REPORT_GONE  /* the fetcher's thread has ended; no id */
};

/* A fetcher's message to the frontier thread, which frees it. Everything it
 * points to lives in its arena. */
struct report {
    enum report_kind kind;
    unsigned fetcher; /* that sent it */
    uint32_t queue;   /* of its URL */
    uint64_t id;
    int64_t not_before; /* monotonic; 0: as the queue allows */
    struct url_done done;
    /* This many at the end of done.outlinks are on other hosts than the sitemap
     * that lists them (sitemap_stream.h). */
    size_t elsewhere;
    struct arena *arena;
    struct warc_capture *warc;        /* records of the response, or NULL */
    struct warc_capture *robots_warc; /* of a robots.txt fetched first */
};
void report_free(struct report *r);

struct fetcher;
struct fetch_counters;

/* Starts a fetcher's thread. `reports` is the frontier thread's inbox;
 * `capacity` is the most URLs that the fetcher holds at once. It notes the URL
 * whose response it reads in `in_hand`, which outlives it and may be NULL. */
MUST_CHECK enum status fetcher_start(struct fetcher **out, unsigned index,
                                     const struct fetcher_options *o,
                                     size_t capacity, struct queue *reports,
                                     struct in_hand_slot *in_hand);
/* Hands over a robots.txt that an earlier run kept; copies `row`. Call it
 * before the first URL of that origin is given. Never blocks. */
void fetcher_know_robots(struct fetcher *f, const struct robots_row *row);
/* Takes ownership. Never blocks: the caller keeps to `capacity`. */
void fetcher_give(struct fetcher *f, struct assignment *a);
/* Takes back what the fetcher has not begun, for another fetcher; `out` has
 * room for `capacity`. Never blocks. */
size_t fetcher_take_back(struct fetcher *f, struct assignment **out);
/* Finishes requests in flight, but starts none: the other URLs are released.
 * Returns at once; REPORT_GONE follows when all is done. */
void fetcher_drain(struct fetcher *f);
/* Aborts requests in flight, releases their URLs, and ends the thread. Returns
 * at once. */
void fetcher_stop(struct fetcher *f);
/* Joins the thread, after fetcher_drain or fetcher_stop. NULL is fine. */
void fetcher_free(struct fetcher *f);

const struct fetcher_counters *fetcher_counters(const struct fetcher *f);
/* Counts the results of its requests (fetch_set.h). Any thread. */
const struct fetch_counters *fetcher_fetch_counters(const struct fetcher *f);

/* Sets up libcurl, libxml2 and ICU. Call it before the first fetcher, and
 * before other threads use libcurl or libxml2. It may be called repeatedly. */
MUST_CHECK enum status fetcher_global_init(void);
/* How many files the process may open, after fetcher_global_init. */
uint64_t fetcher_descriptors(void);

#endif
