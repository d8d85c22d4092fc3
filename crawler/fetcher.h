/*
 * fetcher.h - one thread: a curl multi handle, its hosts, its parser.
 *
 * A fetcher takes leased URLs, obeys robots.txt, fetches, finds the links,
 * brings them to canonical form, asks the scope, takes their digests, and
 * sends one report a URL to the frontier thread. Fetchers share nothing but
 * what is read-only, the bounded queues, and the counters below. All URLs of a
 * queue key are given to one fetcher, so keep-alive and politeness stay
 * together; the frontier decides when, the fetcher never waits out a delay.
 */
#ifndef URLWEIR_CRAWLER_FETCHER_H
#define URLWEIR_CRAWLER_FETCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/queue.h"
#include "base/status.h"
#include "crawler/fetch/assignment.h"
#include "crawler/fetch/fetch_options.h"
#include "frontier/engine.h"

struct warc_capture; /* crawler/archive/warc_capture.h */

enum report_kind {
    REPORT_DONE,    /* `done` is filled in */
    REPORT_RELEASE, /* not fetched: id, not_before and done.host count, and
                       what robots.txt lists in done.outlinks */
    REPORT_PART, /* some of what a sitemap lists: done.outlinks and .drops; the
                    URL's last word is still to come */
    REPORT_GONE  /* the fetcher's thread has ended; no id */
};

/* What a fetcher tells the frontier thread, which frees it. Everything it
 * points to lives in its arena. */
struct report {
    enum report_kind kind;
    uint64_t id;
    int64_t not_before; /* monotonic; 0: as the queue allows */
    struct engine_done done;
    size_t elsewhere; /* the last so many of done.outlinks stand on other hosts
                         than the sitemap that lists them (sitemap_trust.h) */
    struct arena *arena;
    struct warc_capture *warc;        /* records of the response, or NULL */
    struct warc_capture *robots_warc; /* of a robots.txt fetched first */
};
void report_free(struct report *r);

struct fetcher;
struct fetch_counters;

/* Starts its thread. `reports` is the frontier thread's inbox; `capacity` is
 * the most URLs that are with this fetcher at once; `in_hand`, where it notes
 * the URL whose response it reads, outlives it, NULL: nowhere. */
MUST_CHECK enum status fetcher_start(struct fetcher **out, unsigned index,
                                     const struct fetcher_options *o,
                                     size_t capacity, struct queue *reports,
                                     struct in_hand_slot *in_hand);
/* A robots.txt that an earlier run kept; `row` is copied. Before the first URL
 * of its origin is given; never blocks. */
void fetcher_know_robots(struct fetcher *f, const struct robots_row *row);
/* Never blocks: the caller keeps to `capacity`. Takes ownership. */
void fetcher_give(struct fetcher *f, struct assignment *a);
/* What it was given and has not taken up yet, for somebody else; `out` has room
 * for `capacity`. Never blocks. */
size_t fetcher_take_back(struct fetcher *f, struct assignment **out);
/* Finish what is under way, but start nothing: URLs not yet asked are
 * released. Returns at once; REPORT_GONE follows when all is done. */
void fetcher_drain(struct fetcher *f);
/* Give up what is under way (it is released) and end. Returns at once. */
void fetcher_stop(struct fetcher *f);
/* Joins the thread; fetcher_drain or _stop was called. NULL is fine. */
void fetcher_free(struct fetcher *f);

const struct fetcher_counters *fetcher_counters(const struct fetcher *f);
/* What its requests came to (fetch_stats.h). Any thread. */
const struct fetch_counters *fetcher_fetch_counters(const struct fetcher *f);

/* Before the first fetcher, and, where others use libcurl or libxml2, before
 * their threads: libcurl, libxml2, ICU. Any number of times. */
MUST_CHECK enum status fetcher_global_init(void);
/* Files that the process may have open; after fetcher_global_init. */
uint64_t fetcher_descriptors(void);

#endif
