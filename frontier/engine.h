/*
 * engine.h - the frontier of a crawl, as the rest of the program knows it.
 *
 * One table of typed functions, which each engine fills: URLs in and out,
 * politeness, commits and checkpoints, what other programs and people ask for,
 * and what the engine knows of its URLs. Whoever opens an engine chooses it;
 * nobody else knows which one it is. The embedded engine (embedded/frontier.h,
 * SQLite) is the first. Crawl ID, queue key and URL are plain bytes here.
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
#include "frontier/engine_calls.h"
#include "frontier/outcome.h"
#include "storage/frontier_store.h"
#include "storage/rows/hint_store.h"
#include "storage/rows/page_store.h"

struct engine;
struct frontier_stats;
struct ip;
struct schedule_options;
struct scope;

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
    bool first;     /* of its queue in this run */
    uint32_t tries; /* tries used before this one */
    struct bytes key, url;
    /* Its request goes to the host of this queue, for its robots.txt, as
     * engine_host_news.robots_host asked; empty: to its own host. */
    struct bytes robots_host;
};

struct external_url {
    struct engine_lease lease; /* its bytes live until it ends */
    uint64_t number;
};

/* What an answer said about its host. */
struct engine_host_news {
    int64_t ended; /* `now` when the last request's answer ended, or
                      its connection was given up; 0: none was sent */
    int64_t
        crawl_delay_ms; /* from robots.txt; -1: says nothing, -2: not read */
    int64_t retry_after_ms; /* -1: none */
    bool slow_down;         /* 429 */
    bool unreachable;       /* DNS, connect or TLS failed, or robots.txt did: it
                               waits, see frontier_reach.c */
    bool silent;            /* of an unreachable host: nothing came that could
                               be judged, so the URL has used up no try */
    const struct robots_row *robots; /* a fresh robots.txt to keep, or NULL */
    /* Of a URL that is given back: the queue of another host, to which its next
     * request goes (a robots.txt that was redirected there). It is handed out
     * again when both hosts may be asked, and until then nothing of its own
     * queue is. Of a lease with `robots_host` the above is said of that host,
     * but for what robots.txt says. Empty: none. */
    struct bytes robots_host;
};

/* A drop before admission, for the counts and examples; and to be judged again
 * when a setting changes, if it is `whole`: url is all of it, and it was found
 * so. */
struct engine_drop {
    enum outcome_reason reason;
    struct bytes host, url;
    bool whole;
    uint8_t kind;
    uint16_t hops;
    uint32_t depth;
    uint32_t place; /* of a link that was one too many: on its page, from 1 */
};

/* Reasons of drops that a setting can lift, see engine_ops.rejudge. */
#define ENGINE_MAY_RETURN                                                      \
    (UINT64_C(1) << REASON_SCOPE | UINT64_C(1) << REASON_DEPTH |               \
     UINT64_C(1) << REASON_EXCLUDE | UINT64_C(1) << REASON_INCLUDE |           \
     UINT64_C(1) << REASON_URL_LENGTH | UINT64_C(1) << REASON_LINK_COUNT |     \
     UINT64_C(1) << REASON_BUDGET | UINT64_C(1) << REASON_MIME |               \
     UINT64_C(1) << REASON_TRUNCATED_LENGTH)

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
    uint64_t given_up; /* queued, of hosts that did not respond for too long */
    uint64_t blocked;  /* queued, of hosts that a person has blocked */
    uint64_t queues;   /* known */
    uint64_t queues_active; /* with URLs not done */
    uint64_t pages;         /* outcomes that count for --limit */
    uint64_t fetched, redirects, failed, denied, skipped;
    uint64_t links;      /* found on pages, redirects included */
    uint64_t duplicates; /* of them seen before, in the page or in the crawl */
    uint64_t dropped;    /* links dropped before admission */
    uint64_t drops_kept; /* of these and of URLs passed over: may come back */
    uint64_t drops_lost; /* not kept for want of room (--keep-dropped) */
    bool rejudging;      /* kept drops are still to be judged again */
    uint64_t bytes;      /* wire octets received */
    uint64_t seeds, seeds_failed;
    uint64_t memory; /* bytes held by the engine */
    uint64_t commits;
};

struct engine_ops {
    /* ---- URLs in and out ---- */

