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

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/queue.h"
#include "base/status.h"
#include "crawler/assignment.h"
#include "crawler/fetch/body_pool.h"
#include "crawler/fetch/guard.h"
#include "crawler/fetch/ip_limit.h"
#include "crawler/fetch/rate_limit.h"
#include "crawler/in_hand.h"
#include "frontier/engine.h"
#include "frontier/scope.h"
#include "frontier/url/queue_key.h"

struct archive; /* crawler/archive/archive.h */

enum robots_policy { ROBOTS_OBEY, ROBOTS_REPORT, ROBOTS_OFF };

/* Shared by all fetchers of a crawl; outlives them; read-only but for what
 * says otherwise. Strings are borrowed. */
struct fetcher_options {
    /* identity */
    const char *user_agent;     /* the whole header value */
    const char *product_token;  /* of it, for robots.txt: "urlweir" */
    const char *const *headers; /* extra "Name: value" lines */
    size_t header_count;
    const char *cookie;         /* NULL: cookies are off */
    const char *proxy;          /* NULL: none, whatever the environment */
    bool insecure;              /* no TLS verification */
    const char *const *resolve; /* HOST:PORT:ADDR, as curl takes them */
    size_t resolve_count;
    /* limits */
    int64_t timeout_ms, connect_timeout_ms; /* whole answer; connecting */
    uint64_t max_body;                      /* decoded octets */
    uint32_t max_redirects;
    uint32_t conns_per_host; /* transfers at once of one queue; 0: 1 */
    int64_t retry_delay_ms;
    /* policy */
    enum robots_policy robots;
    bool follow_nofollow;    /* links marked nofollow are followed */
    bool find_sitemaps;      /* those that a robots.txt names are asked for */
    uint32_t kinds;          /* LINK_BIT set that is followed */
    const char *const *mime; /* accepted types, "text/html", "image/x" or
                                "text/" for all of a family; none: all */
    size_t mime_count;
    uint64_t links_most;            /* different links taken of a page; 0: all
                                     */
    const char *const *drop_params; /* see url_params.h */
    size_t drop_param_count;
    bool record_links;       /* send every link in scope, also repeats */
    bool warc;               /* reports carry records; all bodies are kept */
    struct archive *archive; /* where they go; NULL: files are unknown yet */
    size_t robots_memory;    /* for rules, this fetcher's; 0: 16 MiB */
    /* what is shared */
    const struct guard *guard;
    struct scope *scope;       /* thread-safe */
    struct body_pool *bodies;  /* thread-safe */
    struct ip_limit *ip_limit; /* thread-safe; NULL: no limit */
    struct rate_limit *rate;   /* thread-safe; NULL: no limit */
    const struct digest_key *digest_key;
    struct bytes crawl; /* crawl ID */
};

struct warc_capture; /* crawler/archive/warc_capture.h */

enum report_kind {
    REPORT_DONE,    /* `done` is filled in */
    REPORT_RELEASE, /* not fetched: id, not_before and done.host count, and
                       what robots.txt lists in done.found */
    REPORT_PART,    /* some of what a sitemap lists: done.found and .drops; the
                       URL's last word is still to come */
    REPORT_GONE     /* the fetcher's thread has ended; no id */
};

/* What a fetcher tells the frontier thread, which frees it. Everything it
 * points to lives in its arena. */
struct report {
    enum report_kind kind;
    uint64_t id;
    int64_t not_before; /* monotonic; 0: as the queue allows */
    struct engine_done done;
    size_t elsewhere; /* the last so many of done.found stand on other hosts
                         than the sitemap that lists them (sitemap_trust.h) */
    struct arena *arena;
    struct warc_capture *warc;        /* records of the answer, or NULL */
    struct warc_capture *robots_warc; /* of a robots.txt fetched first */
};
void report_free(struct report *r);

struct fetcher_counters {        /* written by the fetcher, read by anybody */
    _Atomic uint64_t active;     /* transfers under way */
    _Atomic uint64_t requests;   /* sent, robots.txt and retries included */
    _Atomic uint64_t wire_bytes; /* received so far, unfinished ones included */
    _Atomic uint64_t connections; /* opened */
};

struct fetcher;
struct fetch_tally;

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
/* Finish what is under way, but start nothing: URLs not yet asked are
 * released. Returns at once; REPORT_GONE follows when all is done. */
void fetcher_drain(struct fetcher *f);
/* Give up what is under way (it is released) and end. Returns at once. */
void fetcher_stop(struct fetcher *f);
/* Joins the thread; fetcher_drain or _stop was called. NULL is fine. */
void fetcher_free(struct fetcher *f);

const struct fetcher_counters *fetcher_counters(const struct fetcher *f);
/* What its requests came to (fetch_tally.h). Any thread. */
const struct fetch_tally *fetcher_tally(const struct fetcher *f);

/* Before the first fetcher, and, where others use libcurl or libxml2, before
 * their threads: libcurl, libxml2, ICU. Any number of times. */
MUST_CHECK enum status fetcher_global_init(void);

#endif
