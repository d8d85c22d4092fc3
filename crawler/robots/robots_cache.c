/* SPDX-License-Identifier: MIT */
/*
 * robots_cache.c - rules per origin, with expiry and failure policy.
 *
 * An entry is in one of four states, given by its fields:
 *
 *     fetching            a fetch was asked for; other fields do not count
 *     reachable           unreachable_since == 0; rules hold until expires_at
 *     unreachable, copy   rules hold, whatever their age; fetch at retry_at
 *     unreachable, none   rules == NULL; nothing may be asked; fetch at
 * retry_at
 *
 * After thirty days in the last state the entry gets rules that allow all,
 * which puts it in the third state: retries go on, so we notice when the origin
 * is back.
 *
 * The body of a file is not kept in memory: the row to store is made when the
 * file has just been fetched. While an origin with a copy is unreachable, its
 * stored row stays an expired copy, which is what a restart needs.
 */
#include "crawler/robots/robots_cache.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "crawler/robots/robots.h"

#define MINUTE_MS     INT64_C(60000)
#define HOUR_MS       (60 * MINUTE_MS)
#define GIVE_UP_MS    (30 * HTTP_TIME_DAY_MS)
#define MAP_SLOT_COST 64 /* an entry's share of the map, about */

/* A URL waits for robots.txt and then for its turn after it, and the host's
 * delay may be longer than the copy is fresh. If robots.txt were then fetched
 * again, and again, the URL would never get its turn. So each fetch answers two
 * questions even if its copy is stale: one when the fetch has ended, and one
 * when the URL is due. */
enum { OWED = 2 };

struct entry {
    struct entry *newer, *older; /* in order of last use */
    char *origin;
    size_t origin_len;
    struct robots *rules; /* NULL: none */
    bool is_copy;         /* rules come from the origin, not from a default */
    bool fetching;
    unsigned owed; /* answers that the last fetch still gives, even if stale */
    int64_t fetched_at, expires_at;
    int64_t unreachable_since; /* 0: it is reachable */
    int64_t retry_at, backoff;
    uint32_t failures;
    uint8_t why;
    size_t cost;
};

struct robots_cache {
    struct robots_cache_options options;
    struct map *entries;
    struct entry *newest, *oldest;
    size_t used;
};

/* ---- entries and memory ---------------------------------------------------*/

static void list_remove(struct robots_cache *c, struct entry *e)
{
    if (e->newer != NULL)
        e->newer->older = e->older;
    else
        c->newest = e->older;
    if (e->older != NULL)
        e->older->newer = e->newer;
    else
        c->oldest = e->newer;
}

static void list_add_newest(struct robots_cache *c, struct entry *e)
{
    e->newer = NULL;
    e->older = c->newest;
    if (c->newest != NULL)
        c->newest->newer = e;
    else
        c->oldest = e;
    c->newest = e;
}

static void entry_free(void *value)
{
    struct entry *e = value;

    robots_free(e->rules);
    free(e->origin);
    free(e);
}

static struct entry *find(const struct robots_cache *c, struct bytes origin)
{
    return map_get(c->entries, origin);
}

static void account(struct robots_cache *c, struct entry *e)
{
    size_t cost = sizeof *e + 2 * e->origin_len + MAP_SLOT_COST +
                  (e->rules != NULL ? robots_size(e->rules) : 0);

    c->used += cost - e->cost;
    e->cost = cost;
}

/* Forgets the oldest entries until the rest fits, except `keep` and those being
 * fetched. */
static void make_room(struct robots_cache *c, const struct entry *keep)
{
    struct entry *e = c->oldest;

    while (e != NULL && c->used > c->options.memory) {
        struct entry *next = e->newer;

        if (e != keep && !e->fetching) {
            list_remove(c, e);
            map_remove(c->entries, bytes_of(e->origin, e->origin_len));
            c->used -= e->cost;
            entry_free(e);
        }
        e = next;
    }
}

static struct entry *add(struct robots_cache *c, struct bytes origin)
{
    struct entry *e = xcalloc(1, sizeof *e);

    e->origin = xstrndup(origin.at, origin.len);
    e->origin_len = origin.len;
    map_put(c->entries, origin, e);
    list_add_newest(c, e);
    return e;
}

static void set_rules(struct entry *e, struct robots *rules, bool is_copy)
{
    robots_free(e->rules);
    e->rules = rules;
    e->is_copy = is_copy;
}

struct robots_cache *robots_cache_new(const struct robots_cache_options *o)
{
    struct robots_cache *c = xcalloc(1, sizeof *c);

