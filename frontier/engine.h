/*
 * engine.h - the frontier of a crawl, as the rest of the program knows it.
 *
 * One table of typed functions, which the engine fills (embedded/frontier.h,
 * SQLite): URLs in and out, politeness, commits and checkpoints, requests of
 * other programs and people, and what it knows about its URLs. A shard of a
 * crawl on many machines replaces some of them; all other code does not know
 * that. Crawl ID, queue key and URL are plain bytes here.
 *
 * An engine belongs to one thread, the frontier thread; others reach it through
 * bounded queues. `now` is monotonic nanoseconds, `wall_ms` the wall clock; the
 * engine reads the clock only to measure commits (stats.h), so a test can
 * replay a whole crawl from a seed without sockets or sleeping.
 *
 * Nothing is durable before the commit that engine_turn makes; after it,
 * everything acknowledged before is.
 */
#ifndef URLWEIR_FRONTIER_ENGINE_H
#define URLWEIR_FRONTIER_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/status.h"
#include "frontier/budget.h"
#include "frontier/engine_calls.h"
#include "frontier/outcome.h"
#include "frontier/seen/seen_memory.h"
#include "storage/frontier_store.h"
#include "storage/rows/hint_store.h"
#include "storage/rows/page_store.h"
#include "storage/rows/revisit_store.h"

struct engine;
struct frontier_stats;
struct ip;
struct trap_text;
struct order;
struct refresh_request;
struct refresh_rules;
struct schedule_options;
struct scope;

/* What a page says about a link; at most LINK_TEXT_MOST octets each. */
struct link_label {
    struct bytes rel, text;
};

/* A URL on its way in. Bytes are borrowed during the call. */
struct engine_item {
    struct bytes key;     /* queue key */
    struct bytes url;     /* canonical, if our own crawler puts it */
    struct digest digest; /* of (crawl, key, url), see digest.h */
    uint32_t depth;
    uint16_t hops; /* redirects since the last real link; see url_row */
    uint8_t kind;  /* enum link_kind: how it was found */
    bool seed;
    const struct url_hint *hint;    /* from a sitemap, or NULL */
    const struct link_label *label; /* NULL: nothing to record */
};

enum engine_answer {
    ENGINE_NEW = 0, /* admitted */
    ENGINE_SEEN,    /* was there already */
    ENGINE_REFUSED  /* a limit of the engine leaves no room */
};

/* What is known of the last whole response of a URL (page_store_last). */
struct engine_last {
    uint64_t seq;              /* its fetch row; 0: there was none */
    uint64_t past_url;         /* id in the earlier crawl that the row is of
                                  (past_crawl.h); 0: it is of this one */
    int64_t at_ms;             /* wall clock of its request */
    struct digest body_digest; /* all zero: none */
    struct digest text_digest; /* the same */
    bool no_numbers;           /* and they do not count in it */
    /* Its validators, as received; empty: not sent, or not to be used. */
    struct bytes etag, last_modified;
    struct record_name record; /* of its body; url empty: none */
};

/* A leased URL. The lease lasts until ack or release, or a crash. The bytes
 * live as long. */
struct engine_lease {
    uint64_t id;
    uint64_t via; /* id of the page it was found on, 0: none */
    uint32_t queue;
    uint32_t depth;
    uint16_t hops;
    uint8_t kind;
    bool seed;
    bool first;     /* the first of its queue in this run */
    bool alone;     /* nothing else waits in its queue, as known now */
    uint32_t tries; /* tries used before this one */
    int64_t pause;  /* from its response to the next request to its host, ns, as
                      known now */
    struct bytes key, url;
    struct engine_last last;
    /* Its request goes to the host of this queue, for its robots.txt, as
     * engine_host_news.robots_host asked. Empty: its own host. */
    struct bytes robots_host;
};

struct external_url {
    struct engine_lease lease; /* its bytes live until it ends */
    uint64_t number;
};