    /* answers may be NULL. */
    enum status (*put)(struct engine *e, struct bytes crawl, uint64_t via,
                       const struct engine_item *items, size_t n,
                       int64_t wall_ms, enum engine_answer *answers);
    /* Up to `most` leases of queues that are due. */
    enum status (*lease)(struct engine *e, size_t most, int64_t now,
                         int64_t wall_ms, struct engine_lease *out, size_t *n);
    /* Several at once, so that their links pass the seen check together. Each
     * `outcome` becomes what is recorded: a redirect may turn out to be a loop.
     */
    enum status (*ack)(struct engine *e, struct engine_done *done, size_t n,
                       int64_t now, int64_t wall_ms);
    /* Not fetched: back to the head of its queue, due no sooner than
     * `not_before` (0: as its queue allows). */
    enum status (*release)(struct engine *e, uint64_t id, int64_t not_before,
                           const struct engine_host_news *host, int64_t now,
                           int64_t wall_ms);
    /* The URL of a lease that is out, valid until it ends; empty: there is
     * none. */
    struct bytes (*leased_url)(struct engine *e, uint64_t id);
    /* An earlier process ended while it read a response for the URL `id`, which
     * may be why: counts a try of it, to be committed with the next turn. The
     * URL is failed, REASON_STUCK, if that was its last try, or if it is known
     * that the process could not get on (`stuck`); but its first death alone is
     * no proof, so it always has a second try. One log line names it. Does
     * nothing to an id that does not exist or is done. Before the first lease.
     */
    enum status (*blame)(struct engine *e, uint64_t id, bool stuck, int64_t now,
                         int64_t wall_ms);

    /* ---- time, commits, checkpoints ---- */

    /* Commit when it is time (`force`: now). After STATUS_OK, *durable, when
     * not NULL, is how many acks have become durable by it. */
    enum status (*turn)(struct engine *e, bool force, int64_t now,
                        int64_t wall_ms, uint64_t *durable);
    /* The moment, `now` at the earliest, at which `lease` may have something
     * it has not now, or INT64_MAX; *why, when not NULL, names the queue that
     * comes first. */
    int64_t (*next_due)(struct engine *e, int64_t now, struct bytes *why);
    /* Commits, and makes a restart quick (filter, manifest) meanwhile.
     * STATUS_AGAIN: the last one is still under way. */
    enum status (*checkpoint)(struct engine *e, int64_t now, int64_t wall_ms);
    /* As above, but done when it returns; `state` of the crawl: "running",
     * "stopped" or "finished"; `clean`: nothing is under way. */
    enum status (*checkpoint_now)(struct engine *e, const char *state,
                                  bool clean, int64_t now, int64_t wall_ms);
    void (*close)(struct engine *e); /* commits nothing */

    /* ---- queues and their hosts ---- */

    /* Hold a queue back until `until` (0: no longer). */
    enum status (*block)(struct engine *e, struct bytes crawl, struct bytes key,
                         int64_t until, int64_t now, int64_t wall_ms);
    /* Delay of a queue in ms, in place of the one for all; a longer one that
     * its robots.txt asks for is obeyed all the same. -1: as for all. These
     * two: STATUS_NOT_FOUND, no such queue. */
    enum status (*delay)(struct engine *e, struct bytes crawl, struct bytes key,
                         int64_t delay_ms, int64_t now);
    /* No URL of the queue goes out while `most` of it are done or out; the rest
     * waits until more is allowed. `done`: how many are done by now, but for
     * those that were removed. most 0: there is no such limit. Kept over
     * restarts. `queue` is one of its queues. */
    enum status (*limit_queue)(struct engine *e, uint32_t queue, uint32_t most,
                               uint64_t done, int64_t now);
    /* Hosts that have URLs left, or something to remember; at most the first
     * 200,000 of the crawl are looked at (*all: there are no more). Up to
     * `most` into `out`, in that order; how many. */
    size_t (*hosts)(struct engine *e, enum engine_host_order by, size_t most,
                    int64_t now, struct engine_host_row *out, bool *all);
    /* QUEUE_KEY_IP: a host that is due and whose address nobody knows; its
     * queue, and its name, which lives as long as `e`. It is handed out by no
     * lease until `place` is told where it stands. 0: there is none. */
    uint32_t (*next_unplaced)(struct engine *e, struct bytes *host);
    /* `address` NULL: it has none, and stands alone under its name. */
    enum status (*place)(struct engine *e, uint32_t queue,
                         const struct ip *address, int64_t now);

    /* ---- settings that may change while it is open ---- */

    /* `scope` is, or has become, another than what queued URLs were admitted
     * by: they are asked about again when they are leased. */
    void (*recheck)(struct engine *e, struct scope *scope);
    /* The settings behind these reasons (1 << enum outcome_reason) have
     * changed: the kept drops of such a reason are judged again, some of them
     * each turn, also if this process ends in between. Call it once for a crawl
     * that is opened, with 0 where nothing changed, when the scope has its
     * places: nothing is judged before. */
    enum status (*rejudge)(struct engine *e, uint64_t reasons, int64_t now);
    /* Hosts that wait now wait by the new delays. */
    void (*set_schedule)(struct engine *e, const struct schedule_options *o,
                         int64_t now);
    /* Pages of the crawl, and of a host; 0: no limit. Pages of a host are
     * counted while there is a limit to them. */
    void (*set_limits)(struct engine *e, uint64_t limit_pages,
                       uint64_t per_host);