    c->options = *o;
    c->entries = map_new();
    return c;
}

void robots_cache_free(struct robots_cache *c)
{
    if (c == NULL)
        return;
    map_free(c->entries, entry_free);
    free(c);
}

/* ---- asking ---------------------------------------------------------------*/

/* Is `moment` still ahead? When set it was at most `most` ahead; if it is
 * farther now, the clock was set back, and the answer is no. */
static bool lies_ahead(int64_t moment, int64_t now_ms, int64_t most)
{
    return moment > now_ms && moment - now_ms <= most;
}

/* Does a missing copy leave nobody waiting? */
static bool may_lack_rules(const struct robots_cache *c, const struct entry *e)
{
    return c->options.noted_only && e->unreachable_since != 0;
}

static enum robots_verdict state_of(const struct robots_cache *c,
                                    const struct entry *e, int64_t now_ms)
{
    if (e->fetching)
        return ROBOTS_FETCHING;
    if ((e->rules != NULL || may_lack_rules(c, e)) && e->owed > 0 &&
        lies_ahead(e->fetched_at + HTTP_TIME_DAY_MS, now_ms, HTTP_TIME_DAY_MS))
        return e->rules != NULL ? ROBOTS_ALLOWED : ROBOTS_WAIT;
    if (e->unreachable_since == 0)
        return e->rules != NULL &&
                       lies_ahead(e->expires_at, now_ms, HTTP_TIME_DAY_MS)
                   ? ROBOTS_ALLOWED
                   : ROBOTS_FETCH;
    if (!lies_ahead(e->retry_at, now_ms, HTTP_TIME_DAY_MS))
        return ROBOTS_FETCH;
    return e->rules != NULL ? ROBOTS_ALLOWED : ROBOTS_WAIT;
}

struct robots_answer robots_cache_ask(struct robots_cache *c,
                                      struct bytes origin,
                                      struct bytes path_query, int64_t now_ms)
{
    struct robots_answer a = {.crawl_delay = -1};
    struct entry *e = find(c, origin);

    if (e == NULL) {
        e = add(c, origin);
        account(c, e);
        make_room(c, e);
    } else if (e != c->newest) {
        list_remove(c, e);
        list_add_newest(c, e);
    }
    a.verdict = state_of(c, e, now_ms);
    a.failures = e->failures;
    a.why = e->failures > 0 && e->rules == NULL ? e->why : 0;
    a.until_ms = e->retry_at;
    if (a.verdict == ROBOTS_FETCH)
        e->fetching = true;
    if (a.verdict == ROBOTS_ALLOWED || a.verdict == ROBOTS_WAIT)
        e->owed -= e->owed > 0;
    if (a.verdict == ROBOTS_ALLOWED) {
        a.stale = e->unreachable_since != 0;
        a.crawl_delay = robots_crawl_delay(e->rules);
        if (!robots_allows(e->rules, path_query, &a.line))
            a.verdict = ROBOTS_DENIED;
    }
    return a;
}

const struct robots *robots_cache_rules(const struct robots_cache *c,
                                        struct bytes origin)
{
    const struct entry *e = find(c, origin);

    return e != NULL ? e->rules : NULL;
}

/* ---- results of fetches -------------------------------------------------- */

static bool is_unavailable(int http_status)
{
    return http_status >= 300 && http_status <= 499 && http_status != 304 &&
           http_status != 429;
}

static int64_t fresh_for(const struct robots_fetch *f, int64_t now_ms)
{
    int64_t ms =
        http_fresh_for_ms(f->cache_control, f->expires, f->date, now_ms);

    if (ms < 0 || ms > HTTP_TIME_DAY_MS)
        return HTTP_TIME_DAY_MS;
    return ms > 0 ? ms : MINUTE_MS;
}

static void answered(struct entry *e, const struct robots_fetch *f,
                     int64_t now_ms)
{
    e->expires_at = now_ms + fresh_for(f, now_ms);
    e->unreachable_since = e->retry_at = e->backoff = 0;
    e->failures = 0;
}