/* What a response said about its host. */
struct engine_host_news {
    int64_t ended; /* `now` when the last response ended, or the connection was
                      given up; 0: no request was sent */
    int64_t crawl_delay_ms; /* from robots.txt; -1: none, -2: not read */
    int64_t retry_after_ms; /* -1: none */
    bool slow_down;         /* asked for without a time that we can read */
    uint16_t http_status;   /* of that answer; 0: there was none */
    uint32_t connections;   /* that were opened for the request */
    bool handshake;         /* the last of them with TLS */
    bool unreachable;       /* DNS, connect or TLS failed, or robots.txt did: it
                               waits, see frontier_schedule.c */
    bool silent;            /* of an unreachable host: nothing came that could
                               be judged, so the URL has used up no try */
    const struct robots_row *robots; /* a fresh robots.txt to store, or NULL */
    /* For a released URL: the queue of another host, to which its next request
     * goes (a robots.txt that was redirected there). The URL is leased again
     * when both hosts may be asked; until then no other URL of its own queue
     * is. For a lease with `robots_host` the fields above are about that host,
     * except those from robots.txt. Empty: none. */
    struct bytes robots_host;
};

/* A drop before admission, for the counts and examples. If it is `whole` (url
 * is the complete URL as found), it may be judged again when a setting
 * changes. */
struct engine_drop {
    enum outcome_reason reason;
    struct bytes host, url;
    bool whole;
    bool is_guess; /* nobody named it: it is kept, and not counted as a drop */
    uint8_t kind;
    uint16_t hops;
    uint32_t depth;
    uint32_t place; /* of a link past the limit: its number on the page */
    const struct link_label *label; /* as in engine_item */
};

#define ENGINE_REASON(reason) (UINT64_C(1) << REASON_##reason)

/* Reasons of drops that a setting can lift, see engine_ops.rejudge. */
#define ENGINE_MAY_RETURN                                                      \
    (ENGINE_REASON(SCOPE) | ENGINE_REASON(DEPTH) | ENGINE_REASON(EXCLUDE) |    \
     ENGINE_REASON(INCLUDE) | ENGINE_REASON(URL_LENGTH) |                      \
     ENGINE_REASON(LINK_COUNT) | ENGINE_REASON(MIME) |                         \
     ENGINE_REASON(TRUNCATED_LENGTH) | ENGINE_REASON(URL_FORM) |               \
     ENGINE_REASON(TRAP) | ENGINE_REASON(BLOCKLIST) | ENGINE_REASON(KIND) |    \
     ENGINE_REASON(SAME_CONTENT) | ENGINE_REASON(NEAR_DUP) |                   \
     ENGINE_REASON(ADDRESS) | ENGINE_REASON(PORT) | ENGINE_REASON(ROBOTS) |    \
     ENGINE_REASON(ROBOTS_UNREACHABLE) | ENGINE_REASON(NOINDEX) |              \
     ENGINE_REASON(REDIRECT_LIMIT) | ENGINE_REASON(TRUNCATED_TIME) |           \
     ENGINE_REASON(TIMEOUT) | ENGINE_REASON(DNS) | ENGINE_REASON(CONNECT) |    \
     ENGINE_REASON(TLS))

/* Reasons of drops that --record links keeps beside the links that are in: the
 * URL itself or its place on the page is why. */
#define ENGINE_RECORDED_DROPS                                                  \
    (UINT64_C(1) << REASON_SCOPE | UINT64_C(1) << REASON_DEPTH |               \
     UINT64_C(1) << REASON_EXCLUDE | UINT64_C(1) << REASON_INCLUDE |           \
     UINT64_C(1) << REASON_URL_LENGTH | UINT64_C(1) << REASON_NOFOLLOW |       \
     UINT64_C(1) << REASON_LINK_COUNT)

/* The outcome of a leased URL, with the links found on its page: one
 * transaction. */
struct engine_done {
    uint64_t id;
    bool partial; /* a part of a list too long for memory: only `outlinks` and
                     `drops` count, more may follow, and the URL stays leased */
    struct outcome outcome;
    bool transient; /* may be retried, if tries are left ... */
    bool unsure;    /* ... but at least once, by other means */
    bool anew; /* a redirect: if it leads back to its own chain, asking there is
                  another request, since other cookies go with it now */
    bool nofollow; /* the page forbids following its links; of a 304, those that
                      it had before */
    struct fetch_row row; /* the engine sets seq, url, final, tries */
    int64_t fresh_ms;     /* how long its server says that it stays fresh
                             (RFC 9111 section 4.2.1); 0 or -1: it does not */
    const struct engine_item *outlinks;
    size_t outlink_count; /* outlinks[0] is a redirect's target */
    /* Of the body, for the rules about traps (trap_text.h); all zero, NULL: no
     * rule would ask for it. */
    struct digest own_body;
    const struct trap_text *text;
    const struct engine_drop *drops;
    size_t drop_count;
    uint32_t kinds_left; /* kinds of links, 1 << kind, that the page has or may
                            have, and that were not looked for */
    bool
        robots_unread; /* nobody asked for robots.txt, which may name sitemaps */
    uint64_t repeats;  /* links to what is among outlinks or drops already */
    uint64_t over;     /* links over a limit of the page, besides the drop that
                      names it */
    struct engine_host_news host;
};

