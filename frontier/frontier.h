/*
 * frontier.h - the frontier of a crawl, as the rest of the program knows it.
 *
 * URLs in and out, politeness, commits and checkpoints, requests of other
 * programs and people, and what it knows about its URLs. Its files are in
 * frontier/crawl; frontier_open.h there makes one. Crawl ID, queue key and URL
 * are plain bytes here.
 *
 * A frontier belongs to one thread, the frontier thread; others reach it
 * through bounded queues. `now` is monotonic nanoseconds, `wall_ms` the wall
 * clock; the frontier reads the clock only to measure commits (stats.h), so a
 * test can replay a whole crawl from a seed without sockets or sleeping.
 *
 * Nothing is durable before the commit that frontier_turn makes; after it,
 * everything acknowledged before is.
 */
#ifndef URLWEIR_FRONTIER_FRONTIER_H
#define URLWEIR_FRONTIER_FRONTIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/status.h"
#include "frontier/budget.h"
#include "frontier/frontier_calls.h"
#include "frontier/outcome.h"
#include "frontier/seen/seen.h"
#include "storage/frontier_store.h"
#include "storage/rows/page_store.h"
#include "storage/rows/side_tables.h"

struct frontier;
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
struct url_item {
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

enum put_answer {
    PUT_NEW = 0, /* admitted */
    PUT_SEEN,    /* was there already */
    PUT_REFUSED  /* a limit of the frontier leaves no room */
};

/* What is known of the last whole response of a URL (page_store_last). */
struct url_last {
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
struct url_lease {
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
    struct url_last last;
    /* Its request goes to the host of this queue, for its robots.txt, as
     * host_news.robots_host asked. Empty: its own host. */
    struct bytes robots_host;
};

struct external_url {
    struct url_lease lease; /* its bytes live until it ends */
    uint64_t number;
};

/* What a response said about its host. */
struct host_news {
    int64_t ended; /* `now` when the last response ended, or the connection was
                      given up; 0: no request was sent */
    bool robots_read;       /* by this report: crawl_delay_ms is known */
    int64_t crawl_delay_ms; /* from robots.txt; -1: none */
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
struct url_drop {
    enum outcome_reason reason;
    struct bytes host, url;
    bool whole;
    bool is_guess; /* nobody named it: it is kept, and not counted as a drop */
    uint8_t kind;
    uint16_t hops;
    uint32_t depth;
    uint32_t place; /* of a link past the limit: its number on the page */
    const struct link_label *label; /* as in url_item */
};

#define REASON_BIT(reason) (UINT64_C(1) << REASON_##reason)

/* Reasons of drops that a setting can lift, see frontier_rejudge. */
#define REASONS_MAY_RETURN                                                     \
    (REASON_BIT(SCOPE) | REASON_BIT(DEPTH) | REASON_BIT(EXCLUDE) |             \
     REASON_BIT(INCLUDE) | REASON_BIT(URL_LENGTH) | REASON_BIT(LINK_COUNT) |   \
     REASON_BIT(MIME) | REASON_BIT(TRUNCATED_LENGTH) | REASON_BIT(URL_FORM) |  \
     REASON_BIT(TRAP) | REASON_BIT(BLOCKLIST) | REASON_BIT(KIND) |             \
     REASON_BIT(SAME_CONTENT) | REASON_BIT(NEAR_DUP) | REASON_BIT(ADDRESS) |   \
     REASON_BIT(PORT) | REASON_BIT(ROBOTS) | REASON_BIT(ROBOTS_UNREACHABLE) |  \
     REASON_BIT(NOINDEX) | REASON_BIT(REDIRECT_LIMIT) |                        \
     REASON_BIT(TRUNCATED_TIME) | REASON_BIT(TIMEOUT) | REASON_BIT(DNS) |      \
     REASON_BIT(CONNECT) | REASON_BIT(TLS))

/* Reasons of drops that --record links keeps beside the links that are in: the
 * URL itself or its place on the page is why. */
#define REASONS_RECORDED                                                       \
    (UINT64_C(1) << REASON_SCOPE | UINT64_C(1) << REASON_DEPTH |               \
     UINT64_C(1) << REASON_EXCLUDE | UINT64_C(1) << REASON_INCLUDE |           \
     UINT64_C(1) << REASON_URL_LENGTH | UINT64_C(1) << REASON_NOFOLLOW |       \
     UINT64_C(1) << REASON_LINK_COUNT)

/* The outcome of a leased URL, with the links found on its page: one
 * transaction. */
struct url_done {
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
    struct fetch_row row; /* the frontier sets seq, url, final, tries */
    int64_t fresh_ms;     /* how long its server says that it stays fresh
                             (RFC 9111 section 4.2.1); 0 or -1: it does not */
    const struct url_item *outlinks;
    size_t outlink_count; /* outlinks[0] is a redirect's target */
    /* Of the body, for the rules about traps (trap_text.h); all zero, NULL: no
     * rule would ask for it. */
    struct digest own_body;
    const struct trap_text *text;
    const struct url_drop *drops;
    size_t drop_count;
    uint32_t kinds_left; /* kinds of links, 1 << kind, that the page has or may
                            have, and that were not looked for */
    bool
        robots_unread; /* nobody asked for robots.txt, which may name sitemaps */
    uint64_t repeats;  /* links to what is among outlinks or drops already */
    uint64_t over;     /* links over a limit of the page, besides the drop that
                      names it */
    struct host_news host;
};

struct frontier_counts {
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
static inline uint64_t frontier_counts_fetches(const struct frontier_counts *s)
{
    return s->pages + s->refreshed;
}

/* ---- URLs in and out ---- */

/* answers may be NULL. */
MUST_CHECK enum status frontier_put(struct frontier *f, uint64_t via,
                                    const struct url_item *items, size_t n,
                                    int64_t wall_ms, enum put_answer *answers);
/* Up to `most` leases of queues that are due. */
MUST_CHECK enum status frontier_lease(struct frontier *f, size_t most,
                                      int64_t now, int64_t wall_ms,
                                      struct url_lease *out, size_t *n);
/* Acknowledges several at once, so that their links pass the seen check
 * together. Each `outcome` is changed to what is recorded: a redirect may
 * turn out to be a loop.
 */
MUST_CHECK enum status frontier_ack(struct frontier *f, struct url_done *done,
                                    size_t n, int64_t now, int64_t wall_ms);
/* The URL was not fetched: puts it back to the head of its queue, due no
 * sooner than `not_before` (0: as its queue allows). */
MUST_CHECK enum status frontier_release(struct frontier *f, uint64_t id,
                                        int64_t not_before,
                                        const struct host_news *host,
                                        int64_t now, int64_t wall_ms);
/* The URL of an open lease, valid until it ends; empty: there is none. */
struct bytes frontier_leased_url(struct frontier *f, uint64_t id);
/* The URL `id`, which is not leased, may be why a process ended. BLAME_DIED
 * counts a try of it, to be committed with the next turn. The URL is
 * failed, REASON_STUCK, if that was its last try, and by the others. One
 * death alone is no proof, so a URL always has a second try. One log line
 * names it. Does nothing for an id that does not exist or is done. */
MUST_CHECK enum status frontier_blame(struct frontier *f, uint64_t id,
                                      enum blame why, int64_t now,
                                      int64_t wall_ms);

/* ---- time, commits, checkpoints ---- */

/* Commit when it is time (`force`: now). After STATUS_OK, *durable, if not
 * NULL, is the number of acks that this made durable. */
MUST_CHECK enum status frontier_turn(struct frontier *f, bool force,
                                     int64_t now, int64_t wall_ms,
                                     uint64_t *durable);
/* The next time, `now` at the earliest, at which `lease` may find more, or
 * INT64_MAX; *why, if not NULL, names the queue that is due first. */
int64_t frontier_next_due(struct frontier *f, int64_t now, struct bytes *why);
/* Commits, and begins to write filter and manifest, which make a restart
 * quick. STATUS_AGAIN: the last checkpoint is still being written. */
MUST_CHECK enum status frontier_checkpoint(struct frontier *f, int64_t now,
                                           int64_t wall_ms);
/* As above, but waits until it is written. `state` of the crawl: "running",
 * "stopped" or "finished"; `clean`: no lease is open. */
MUST_CHECK enum status frontier_checkpoint_now(struct frontier *f,
                                               const char *state, bool clean,
                                               int64_t now, int64_t wall_ms);
void frontier_close(struct frontier *f); /* commits nothing */

/* ---- queues and their hosts ---- */

/* Blocks a queue until `until` (0: unblocks it). */
MUST_CHECK enum status frontier_block(struct frontier *f, struct bytes key,
                                      int64_t until, int64_t now,
                                      int64_t wall_ms);
/* Sets the delay of a queue in ms instead of the default; a longer one from
 * its robots.txt still applies. -1: the default. Both return
 * STATUS_NOT_FOUND if there is no such queue. */
MUST_CHECK enum status frontier_delay(struct frontier *f, struct bytes key,
                                      int64_t delay_ms, int64_t now);
/* Leases no URL of `queue` while `most` of its URLs are done or leased; the
 * rest waits until the limit is raised. `done`: how many are done by now,
 * not counting removed ones. most 0: no limit. Survives restarts. */
MUST_CHECK enum status frontier_limit_queue(struct frontier *f, uint32_t queue,
                                            uint32_t most, uint64_t done,
                                            int64_t now);
/* Lists hosts that have URLs left, or some state; looks at the first
 * 200,000 hosts of the crawl at most (*all: there are no more). Stores up
 * to `most` in `out`, in that order, and returns their number. */
size_t frontier_hosts(struct frontier *f, enum host_order by, size_t most,
                      int64_t now, struct host_report *out, bool *all);
/* QUEUE_KEY_IP: returns the queue of a host that is due but whose address
 * is not known, and its name, which lives as long as `f`. None of its URLs
 * is leased until `place` is called. 0: there is none. */
uint32_t frontier_next_unplaced(struct frontier *f, struct bytes *host);
/* Sets the address of a host. NULL: it has none, and is a group of its
 * own. */
MUST_CHECK enum status frontier_place(struct frontier *f, uint32_t queue,
                                      const struct ip *address, int64_t now);

/* ---- settings that may change while it is open ---- */

/* `scope` differs, or has come to differ, from the one that admitted queued
 * URLs: they are checked again when they are leased. */
void frontier_recheck(struct frontier *f, struct scope *scope);
/* The settings behind these reasons (1 << enum outcome_reason) have
 * changed: kept drops with such a reason are judged again, some in each
 * turn, and after a restart the rest. Call it once for a crawl that is
 * opened, with 0 if nothing changed, when the scope has its places: nothing
 * is judged before. */
MUST_CHECK enum status frontier_rejudge(struct frontier *f, uint64_t reasons,
                                        int64_t now);
/* Sets new delays, also for hosts that wait now. */
void frontier_set_schedule(struct frontier *f, const struct schedule_options *o,
                           int64_t now);
/* Limits the pages of the crawl (0: no limit), and sets its budgets. URLs
 * beyond a budget stay queued (frontier_counts.withheld); what is spent is
 * counted only while there is any. */
void frontier_set_limits(struct frontier *f, uint64_t limit_pages,
                         const struct budgets *budgets);

/* When done URLs are fetched again. A date given by other rules is given
 * anew, some in each turn, and after a restart the rest. */
void frontier_set_refresh(struct frontier *f, const struct refresh_rules *r);

/* Sets another order; `order` outlives it. Queued URLs get their classes
 * by it, some in each turn, and after a restart the rest. */
MUST_CHECK enum status frontier_set_order(struct frontier *f,
                                          const struct order *order);

/* How many pages make a trap, by rule (traps/trap_table.h). URLs that were
 * kept out by the old numbers come back by `rejudge`. */
void frontier_set_traps(struct frontier *f, const uint32_t threshold[]);

/* ---- other programs (frontier_calls.h) ---- */

/* Leases up to a->most URLs of queues that are due. */
MUST_CHECK enum status external_grant(struct frontier *f,
                                      const struct external_request *a,
                                      int64_t now, int64_t wall_ms,
                                      struct external_url *out, size_t *n);
/* The URL that is leased under `number`; 0: no such lease, or it has
 * ended. */
uint64_t external_find(struct frontier *f, uint64_t number, int64_t now);
/* Makes the lease end `length` ns from now. STATUS_NOT_FOUND: no such
 * lease. */
MUST_CHECK enum status external_extend(struct frontier *f, uint64_t number,
                                       int64_t length, int64_t now,
                                       int64_t wall_ms);
/* `id` may be leased or in its queue. Tries are not counted. */
MUST_CHECK enum status external_settle(struct frontier *f, uint64_t id,
                                       const struct external_report *word,
                                       int64_t now, int64_t wall_ms,
                                       enum external_result *said);
/* Links that another program found: canonical and in scope, and drops that
 * are counted and kept as examples. ids[i]: the new row of items[i]; 0: it
 * was known before, or is on the blocklist. */
MUST_CHECK enum status external_discover(struct frontier *f,
                                         const struct url_item *items, size_t n,
                                         const struct url_drop *drops,
                                         size_t drop_count, int64_t now,
                                         int64_t wall_ms, uint64_t *ids);
void external_get_facts(struct frontier *f, uint64_t id, int64_t now,
                        struct external_facts *out);
void external_get_queue(struct frontier *f, uint32_t queue, int64_t now,
                        struct external_queue *out);

/* ---- removal (frontier_calls.h) ---- */

/* Begins to remove URLs of queue `key`, or of all queues if it is empty,
 * found before `before_ms`, wall clock (INT64_MAX: all). An unknown queue
 * has no URLs. */
MUST_CHECK enum status removal_begin(struct frontier *f, struct bytes key,
                                     int64_t before_ms, struct removal *out);
/* Goes on with about `most` URLs and queues; *over: the removal has
 * ended. */
MUST_CHECK enum status removal_step(struct frontier *f, struct removal *r,
                                    size_t most, int64_t now, int64_t wall_ms,
                                    bool *over);
/* How many URLs of the queue were ever removed; they do not count for
 * limits. */
MUST_CHECK enum status removal_count(struct frontier *f, uint32_t queue,
                                     uint64_t *n);

/* ---- retry of failed URLs (frontier_calls.h) ---- */

/* Looks at `most` tries, or some more; *over: that was all. */
MUST_CHECK enum status frontier_retry_failed(struct frontier *f,
                                             struct failed_retry *r,
                                             size_t most, int64_t now,
                                             int64_t wall_ms, bool *over);

/* ---- the state of another crawler (frontier_calls.h) ---- */

/* Admits items[0..n), which say of themselves how they were found, and
 * settles those that are done by facts[i]. No URL of them may be leased. */
MUST_CHECK enum status frontier_import(struct frontier *f,
                                       const struct url_item *items,
                                       const struct import_fact *facts,
                                       size_t n, int64_t now, int64_t wall_ms,
                                       enum import_answer *answers);

/* ---- done URLs that are fetched again (frontier_calls.h) ---- */

/* Looks at about `most` URLs; *over: that was all. */
MUST_CHECK enum status frontier_refresh_urls(struct frontier *f,
                                             struct refresh_request *r,
                                             size_t most, int64_t now,
                                             int64_t wall_ms, bool *over);

/* ---- queries ---- */

/* The secret that digests of this crawl are made with; lives as long as
 * `f`. */
const struct digest_key *frontier_get_digest_key(struct frontier *f);
/* The id of a canonical URL; 0: it was never admitted. */
MUST_CHECK enum status frontier_identify(struct frontier *f, struct bytes key,
                                         struct bytes url, uint64_t *id);
/* The row of a URL; row->url points into `text`. STATUS_NOT_FOUND. */
MUST_CHECK enum status frontier_url(struct frontier *f, uint64_t id,
                                    struct url_row *row, struct buf *text);
/* Rows with first <= id <= last, in order of id, up to stats.urls. */
MUST_CHECK enum status frontier_each_url(struct frontier *f, uint64_t first,
                                         uint64_t last, url_row_visit visit,
                                         void *ctx);
/* Rows of depth 0: seeds, and what they were redirected to. Then seeds that were
 * dropped, as with --sitemap only; their rows have just URL and kind, and no
 * id. */
MUST_CHECK enum status frontier_each_seed(struct frontier *f,
                                          url_row_visit visit, void *ctx);
/* The number of a queue, from 1 to stats.queues; 0: no such queue. */
uint32_t frontier_find_queue(struct frontier *f, struct bytes key);
/* Lives as long as `f`. */
struct bytes frontier_queue_key(struct frontier *f, uint32_t queue);
/* The stored robots.txt of an origin; its texts point into `text`.
 * STATUS_NOT_FOUND. */
MUST_CHECK enum status frontier_robots(struct frontier *f, struct bytes origin,
                                       struct robots_row *row,
                                       struct buf *text);
/* The first page that had this body (page_store.h). */
MUST_CHECK enum status frontier_first_body(struct frontier *f,
                                           struct digest body,
                                           struct first_body *out);
/* Text or blob by name, kept with the crawl. STATUS_NOT_FOUND. */
MUST_CHECK enum status frontier_meta(struct frontier *f, const char *name,
                                     struct buf *out);
MUST_CHECK enum status frontier_set_meta(struct frontier *f, const char *name,
                                         struct bytes value);
void frontier_get_counts(struct frontier *f, struct frontier_counts *out);
/* Apart from the stats, because it takes longer. */
struct frontier_memory frontier_get_memory(struct frontier *f);
/* More stats, for monitoring (stats.h). */
void frontier_get_stats(struct frontier *f, int64_t now,
                        struct frontier_stats *out);

/* ---- a shard of a crawl on many machines ---- */

/* What stands around the frontier of a shard, and is asked at some of the calls
 * above. */
struct frontier_around {
    void *ctx;
    /* First in frontier_turn. STATUS_AGAIN: this turn does nothing. */
    enum status (*before_turn)(void *ctx, int64_t now, int64_t wall_ms);
    /* How many of `most` URLs may be leased. */
    size_t (*may_lease)(void *ctx, size_t most);
    /* When the frontier may lease again that would do so at `due`. */
    int64_t (*due)(void *ctx, int64_t due, int64_t now);
    /* The limits have been set. */
    void (*limits_set)(void *ctx);
    /* Changes what frontier_get_counts says. */
    void (*counts)(void *ctx, struct frontier_counts *out);
};
/* NULL: nothing stands around it any more. Borrowed. */
void frontier_set_around(struct frontier *f, const struct frontier_around *a);
/* The same as without it. */
int64_t frontier_own_due(struct frontier *f, int64_t now, struct bytes *why);
void frontier_get_own_counts(struct frontier *f, struct frontier_counts *out);

#endif