static void failed(const struct robots_cache *c, struct entry *e,
                   const struct robots_fetch *f, int64_t now_ms)
{
    int64_t asked = http_retry_after_ms(f->retry_after, now_ms);

    e->failures++;
    e->why = f->why;
    if (e->unreachable_since == 0 || e->unreachable_since > now_ms)
        e->unreachable_since = now_ms;
    if (e->rules == NULL && !c->options.noted_only)
        e->backoff = (c->options.retry_delay_ms + 1) / 2;
    else
        e->backoff =
            e->backoff > 0 ? e->backoff * 2 : c->options.retry_delay_ms;
    if (e->backoff > HOUR_MS)
        e->backoff = HOUR_MS;
    e->retry_at = now_ms + (asked > e->backoff ? asked : e->backoff);
    if (e->rules == NULL && now_ms - e->unreachable_since >= GIVE_UP_MS)
        set_rules(e, robots_allow_all(), false);
}

/* The whole lines of a file that was cut, perhaps in the middle of one. */
static struct bytes whole_lines(struct bytes body)
{
    while (body.len > 0 && !robots_is_line_end(body.at[body.len - 1]))
        body.len--;
    return body;
}

/* Takes the rules of a file that does not come whole, whatever we do: at the
 * last try, and if it is certain that they have a group for us. */
static bool take_what_came(const struct robots_cache *c, struct entry *e,
                           const struct robots_fetch *f, struct bytes body)
{
    struct robots *r;
    bool take;

    if (f->came == ROBOTS_CAME_NOT || e->rules != NULL ||
        e->failures + 1 < c->options.tries)
        return false;
    r = robots_parse(body, bytes_of_str(c->options.agent));
    take = robots_has_group(r, f->came == ROBOTS_CAME_CUT);
    if (take)
        set_rules(e, r, true);
    else
        robots_free(r);
    return take;
}

bool robots_cache_told(struct robots_cache *c, struct bytes origin,
                       const struct robots_fetch *f, int64_t now_ms,
                       struct robots_row *keep)
{
    struct entry *e = find(c, origin);
    int status = f->http_status;
    struct bytes body = bytes_of(NULL, 0), came = robots_readable(f->body);

    if (e == NULL)
        e = add(c, origin);
    e->fetching = false;
    e->fetched_at = now_ms;
    e->owed = OWED;
    if (f->came == ROBOTS_CAME_CUT)
        came = whole_lines(came);
    if (status >= 200 && status <= 299) {
        body = came;
        set_rules(e, robots_parse(body, bytes_of_str(c->options.agent)), true);
        answered(e, f, now_ms);
    } else if (is_unavailable(status)) {
        set_rules(e, robots_allow_all(), true);
        answered(e, f, now_ms);
    } else if (status == 304 && e->is_copy) {
        answered(e, f, now_ms);
    } else if (take_what_came(c, e, f, came)) {
        body = came;
        status = 200;
        answered(e, f, now_ms);
    } else {
        failed(c, e, f, now_ms);
    }
    account(c, e);
    make_room(c, e);
    if (status == 304 || (e->unreachable_since != 0 && e->is_copy))
        return false;
    *keep = (struct robots_row){.origin = origin,
                                .fetched_at_ms = now_ms,
                                .expires_at_ms = e->unreachable_since != 0
                                                     ? e->retry_at
                                                     : e->expires_at,
                                .unreachable_since_ms = e->unreachable_since,
                                .http_status = status > 0 && status <= 999
                                                   ? (uint16_t)status
                                                   : 0,
                                .body = body};
    return true;
}

void robots_cache_gave_up(struct robots_cache *c, struct bytes origin)
{
    struct entry *e = find(c, origin);

    if (e != NULL)
        e->fetching = false;
}

void robots_cache_restore(struct robots_cache *c, const struct robots_row *row)
{
    struct bytes agent = bytes_of_str(c->options.agent);
    struct entry *e = find(c, row->origin);

    if (e != NULL && (e->fetching || row->fetched_at_ms <= e->fetched_at))
        return;
    if (e == NULL)
        e = add(c, row->origin);
    e->fetched_at = row->fetched_at_ms;
    e->owed = 0;
    if (row->unreachable_since_ms != 0) {
        e->unreachable_since = row->unreachable_since_ms;
        e->retry_at = row->expires_at_ms;
        e->backoff = row->expires_at_ms - row->fetched_at_ms;
        if (e->backoff < 0 || e->backoff > HTTP_TIME_DAY_MS)
            e->backoff = 0;
        e->failures = 1;
    } else {
        e->unreachable_since = e->retry_at = e->backoff = 0;
        e->failures = 0;
        e->expires_at = row->expires_at_ms;
        set_rules(e,
                  is_unavailable(row->http_status)
                      ? robots_allow_all()
                      : robots_parse(row->body, agent),
                  true);
    }
    account(c, e);
    make_room(c, e);
}