struct engine_stats {
    uint64_t urls;   /* admitted, ever */
    uint64_t queued; /* not done, leased ones included */
    uint64_t leased;
    uint64_t removed;  /* from their queues by a person */
    uint64_t withheld; /* queued, until a limit or budget of their queue is
                          lifted */
    uint64_t given_up; /* queued, of hosts that did not respond for too long */
    uint64_t blocked;  /* queued, of hosts that a person has blocked */
    uint64_t queues;   /* known */
    uint64_t queues_active; /* with URLs not done */
    uint64_t pages;         /* outcomes that count for --limit */
    uint64_t sitemaps;      /* that would, if they were pages */
    uint64_t http_errors;   /* of the failed: 4xx and 5xx */
    uint64_t fetched, redirects, failed, denied, skipped;
    uint64_t checked;    /* of the fetched: only asked for */
    uint64_t given;      /* new URLs, or blocked ones, that no link led to */
    uint64_t returned;   /* the same of links that were dropped before */
    uint64_t links;      /* that responses revealed, redirects included */
    uint64_t duplicates; /* of those, seen before on the page or in the crawl */
    uint64_t dropped;    /* links dropped before admission */
    uint64_t drops_kept; /* of these and of skipped URLs: may come back */
    uint64_t drops_lost; /* not kept for want of room (--keep-dropped) */
    bool rejudging; /* kept drops are still judged again, dates given anew, or
                         old fetches removed */
    uint64_t bytes; /* wire octets received */
    uint64_t dated; /* done, and to be fetched again at a date */
    uint64_t due;   /* hosts with such URLs whose date has come */
    bool dates_given_up; /* all of `dated` are of hosts that are not asked again
                            in this run */
    bool due_given_up; /* a date has come, but its host did not respond for too
                            long */
    bool retrying;     /* some of `dated` have failed for now, and are tried
                            again soon; of hosts that are asked in this run */
    uint64_t overdue;  /* such URLs a minute or more after their date */
    uint64_t overdue_for; /* seconds since the date of the oldest of them, to
                             the minute */
    uint64_t rated;       /* of `dated`: how often they change is known */
    uint64_t fresh;       /* of these, up to date at a moment: an estimate */
    uint64_t refreshed;   /* final outcomes of URLs fetched again */
    uint64_t changed;     /* of those, not as the last time */
    uint64_t gone;        /* found missing so often that they have no date */
    uint64_t history_removed; /* rows of old fetches that did not stay */
    uint64_t seeds, seeds_failed;
    uint64_t commits;
};

/* Pages, and those fetched again once more each time. Unlike `pages` it never
 * falls, so what was done in a while is the difference. */
static inline uint64_t engine_stats_fetches(const struct engine_stats *s)
{
    return s->pages + s->refreshed;
}

struct engine_ops {
    /* ---- URLs in and out ---- */

    /* answers may be NULL. */
    enum status (*put)(struct engine *e, struct bytes crawl, uint64_t via,
                       const struct engine_item *items, size_t n,
                       int64_t wall_ms, enum engine_answer *answers);
    /* Up to `most` leases of queues that are due. */
    enum status (*lease)(struct engine *e, size_t most, int64_t now,
                         int64_t wall_ms, struct engine_lease *out, size_t *n);
    /* Acknowledges several at once, so that their links pass the seen check
     * together. Each `outcome` is changed to what is recorded: a redirect may
     * turn out to be a loop.
     */
    enum status (*ack)(struct engine *e, struct engine_done *done, size_t n,
                       int64_t now, int64_t wall_ms);
    /* The URL was not fetched: puts it back to the head of its queue, due no
     * sooner than `not_before` (0: as its queue allows). */
    enum status (*release)(struct engine *e, uint64_t id, int64_t not_before,
                           const struct engine_host_news *host, int64_t now,
                           int64_t wall_ms);
    /* The URL of an open lease, valid until it ends; empty: there is none. */
    struct bytes (*leased_url)(struct engine *e, uint64_t id);
    /* The URL `id`, which is not leased, may be why a process ended. BLAME_DIED
     * counts a try of it, to be committed with the next turn. The URL is
     * failed, REASON_STUCK, if that was its last try, and by the others. One
     * death alone is no proof, so a URL always has a second try. One log line
     * names it. Does nothing for an id that does not exist or is done. */
    enum status (*blame)(struct engine *e, uint64_t id, enum blame why,
                         int64_t now, int64_t wall_ms);

