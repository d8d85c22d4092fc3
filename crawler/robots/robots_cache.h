/*
 * robots_cache.h - rules per origin, with expiry and failure policy.
 *
 * Asks no clock and opens no socket: it is asked whether a URL may be fetched,
 * answers "fetch robots.txt first" where it must, and is told what came of
 * that. RFC 9309 sections 2.3.1 and 2.4 as we keep them:
 *
 *     the fetch gave             rules                     until
 *     2xx                        the file's                it is stale
 *     3xx (no target, too many   allow all                 it is stale
 *       hops), 4xx but 429
 *     304                        those held before         it is stale
 *     429, 5xx, no answer,       a stale copy; without     the next try, with
 *       anything else            one "not now"; after 30   back-off
 *                                days of that, allow all
 *
 * Stale is what its max-age or Expires says, at most 24 hours and, where it
 * says nothing, 24 hours. "Always ask again" (max-age=0, no-cache, no-store)
 * would double our requests; it counts as one minute. However short that is, a
 * fetch answers the next two questions, so that a URL that must wait out its
 * host's delay behind the fetch has its turn. The first retry comes
 * after `retry_delay_ms`, each later one after twice the time, at most an hour;
 * a Retry-After that is longer counts instead.
 *
 * One origin is one scheme, host and port; a redirected file holds for the
 * origin it was asked for. Memory is bounded: past the ceiling the origins not
 * asked for longest are forgotten and will be fetched again.
 *
 * One thread owns a cache: each fetcher has its own. Moments are wall-clock
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
    size_t memory;          /* bytes held at most, save for what is in use */
    int64_t retry_delay_ms; /* >= 1 */
};

struct robots_cache *robots_cache_new(const struct robots_cache_options *o);
void robots_cache_free(struct robots_cache *c); /* NULL is fine */

enum robots_verdict {
    ROBOTS_ALLOWED,
    ROBOTS_DENIED,
    ROBOTS_FETCH,    /* fetch ORIGIN/robots.txt now, then robots_cache_told()
                        or robots_cache_gave_up() */
    ROBOTS_FETCHING, /* that is under way: ask again afterwards */
    ROBOTS_WAIT      /* unreachable, all disallowed: ask again at until_ms */
};

struct robots_answer {
    enum robots_verdict verdict;
    struct bytes line;  /* ALLOWED, DENIED: the deciding line, or empty; lives
                           until the cache is next changed */
    double crawl_delay; /* ALLOWED, DENIED: seconds; < 0: none given */
    bool stale;       /* ALLOWED, DENIED: by a copy that could not be renewed */
    int64_t until_ms; /* WAIT */
    uint32_t failures; /* fetches of robots.txt that failed in a row */
};

/* May `path_query` of `origin` ("https://host:port", as url_origin() of a
 * canonical URL gives it) be fetched? */
struct robots_answer robots_cache_ask(struct robots_cache *c,
                                      struct bytes origin,
                                      struct bytes path_query, int64_t now_ms);

/* A file is read up to here: an octet past ROBOTS_READ_MOST tells the parser
 * that the last line may not be whole. */
#define ROBOTS_FETCH_MOST (ROBOTS_READ_MOST + 1)
#define ROBOTS_HOPS_MOST  5 /* redirects followed, to any host */

/* What a fetch of robots.txt gave, redirects followed. */
struct robots_fetch {
    int http_status;   /* of the last answer; 0: none (DNS, connect, TLS, time-
                          out, reset, an address we may not ask) */
    struct bytes body; /* content-decoded; ROBOTS_FETCH_MOST or less */
    /* Header values of that answer, empty where it has none. */
    struct bytes cache_control, expires, date, retry_after;
};

/* The fetch that ROBOTS_FETCH asked for has ended. True: *keep is the row to
 * store for robots_cache_restore(); it borrows from `origin` and `f`. False:
 * what is stored stays right. */
bool robots_cache_told(struct robots_cache *c, struct bytes origin,
                       const struct robots_fetch *f, int64_t now_ms,
                       struct robots_row *keep);
/* That fetch was not carried out, which says nothing of the origin. */
void robots_cache_gave_up(struct robots_cache *c, struct bytes origin);

/* What an earlier run kept. An origin already known stays as it is. */
void robots_cache_restore(struct robots_cache *c, const struct robots_row *row);

/* The rules held for `origin`, fresh or stale, for their sitemaps; NULL: none.
 * They live until the cache is next changed. */
const struct robots *robots_cache_rules(const struct robots_cache *c,
                                        struct bytes origin);
size_t robots_cache_count(const struct robots_cache *c);  /* origins */
size_t robots_cache_memory(const struct robots_cache *c); /* bytes held */

#endif