    /* ---- other programs (engine_calls.h) ---- */

    /* Up to a->most URLs of queues that are due. */
    enum status (*external_grant)(struct engine *e,
                                  const struct external_request *a, int64_t now,
                                  int64_t wall_ms, struct external_url *out,
                                  size_t *n);
    /* The URL that is leased under `number`; 0: no such lease, or it has
     * ended. */
    uint64_t (*external_find)(struct engine *e, uint64_t number, int64_t now);
    /* The lease ends `length` ns from now. STATUS_NOT_FOUND: no such lease. */
    enum status (*external_extend)(struct engine *e, uint64_t number,
                                   int64_t length, int64_t now,
                                   int64_t wall_ms);
    /* `id` may be leased or stand in its queue. Tries are not counted. */
    enum status (*external_settle)(struct engine *e, uint64_t id,
                                   const struct external_report *word,
                                   int64_t now, int64_t wall_ms,
                                   enum external_result *said);
    /* Links that another program found: canonical and in scope, and drops that
     * are counted and kept as examples. ids[i]: the row made for items[i]; 0:
     * it was known before, or is on the blocklist. */
    enum status (*external_discover)(struct engine *e,
                                     const struct engine_item *items, size_t n,
                                     const struct engine_drop *drops,
                                     size_t drop_count, int64_t now,
                                     int64_t wall_ms, uint64_t *ids);
    void (*external_get_facts)(struct engine *e, uint64_t id, int64_t now,
                               struct external_facts *out);
    void (*external_get_queue)(struct engine *e, uint32_t queue, int64_t now,
                               struct external_queue *out);

    /* ---- removal (engine_calls.h) ---- */

    /* Of queue `key`, of all if it is empty: URLs found before `before_ms`,
     * wall clock (INT64_MAX: all that are there now). A queue that nobody knows
     * is one without URLs. */
    enum status (*removal_begin)(struct engine *e, struct bytes key,
                                 int64_t before_ms, struct removal *out);
    /* Looks at `most` URLs and queues, or some more; *over: that was all. */
    enum status (*removal_step)(struct engine *e, struct removal *r,
                                size_t most, int64_t now, int64_t wall_ms,
                                bool *over);
    /* How many of the queue were, ever; they count as done for no limit. */
    enum status (*removal_count)(struct engine *e, uint32_t queue, uint64_t *n);

    /* ---- what it knows ---- */

    /* The secret that digests of this crawl are made with; lives as long as
     * `e`. */
    const struct digest_key *(*digest_key)(struct engine *e);
    /* The id of a canonical URL; 0: it was never admitted. */
    enum status (*identify)(struct engine *e, struct bytes key,
                            struct bytes url, uint64_t *id);
    /* The row of a URL; row->url points into `text`. STATUS_NOT_FOUND. */
    enum status (*url)(struct engine *e, uint64_t id, struct url_row *row,
                       struct buf *text);
    /* Rows with first <= id <= last, in order of id, up to stats.urls. */
    enum status (*each_url)(struct engine *e, uint64_t first, uint64_t last,
                            url_row_visit visit, void *ctx);
    /* Rows of depth 0: seeds, and what they were redirected to. */
    enum status (*each_seed)(struct engine *e, url_row_visit visit, void *ctx);
    /* Queues have the numbers 1 to stats.queues; 0: no such queue. */
    uint32_t (*find_queue)(struct engine *e, struct bytes crawl,
                           struct bytes key);
    /* Lives as long as `e`. */
    struct bytes (*queue_key)(struct engine *e, uint32_t queue);
    /* The robots.txt kept of an origin; its texts point into `text`.
     * STATUS_NOT_FOUND. */
    enum status (*robots)(struct engine *e, struct bytes origin,
                          struct robots_row *row, struct buf *text);
    /* The first page that had this body (page_store.h). */
    enum status (*first_body)(struct engine *e, struct digest body,
                              struct first_body *out);
    /* Text or blob by name, kept with the crawl. STATUS_NOT_FOUND. */
    enum status (*meta)(struct engine *e, const char *name, struct buf *out);
    enum status (*set_meta)(struct engine *e, const char *name,
                            struct bytes value);
    void (*stats)(struct engine *e, struct engine_stats *out);
    /* What a monitor is told beyond that (stats.h). */
    void (*get_stats)(struct engine *e, int64_t now,
                      struct frontier_stats *out);
};

/* First member of every implementation's struct. */
struct engine {
    const struct engine_ops *ops;
    const char *name;
};

#endif