    /* ---- time, commits, checkpoints ---- */

    /* Commit when it is time (`force`: now). After STATUS_OK, *durable, if not
     * NULL, is the number of acks that this made durable. */
    enum status (*turn)(struct engine *e, bool force, int64_t now,
                        int64_t wall_ms, uint64_t *durable);
    /* The next time, `now` at the earliest, at which `lease` may find more, or
     * INT64_MAX; *why, if not NULL, names the queue that is due first. */
    int64_t (*next_due)(struct engine *e, int64_t now, struct bytes *why);
    /* Commits, and begins to write filter and manifest, which make a restart
     * quick. STATUS_AGAIN: the last checkpoint is still being written. */
    enum status (*checkpoint)(struct engine *e, int64_t now, int64_t wall_ms);
    /* As above, but waits until it is written. `state` of the crawl: "running",
     * "stopped" or "finished"; `clean`: no lease is open. */
    enum status (*checkpoint_now)(struct engine *e, const char *state,
                                  bool clean, int64_t now, int64_t wall_ms);
    void (*close)(struct engine *e); /* commits nothing */

    /* ---- queues and their hosts ---- */

    /* Blocks a queue until `until` (0: unblocks it). */
    enum status (*block)(struct engine *e, struct bytes crawl, struct bytes key,
                         int64_t until, int64_t now, int64_t wall_ms);
    /* Sets the delay of a queue in ms instead of the default; a longer one from
     * its robots.txt still applies. -1: the default. Both return
     * STATUS_NOT_FOUND if there is no such queue. */
    enum status (*delay)(struct engine *e, struct bytes crawl, struct bytes key,
                         int64_t delay_ms, int64_t now);
    /* Leases no URL of `queue` while `most` of its URLs are done or leased; the
     * rest waits until the limit is raised. `done`: how many are done by now,
     * not counting removed ones. most 0: no limit. Survives restarts. */
    enum status (*limit_queue)(struct engine *e, uint32_t queue, uint32_t most,
                               uint64_t done, int64_t now);
    /* Lists hosts that have URLs left, or some state; looks at the first
     * 200,000 hosts of the crawl at most (*all: there are no more). Stores up
     * to `most` in `out`, in that order, and returns their number. */
    size_t (*hosts)(struct engine *e, enum engine_host_order by, size_t most,
                    int64_t now, struct engine_host_row *out, bool *all);
    /* QUEUE_KEY_IP: returns the queue of a host that is due but whose address
     * is not known, and its name, which lives as long as `e`. None of its URLs
     * is leased until `place` is called. 0: there is none. */
    uint32_t (*next_unplaced)(struct engine *e, struct bytes *host);
    /* Sets the address of a host. NULL: it has none, and is a group of its
     * own. */
    enum status (*place)(struct engine *e, uint32_t queue,
                         const struct ip *address, int64_t now);

    /* ---- settings that may change while it is open ---- */

    /* `scope` differs, or has come to differ, from the one that admitted queued
     * URLs: they are checked again when they are leased. */
    void (*recheck)(struct engine *e, struct scope *scope);
    /* The settings behind these reasons (1 << enum outcome_reason) have
     * changed: kept drops with such a reason are judged again, some in each
     * turn, and after a restart the rest. Call it once for a crawl that is
     * opened, with 0 if nothing changed, when the scope has its places: nothing
     * is judged before. */
    enum status (*rejudge)(struct engine *e, uint64_t reasons, int64_t now);
    /* Sets new delays, also for hosts that wait now. */
    void (*set_schedule)(struct engine *e, const struct schedule_options *o,
                         int64_t now);
    /* Limits the pages of the crawl (0: no limit), and sets its budgets. URLs
     * beyond a budget stay queued (engine_stats.withheld); what is spent is
     * counted only while there is any. */
    void (*set_limits)(struct engine *e, uint64_t limit_pages,
                       const struct budgets *budgets);

    /* When done URLs are fetched again. A date given by other rules is given
     * anew, some in each turn, and after a restart the rest. */
    void (*set_refresh)(struct engine *e, const struct refresh_rules *r);

