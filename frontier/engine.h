/*
 * engine.h - the interface crawler and service use: put, lease, ack, fail,
 * release, extend, block, delay, stats.
 *
 * All that the rest of the program knows of the frontier. The embedded engine
 * (frontier.h, SQLite) is the first implementation; one conformance suite runs
 * over all of them. Crawl ID, queue key and URL are plain bytes here.
 *
 * An engine belongs to one thread, the frontier thread; others reach it by
 * bounded queues. `now` is monotonic nanoseconds, `wall_ms` the wall clock;
 * the engine itself asks no clock but to tell how long a commit took (stats.h),
 * so a seed replays a whole crawl without sockets or sleeping.
 *
 * Nothing is durable before the commit that engine_turn makes; after it, all
 * that was acknowledged until then is.
 */
#ifndef URLWEIR_FRONTIER_ENGINE_H
#define URLWEIR_FRONTIER_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/status.h"
#include "frontier/outcome.h"
#include "storage/rows/hint_store.h"
#include "storage/rows/page_store.h"

struct engine;

/* A URL on its way in. Bytes are borrowed during the call. */
struct engine_item {
    struct bytes key;     /* queue key */
    struct bytes url;     /* canonical, when our own crawler puts it */
    struct digest digest; /* of (crawl, key, url), see digest.h */
    uint32_t depth;
    uint16_t hops; /* redirects since the last real link */
    uint8_t kind;  /* enum link_kind: how it was found */
    bool seed;
    const struct url_hint *hint; /* what a sitemap says of it, or NULL */
};

enum engine_answer {
    ENGINE_NEW = 0, /* admitted */
    ENGINE_SEEN,    /* was there already */
    ENGINE_REFUSED  /* no room for it, by a limit of the engine */
};

/* A URL handed out. It stays the holder's until ack, fail or release; a crash
 * gives it back. The bytes live until then. */
struct engine_lease {
    uint64_t id;
    uint64_t via; /* id of the page it was found on, 0: none */
    uint32_t queue;
    uint32_t depth;
    uint16_t hops;
    uint8_t kind;
    bool seed;
    uint32_t tries; /* tries used before this one */
    struct bytes key, url;
    /* Its request goes to the host of this queue, for its robots.txt, as
     * engine_host_news.robots_host asked; empty: to its own host. */
    struct bytes robots_host;
};

/* What an answer said about its host. */
struct engine_host_news {
    int64_t ended; /* `now` when the last request's answer ended, or
                      its connection was given up; 0: none was sent */
    int64_t
        crawl_delay_ms; /* from robots.txt; -1: says nothing, -2: not read */
    int64_t retry_after_ms; /* -1: none */
    bool slow_down;         /* 429 or 503 */
    bool unreachable;       /* DNS, connect or TLS failed, or robots.txt did:
                               after `tries` of these in a row the host is dead
                               for this run and its URLs end the same way */
    const struct robots_row *robots; /* a fresh robots.txt to keep, or NULL */
    /* Of a URL that is given back: the queue of another host, to which its next
     * request goes (a robots.txt that was redirected there). It is handed out
     * again when both hosts may be asked, and until then nothing of its own
     * queue is. Of a lease with `robots_host` the above is said of that host,
     * but for what robots.txt says. Empty: none. */
    struct bytes robots_host;
};

/* A drop before admission, for the counts and examples. */
struct engine_drop {
    enum outcome_reason reason;
    struct bytes host, url;
};

/* What became of a leased URL: one transaction with the links it revealed. */
struct engine_done {
    uint64_t id;
    bool partial;  /* only `found` and `drops` count, more may follow, and the
                      URL stays leased: of a list that is too long for memory */
    uint64_t sent; /* of a last word: links of such calls before it */
    struct outcome outcome;
    bool transient;       /* worth another try, if tries are left */
    struct fetch_row row; /* seq, url, final, tries are the engine's */
    const struct engine_item *outlinks;
    size_t outlink_count; /* a redirect's target is found[0] */
    const struct engine_drop *drops;
    size_t drop_count;
    struct engine_host_news host;
};

struct engine_stats {
    uint64_t urls;   /* admitted, ever */
    uint64_t queued; /* not done, leased ones included */
    uint64_t leased;
    uint64_t removed;  /* by a person, out of their queues */
    uint64_t withheld; /* queued, until the limit of their queue is lifted */
    uint64_t queues;   /* known */
    uint64_t queues_active; /* with URLs not done */
    uint64_t pages;         /* outcomes that count for --limit */
    uint64_t fetched, redirects, failed, denied, skipped;
    uint64_t links;      /* found on pages, redirects included */
    uint64_t duplicates; /* of them seen before, in the page or in the crawl */
    uint64_t dropped;    /* links dropped before admission */
    uint64_t bytes;      /* wire octets received */
    uint64_t seeds, seeds_failed;
    uint64_t memory; /* bytes held by the engine */
    uint64_t commits;
};

struct engine_ops {
    /* answers may be NULL. */
    enum status (*put)(struct engine *e, struct bytes crawl, uint64_t via,
                       const struct engine_item *items, size_t n,
                       int64_t wall_ms, enum engine_answer *answers);
    /* Up to `most` leases of queues that are due. */
    enum status (*lease)(struct engine *e, size_t most, int64_t now,
                         int64_t wall_ms, struct engine_lease *out, size_t *n);
    /* Several at once, so that their links pass the seen check together. */
    enum status (*ack)(struct engine *e, const struct engine_done *done,
                       size_t n, int64_t now, int64_t wall_ms);
    /* Not fetched: back to the head of its queue, due no sooner than
     * `not_before` (0: as its queue allows). */
    enum status (*release)(struct engine *e, uint64_t id, int64_t not_before,
                           const struct engine_host_news *host, int64_t now,
                           int64_t wall_ms);
    /* Hold a queue back until `until` (0: no longer). */
    enum status (*block)(struct engine *e, struct bytes crawl, struct bytes key,
                         int64_t until, int64_t now, int64_t wall_ms);
    /* Delay of a queue in ms, in place of the one for all; a longer one that
     * its robots.txt asks for is obeyed all the same. -1: as for all. These
     * two: STATUS_NOT_FOUND, no such queue. */
    enum status (*delay)(struct engine *e, struct bytes crawl, struct bytes key,
                         int64_t delay_ms, int64_t now);
    /* Commit when it is time (`force`: now). After STATUS_OK, *durable, when
     * not NULL, is how many acks have become durable by it. */
    enum status (*turn)(struct engine *e, bool force, int64_t now,
                        int64_t wall_ms, uint64_t *durable);
    /* The moment, `now` at the earliest, at which `lease` may have something
     * it has not now, or INT64_MAX; *why, when not NULL, names the queue that
     * comes first. */
    int64_t (*next_due)(struct engine *e, int64_t now, struct bytes *why);
    void (*stats)(struct engine *e, struct engine_stats *out);
    void (*close)(struct engine *e); /* commits nothing */
};

/* First member of every implementation's struct. */
struct engine {
    const struct engine_ops *ops;
    const char *name;
};

#endif
