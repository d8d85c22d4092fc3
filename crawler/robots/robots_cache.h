/*
 * robots_cache.h - rules per origin, with expiry and failure policy.
 *
 * Reads no clock and opens no socket: callers ask whether a URL may be fetched;
 * if the answer is "fetch robots.txt first", they report the result of that
 * fetch. RFC 9309 sections 2.3.1 and 2.4 as we follow them:
 *
 *     the fetch gave             rules                     until
 *     2xx                        the file's                it is stale
 *     3xx (no target, too many   allow all                 it is stale
 *       hops), 4xx but 429
 *     304                        unchanged         it is stale
 *     429, 5xx, no answer,       a stale copy; without     the next try, with
 *       anything else            one "not now"; after 30   back-off
 *                                days of that, allow all
 *     2xx, but cut or            the same; after `tries`   the same; then as
 *       mislabelled              in a row what came, if    2xx
 *                                it has a group for us
 *
 * A file becomes stale after its max-age or Expires, at most 24 hours; without
 * either, after 24 hours. "Always revalidate" (max-age=0, no-cache, no-store)
 * would double our requests; it counts as one minute. However short the time, a
 * fetch answers the next two questions, so that a URL that must wait out its
 * host's delay after the fetch gets its turn. Of a copy the first retry comes
 * after `retry_delay_ms`, each later one after twice the time, at most an hour.
 * Without one no URL of the host can be fetched: it waits in the frontier,
 * whose pauses begin with `retry_delay_ms` and grow, and here after half of
 * that; but if rules are only noted, nobody waits, and without a copy all is as
 * with one. A longer Retry-After takes precedence.
 *
 * An origin is a scheme, host and port; a redirected file applies to the origin
 * that was asked for it. Memory is bounded: past the ceiling the least recently
 * used origins are forgotten and will be fetched again.
 *
 * One thread owns a cache: each fetcher has its own. Times are wall-clock
 * milliseconds, since they outlive the process; a clock set back makes a copy
 * stale, never long-lived.
 */
#ifndef URLWEIR_CRAWLER_ROBOTS_ROBOTS_CACHE_H
#define URLWEIR_CRAWLER_ROBOTS_ROBOTS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "crawler/robots/robots.h"
#include "storage/rows/page_store.h"

struct robots_cache;

struct robots_cache_options {
    const char *agent;      /* its product token counts; borrowed */
    size_t memory;          /* most bytes held, except entries in use */
    int64_t retry_delay_ms; /* >= 1 */
    uint32_t tries;         /* for a file that comes whole */
    bool noted_only; /* the caller asks for what it likes, whatever we answer */
};

struct robots_cache *robots_cache_new(const struct robots_cache_options *o);
void robots_cache_free(struct robots_cache *c); /* NULL is fine */

enum robots_verdict {
    ROBOTS_ALLOWED,
    ROBOTS_DENIED,
    ROBOTS_FETCH, /* fetch ORIGIN/robots.txt now, then call robots_cache_told()
                     or robots_cache_gave_up() */
    ROBOTS_FETCHING, /* a fetch is in progress: ask again afterwards */
    ROBOTS_WAIT      /* unreachable, all disallowed: ask again at until_ms */
};

struct robots_answer {
    enum robots_verdict verdict;
    struct bytes line;  /* ALLOWED, DENIED: the deciding line, or empty; lives
                           until the cache is next changed */
    double crawl_delay; /* ALLOWED, DENIED: seconds; < 0: none given */
    bool stale;         /* ALLOWED, DENIED: the copy could not be renewed */
    int64_t until_ms;   /* WAIT */
    uint32_t failures;  /* consecutive failed fetches of robots.txt ... */
    uint8_t
        why; /* ... and robots_fetch.why of the last; 0 if there are rules */
};

/* May `path_query` of `origin` ("https://host:port", as url_origin() of a
 * canonical URL gives it) be fetched? */
struct robots_answer robots_cache_ask(struct robots_cache *c,
                                      struct bytes origin,
                                      struct bytes path_query, int64_t now_ms);

/* How much of a file to read: an octet past ROBOTS_READ_MOST tells the parser
 * that the last line may be cut. */
#define ROBOTS_FETCH_MOST (ROBOTS_READ_MOST + 1)
#define ROBOTS_HOPS_MOST  5 /* redirects followed, to any host */

/* What a 2xx response brought of a file. */
enum robots_came {
    ROBOTS_CAME_NOT,   /* nothing that could be read */
    ROBOTS_CAME_CUT,   /* the transfer ended early */
    ROBOTS_MISLABELLED /* the body is not in the coding that its head names */
};

/* The result of a fetch of robots.txt, after redirects. */
struct robots_fetch {
    int http_status;       /* of the last response; 0: none (DNS, connect, TLS,
                              timeout, reset, an address we may not ask) */
    uint8_t why;           /* the caller's word for why there was no response */
    enum robots_came came; /* if http_status is 0 */
    struct bytes body;     /* content-decoded; ROBOTS_FETCH_MOST or less */
    /* Header values of that response; empty if missing. */
    struct bytes cache_control, expires, date, retry_after;
};

/* The fetch that ROBOTS_FETCH asked for has ended. True: *keep is the row to
 * store for robots_cache_restore(); it borrows from `origin` and `f`. False:
 * the stored row is still right. */
bool robots_cache_told(struct robots_cache *c, struct bytes origin,
                       const struct robots_fetch *f, int64_t now_ms,
                       struct robots_row *keep);
/* The fetch was not carried out, which says nothing about the origin. */
void robots_cache_gave_up(struct robots_cache *c, struct bytes origin);

/* Loads a row that an earlier run stored, or another process fetched. An origin
 * of which as much is known, or whose robots.txt is being fetched, is
 * unchanged. */
void robots_cache_restore(struct robots_cache *c, const struct robots_row *row);

/* The rules held for `origin`, fresh or stale, for their sitemaps; NULL: none.
 * They live until the cache is next changed. */
const struct robots *robots_cache_rules(const struct robots_cache *c,
                                        struct bytes origin);

#endif