    /* Sets another order; `order` outlives it. Queued URLs get their classes
     * by it, some in each turn, and after a restart the rest. */
    enum status (*set_order)(struct engine *e, const struct order *order);

    /* How many pages make a trap, by rule (traps/trap_table.h). URLs that were
     * kept out by the old numbers come back by `rejudge`. */
    void (*set_traps)(struct engine *e, const uint32_t threshold[]);

    /* ---- other programs (engine_calls.h) ---- */

    /* Leases up to a->most URLs of queues that are due. */
    enum status (*external_grant)(struct engine *e,
                                  const struct external_request *a, int64_t now,
                                  int64_t wall_ms, struct external_url *out,
                                  size_t *n);
    /* The URL that is leased under `number`; 0: no such lease, or it has
     * ended. */
    uint64_t (*external_find)(struct engine *e, uint64_t number, int64_t now);
    /* Makes the lease end `length` ns from now. STATUS_NOT_FOUND: no such
     * lease. */
    enum status (*external_extend)(struct engine *e, uint64_t number,
                                   int64_t length, int64_t now,
                                   int64_t wall_ms);
    /* `id` may be leased or in its queue. Tries are not counted. */
    enum status (*external_settle)(struct engine *e, uint64_t id,
                                   const struct external_report *word,
                                   int64_t now, int64_t wall_ms,
                                   enum external_result *said);
    /* Links that another program found: canonical and in scope, and drops that
     * are counted and kept as examples. ids[i]: the new row of items[i]; 0: it
     * was known before, or is on the blocklist. */
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

    /* Begins to remove URLs of queue `key`, or of all queues if it is empty,
     * found before `before_ms`, wall clock (INT64_MAX: all). An unknown queue
     * has no URLs. */
    enum status (*removal_begin)(struct engine *e, struct bytes key,
                                 int64_t before_ms, struct removal *out);
    /* Goes on with about `most` URLs and queues; *over: the removal has
     * ended. */
    enum status (*removal_step)(struct engine *e, struct removal *r,
                                size_t most, int64_t now, int64_t wall_ms,
                                bool *over);
    /* How many URLs of the queue were ever removed; they do not count for
     * limits. */
    enum status (*removal_count)(struct engine *e, uint32_t queue, uint64_t *n);

    /* ---- retry of failed URLs (engine_calls.h) ---- */

    /* Looks at `most` tries, or some more; *over: that was all. */
    enum status (*retry_failed)(struct engine *e, struct failed_retry *r,
                                size_t most, int64_t now, int64_t wall_ms,
                                bool *over);

    /* ---- the state of another crawler (engine_calls.h) ---- */

    /* Admits items[0..n), which say of themselves how they were found, and
     * settles those that are done by facts[i]. No URL of them may be leased. */
    enum status (*import)(struct engine *e, const struct engine_item *items,
                          const struct import_fact *facts, size_t n,
                          int64_t now, int64_t wall_ms,
                          enum import_answer *answers);

    /* ---- done URLs that are fetched again (engine_calls.h) ---- */

    /* Looks at about `most` URLs; *over: that was all. */
    enum status (*refresh_urls)(struct engine *e, struct refresh_request *r,
                                size_t most, int64_t now, int64_t wall_ms,
                                bool *over);

    /* ---- queries ---- */

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
    /* Rows of depth 0: seeds, and what they were redirected to. Then seeds that
     * were dropped, as with --sitemap only; their rows have just URL and kind,
     * and no id. */
    enum status (*each_seed)(struct engine *e, url_row_visit visit, void *ctx);
    /* The number of a queue, from 1 to stats.queues; 0: no such queue. */
    uint32_t (*find_queue)(struct engine *e, struct bytes crawl,
                           struct bytes key);
    /* Lives as long as `e`. */
    struct bytes (*queue_key)(struct engine *e, uint32_t queue);
    /* The stored robots.txt of an origin; its texts point into `text`.
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
    /* Apart from the stats, because it takes longer. */
    struct engine_memory (*memory)(struct engine *e);
    /* More stats, for monitoring (stats.h). */
    void (*get_stats)(struct engine *e, int64_t now,
                      struct frontier_stats *out);
};

/* First member of every implementation's struct. */
struct engine {
    const struct engine_ops *ops;
    void *around; /* of who has replaced some of `ops`; NULL: nobody has */
};

#endif
