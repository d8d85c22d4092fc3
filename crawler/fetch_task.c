/* SPDX-License-Identifier: MIT */
/*
 * fetch_task.c - one leased URL on its way through a fetcher.
 *
 *     begin ──► robots cache ──allowed───────────────► page ──► report
 *                  │  │  └─denied, not now──► report
 *                  │  └─being fetched──► held, or go on with its next hop
 *                  └─unknown──► robots.txt ──► release
 *
 * Each state that waits for a transfer is a function, to which on_ended points.
 */
#include "crawler/fetch_task.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/html/links.h"
#include "crawler/sitemap_stream.h"
#include "frontier/url/host.h"

#define CROWDED_WAIT (200 * NS_PER_MS)
#define STARVED_WAIT (1 * NS_PER_S)
#define CHECK_TRIES  2 /* of a host that does not respond to checks */
#define NOTE_MOST    ((size_t)512)
#define DELAY_MOST_S 86400.0

/* One request on the way to a robots.txt. */
struct robots_hop {
    struct url url;
    unsigned number; /* redirects before it */
};

static struct robots_hop *robots_hop_new(unsigned number)
{
    struct robots_hop *h = xcalloc(1, sizeof *h);

    url_init(&h->url);
    h->number = number;
    return h;
}

void robots_hop_free(void *hop)
{
    struct robots_hop *h = hop;

    if (h == NULL)
        return;
    url_fini(&h->url);
    free(h);
}

void fetch_task_init(struct fetch_task *task)
{
    *task = (struct fetch_task){0};
    buf_init(&task->note, NOTE_MOST);
}

void fetch_task_fini(struct fetch_task *task)
{
    assignment_free(task->assignment);
    robots_hop_free(task->hop);
    sitemap_stream_free(task->list);
    warc_capture_free(task->robots_warc);
    buf_fini(&task->note);
}

void fetch_task_set(struct fetch_task *task, struct assignment *a)
{
    assignment_free(task->assignment);
    task->assignment = a;
    task->origin = bytes_of(a->lease.url.at, url_origin_length(a->lease.url));
    task->robots_known = false;
    robots_hop_free(task->hop);
    task->hop = NULL;
    sitemap_stream_free(task->list);
    task->list = NULL;
    task->read_robots = false;
    buf_clear(&task->note);
}

static const struct url_lease *lease_of(const struct fetch_task *task)
{
    return &task->assignment->lease;
}

/* ---- ends ---------------------------------------------------------------- */

static enum fetch_task_state finish(const struct fetch_task_tools *t,
                                    struct fetch_task *task, struct report *r)
{
    r->fetcher = t->fetcher;
    r->queue = lease_of(task)->queue;
    r->done.host.robots_read = task->robots_known;
    r->done.host.crawl_delay_ms = task->crawl_delay_ms;
    r->done.robots_unread = t->o->robots == ROBOTS_OFF;
    r->robots_warc = task->robots_warc;
    task->robots_warc = NULL;
    queue_send(t->reports, r, report_octets(r));
    return FETCH_TASK_DONE;
}

enum fetch_task_state fetch_task_release(const struct fetch_task_tools *t,
                                         struct fetch_task *task)
{
    return finish(t, task, report_release(lease_of(task), 0));
}

/* True: the transfer says nothing about the URL, which was given back. */
static bool gave_back(const struct fetch_task_tools *t, struct fetch_task *task,
                      const struct fetch_result *result)
{
    struct report *r;

    if (result->end == FETCH_CROWDED)
        r = report_release(lease_of(task), result->ended + CROWDED_WAIT);
    else if (result->end == FETCH_STARVED)
        r = report_release(lease_of(task), result->ended + STARVED_WAIT);
    else if (result->end == FETCH_STOPPED)
        r = report_release(lease_of(task), 0);
    else
        return false;
    if (result->end != FETCH_CROWDED)
        report_set_request(r, result);
    (void)finish(t, task, r);
    return true;
}

/* Ends a task whose outcome is known without a request. */
static enum fetch_task_state end_unasked(const struct fetch_task_tools *t,
                                         struct fetch_task *task,
                                         enum outcome_status status,
                                         enum outcome_reason reason,
                                         struct bytes detail)
{
    return finish(t, task,
                  report_of(lease_of(task), status, reason, detail,
                            clock_wall_ms()));
}

/* The process may have been stopped since the URL was leased to it, and another
 * one may have the host by now. So it asks before each request; the URL is given
 * back. */
static bool may_ask(const struct fetch_task_tools *t)
{
    const _Atomic int64_t *until = t->o->may_ask_until;

    return until == NULL || clock_boot() < atomic_load(until);
}

/* Is whether the URL is there all that is asked? */
static bool is_check(const struct fetch_task_tools *t,
                     const struct fetch_task *task)
{
    const struct url_lease *l = lease_of(task);
    struct url u;
    bool yes;

    if (t->o->check || !t->o->check_external || l->seed)
        return t->o->check;
    url_init(&u);
    yes = url_parse(&u, l->url, NULL, NULL) == URL_OK &&
          scope_checks(t->o->rules.scope, &u, l->depth, l->kind);
    url_fini(&u);
    return yes;
}

/* ---- the page ------------------------------------------------------------ */

static enum fetch_task_state page_ended(const struct fetch_task_tools *t,
                                        struct fetch_task *task,
                                        const struct fetch_result *result)
{
    struct report *r;

    if (gave_back(t, task, result))
        return FETCH_TASK_DONE;
    r = reporter_done(t->reporter, lease_of(task), result, task->list,
                      buf_bytes(&task->note));
    r->warc =
        warc_recorder_page(t->recorder, task->assignment, &r->done, result);
    return finish(t, task, r);
}

/* Sitemaps can be far larger than pages, so they are read while they arrive. */
static bool is_read_as_it_comes(const struct fetch_task_tools *t,
                                const struct fetch_task *task)
{
    return link_is_sitemap(lease_of(task)->kind) &&
           (t->o->kinds & LINK_BIT(LINK_SITEMAP)) != 0;
}

/* A page is read; of a check, HEAD says enough, but servers may take it for
 * what they do not know: its second try is a GET. */
static enum fetch_want want_of(const struct fetch_task_tools *t,
                               const struct fetch_task *task)
{
    if (!is_check(t, task))
        return FETCH_BODY;
    return lease_of(task)->tries == 0 ? FETCH_HEAD : FETCH_NO_BODY;
}

/* If a page is all that is known of its host, its links may bring more; but a
 * host with more to do needs its connection more. */
static int64_t pause_after(const struct url_lease *l)
{
    return l->alone ? INT64_MAX : l->pause;
}

static enum fetch_task_state begin_page(const struct fetch_task_tools *t,
                                        struct fetch_task *task, int64_t now)
{
    const struct conditions conditions = conditions_of(&lease_of(task)->last);
    struct fetch_order order = {.id = lease_of(task)->id,
                                .url = lease_of(task)->url.at,
                                .pause = pause_after(lease_of(task)),
                                .body_most = t->o->max_body,
                                .want = want_of(t, task),
                                .keep_all = t->o->warc,
                                .filter_mime = true};

    if (!may_ask(t))
        return fetch_task_release(t, task);
    if (order.want == FETCH_BODY && conditions_any(&conditions))
        order.conditions = &conditions;

    if (is_read_as_it_comes(t, task)) {
        task->list = sitemap_stream_new(t->o, t->reports, lease_of(task));
        order.filter_mime = false;
        order.take = sitemap_stream_take;
        order.take_ctx = task->list;
        order.take_memory = SITEMAP_STREAM_MEMORY;
    }
    task->on_ended = page_ended;
    if (fetch_set_start(t->fetches, &order, task, now, clock_wall_ms()))
        return FETCH_TASK_BUSY;
    return finish(t, task, report_release(lease_of(task), now + STARVED_WAIT));
}

/* ---- robots.txt ---------------------------------------------------------- */

static struct robots_answer ask_cache(const struct fetch_task_tools *t,
                                      struct fetch_task *task, int64_t wall_ms)
{
    struct bytes url = lease_of(task)->url;
    struct bytes path =
        bytes_of(url.at + task->origin.len, url.len - task->origin.len);
    struct robots_answer a =
        robots_cache_ask(t->robots, task->origin, path, wall_ms);

    if (a.verdict != ROBOTS_ALLOWED && a.verdict != ROBOTS_DENIED)
        return a;
    task->robots_known = true;
    task->crawl_delay_ms =
        a.crawl_delay < 0
            ? -1
            : (int64_t)ceil(fmin(a.crawl_delay, DELAY_MOST_S) * 1000);
    return a;
}

static enum fetch_task_state robots_ended(const struct fetch_task_tools *t,
                                          struct fetch_task *task,
                                          const struct fetch_result *result);

static enum fetch_task_state begin_robots(const struct fetch_task_tools *t,
                                          struct fetch_task *task, int64_t now)
{
    const struct fetch_order order = {.id = lease_of(task)->id,
                                      .url = buf_str(&task->hop->url.text),
                                      .pause = lease_of(task)->pause,
                                      .body_most = ROBOTS_FETCH_MOST,
                                      .keep_all = t->o->warc};

    task->on_ended = robots_ended;
    task->read_robots = true;
    if (!may_ask(t)) {
        robots_cache_gave_up(t->robots, task->origin);
        return fetch_task_release(t, task);
    }
    if (fetch_set_start(t->fetches, &order, task, now, clock_wall_ms()))
        return FETCH_TASK_BUSY;
    robots_cache_gave_up(t->robots, task->origin);
    return finish(t, task, report_release(lease_of(task), now + STARVED_WAIT));
}

static enum fetch_task_state begin_first_robots(
    const struct fetch_task_tools *t, struct fetch_task *task, int64_t now)
{
    struct buf text;
    enum url_reason reason;

    task->hop = robots_hop_new(0);
    buf_init(&text, URL_LENGTH_CEILING);
    buf_add_bytes(&text, task->origin);
    buf_add_str(&text, "/robots.txt");
    reason = url_canonical(&task->hop->url, buf_bytes(&text), NULL, NULL);
    buf_fini(&text);
    if (reason == URL_OK)
        return begin_robots(t, task, now);
    robots_cache_gave_up(t->robots, task->origin);
    return end_unasked(t, task, OUTCOME_FAILED, REASON_PROTOCOL,
                       bytes_of_str("no URL"));
}

/* The hop that a redirect leads to (RFC 9309 section 2.3.1.2: to any host, at
 * least five times); NULL: not a redirect, or over the limit. */
static struct robots_hop *next_hop(const struct fetch_task *task,
                                   const struct fetch_result *result)
{
    const struct response *a = result->response;
    struct bytes location = response_get(a, RESPONSE_LOCATION);
    struct robots_hop *next;

    if (result->end != FETCH_ANSWERED || a->status < 300 || a->status >= 400 ||
        a->status == 304 || location.len == 0 ||
        task->hop->number == ROBOTS_HOPS_MOST)
        return NULL;
    next = robots_hop_new(task->hop->number + 1);
    if (url_canonical(&next->url, location, &task->hop->url, NULL) == URL_OK)
        return next;
    robots_hop_free(next);
    return NULL;
}

/* Gives the URL back, and names the host of its next request if it is another
 * one: the frontier keeps that host's delay too. */
static struct report *release_for(const struct fetch_task *task,
                                  const struct robots_hop *hop)
{
    struct report *r = report_release(lease_of(task), 0);
    struct bytes key = url_host(&hop->url);

    if (!bytes_equal(key, lease_of(task)->key))
        report_set_robots_host(r, key);
    return r;
}

/* The next hop is another request, so it waits its turn: the URL is given back,
 * and the first task of its origin follows the hop. */
static enum fetch_task_state leave_hop(const struct fetch_task_tools *t,
                                       struct fetch_task *task,
                                       const struct fetch_result *result,
                                       struct robots_hop *next)
{
    struct report *r = release_for(task, next);

    robots_hop_free(map_put(t->hops, task->origin, next));
    report_set_request(r, result);
    return finish(t, task, r);
}

/* The robots.txt is being fetched by another task, or waits for its next hop.
 * Follows that hop if the lease is for its host. */
static enum fetch_task_state go_on_with_robots(const struct fetch_task_tools *t,
                                               struct fetch_task *task,
                                               int64_t now)
{
    const struct url_lease *l = lease_of(task);
    const struct robots_hop *hop = map_get(t->hops, task->origin);
    struct bytes host = l->robots_host.len > 0 ? l->robots_host : l->key;

    if (hop == NULL)
        return FETCH_TASK_WAITS;
    if (!bytes_equal(url_host(&hop->url), host))
        return finish(t, task, release_for(task, hop));
    task->hop = map_remove(t->hops, task->origin);
    return begin_robots(t, task, now);
}

/* The lease is only for a hop to another host. */
static enum fetch_task_state begin_robots_elsewhere(
    const struct fetch_task_tools *t, struct fetch_task *task, int64_t now)
{
    if (map_get(t->hops, task->origin) == NULL)
        return fetch_task_release(t, task); /* another task has taken it */
    return go_on_with_robots(t, task, now);
}

/* Of any response but 2xx the status says all. */
static bool is_whole(const struct fetch_result *result)
{
    return result->end == FETCH_ANSWERED || result->end == FETCH_CUT_LENGTH ||
           (result->end <= FETCH_CUT_ENCODING &&
            result->response->status >= 300);
}

/* Did a response begin to bring a robots.txt, which is not whole? */
static enum robots_came what_came(const struct fetch_result *result)
{
    const struct response *a = result->response;

    if (!a->complete || a->status < 200 || a->status > 299 || is_whole(result))
        return ROBOTS_CAME_NOT;
    return result->mislabelled && result->cut == FETCH_WHOLE
               ? ROBOTS_MISLABELLED
               : ROBOTS_CAME_CUT;
}

/* Why there was no response. */
static enum outcome_reason why_none(const struct fetch_result *result)
{
    return what_came(result) == ROBOTS_CAME_NOT
               ? report_failure_reason(result->end)
               : REASON_NONE;
}

/* A response that is incomplete for any reason but its length may lack a rule,
 * so it counts as a failure. */
static struct robots_fetch fetched(const struct fetch_result *result)
{
    const struct response *a = result->response;

    return (struct robots_fetch){
        .http_status = is_whole(result) ? a->status : 0,
        .why = (uint8_t)why_none(result),
        .came = what_came(result),
        .body = result->body,
        .cache_control = response_get(a, RESPONSE_CACHE_CONTROL),
        .expires = response_get(a, RESPONSE_EXPIRES),
        .date = response_get(a, RESPONSE_DATE),
        .retry_after = response_get(a, RESPONSE_RETRY_AFTER),
    };
}

/* The origin's rules are unreachable, so the URL may not be requested (RFC 9309
 * section 2.3.1.4). If there was no response, the URL would have failed
 * likewise, so it gets that reason. */
static struct report *report_unreachable(struct fetch_task *task,
                                         const struct fetch_result *result,
                                         const struct robots_fetch *f)
{
    enum outcome_reason why = why_none(result);
    struct report *r;

    buf_clear(&task->note);
    if (f->http_status != 0)
        buf_addf(&task->note, "robots.txt: HTTP %d", f->http_status);
    else
        buf_addf(&task->note, "robots.txt: %.400s", result->error);
    r = report_of(lease_of(task),
                  why != REASON_NONE ? OUTCOME_FAILED : OUTCOME_DENIED,
                  why != REASON_NONE ? why : REASON_ROBOTS_UNREACHABLE,
                  buf_bytes(&task->note), result->started_wall_ms);
    r->done.row.flags = FETCH_ROW_AT_ROBOTS;
    r->done.transient = why == REASON_NONE || result->transient;
    r->done.host.unreachable = true;
    return r;
}

/* Reports the URL now that its origin's rules are known, or known to be
 * unreachable. If it may be fetched, it has to wait, since its host just had a
 * request. We ask the cache for the moment at which it was told (`wall_ms`):
 * later, its retry might be due, and it would ask for another fetch. */
static struct report *report_after_robots(const struct fetch_task_tools *t,
                                          struct fetch_task *task,
                                          const struct fetch_result *result,
                                          const struct robots_fetch *f,
                                          int64_t wall_ms)
{
    struct robots_answer a = ask_cache(t, task, wall_ms);

    if (t->o->robots == ROBOTS_OBEY && a.verdict == ROBOTS_DENIED)
        return report_of(lease_of(task), OUTCOME_DENIED, REASON_ROBOTS, a.line,
                         result->started_wall_ms);
    if (t->o->robots == ROBOTS_OBEY && a.verdict == ROBOTS_WAIT)
        return report_unreachable(task, result, f);
    return report_release(lease_of(task), 0);
}

static enum fetch_task_state robots_known(const struct fetch_task_tools *t,
                                          struct fetch_task *task,
                                          const struct fetch_result *result)
{
    const struct robots_fetch f = fetched(result);
    const int64_t wall_ms = clock_wall_ms();
    struct robots_row row;
    bool keep = robots_cache_told(t->robots, task->origin, &f, wall_ms, &row);
    struct report *r = report_after_robots(t, task, result, &f, wall_ms);
    struct host_news *host = &r->done.host;

    report_set_request(r, result);
    host->http_status = result->response->status;
    /* Also if an older copy stands in for the file, or the rules are only
     * noted: nobody has responded. */
    if (report_is_unreachable(result->end)) {
        host->unreachable = true;
        host->silent = result->transient;
    }
    report_set_delay(r, result->response, wall_ms);
    if (is_check(t, task) && host->unreachable) {
        host->silent = false; /* that nobody responds is what was asked */
        r->done.unsure = true;
    }
    if (keep)
        report_set_robots(r, &row);
    if (!t->o->check)
        sitemap_lines_report(t->o, lease_of(task), task->origin,
                             robots_cache_rules(t->robots, task->origin), r);
    return finish(t, task, r);
}

static bool is_refused(const struct fetch_result *result)
{
    return result->end == FETCH_ADDRESS || result->end == FETCH_PORT;
}

/* The guard refused the origin's robots.txt, and would refuse the page too. */
static enum fetch_task_state end_refused(const struct fetch_task_tools *t,
                                         struct fetch_task *task,
                                         const struct fetch_result *result)
{
    robots_cache_gave_up(t->robots, task->origin);
    return end_unasked(t, task, OUTCOME_SKIPPED,
                       result->end == FETCH_PORT ? REASON_PORT : REASON_ADDRESS,
                       bytes_of_str(result->error));
}

static enum fetch_task_state robots_ended(const struct fetch_task_tools *t,
                                          struct fetch_task *task,
                                          const struct fetch_result *result)
{
    struct robots_hop *next;

    task->robots_warc = warc_recorder_robots(t->recorder, task->assignment,
                                             buf_bytes(&task->hop->url.text),
                                             task->hop->number, result);
    if (gave_back(t, task, result)) {
        robots_cache_gave_up(t->robots, task->origin);
        return FETCH_TASK_DONE;
    }
    if (is_refused(result) && task->hop->number == 0)
        return end_refused(t, task, result);
    next = next_hop(task, result);
    if (next != NULL)
        return leave_hop(t, task, result, next);
    return robots_known(t, task, result);
}

/* ---- the beginning ------------------------------------------------------- */

/* Fetches the page, with a note of what robots.txt would have done to it. */
static enum fetch_task_state begin_noted(const struct fetch_task_tools *t,
                                         struct fetch_task *task,
                                         const char *words, struct bytes line,
                                         int64_t now)
{
    size_t most = NOTE_MOST - 64;

    buf_add_str(&task->note, words);
    buf_add(&task->note, line.at, line.len < most ? line.len : most);
    return begin_page(t, task, now);
}

static enum fetch_task_state obey(const struct fetch_task_tools *t,
                                  struct fetch_task *task,
                                  const struct robots_answer *a, int64_t now)
{
    int64_t wait_ms;

    if (a->verdict == ROBOTS_DENIED)
        return end_unasked(t, task, OUTCOME_DENIED, REASON_ROBOTS, a->line);
    wait_ms = a->until_ms - clock_wall_ms();
    return finish(t, task,
                  report_release(lease_of(task),
                                 now +
                                     (wait_ms > 0 ? wait_ms : 0) * NS_PER_MS));
}

/* Of an origin that did not respond twice, the other URLs that are only checked
 * are not there either: each would wait for its turn in vain. */
static enum fetch_task_state end_silent(const struct fetch_task_tools *t,
                                        struct fetch_task *task,
                                        const struct robots_answer *a)
{
    struct report *r =
        report_of(lease_of(task), OUTCOME_FAILED, (enum outcome_reason)a->why,
                  bytes_of_str("its host did not respond"), clock_wall_ms());

    if (a->verdict == ROBOTS_FETCH)
        robots_cache_gave_up(t->robots, task->origin);
    r->done.row.flags = FETCH_ROW_AT_ROBOTS;
    return finish(t, task, r);
}

static enum fetch_task_state begin_by_robots(const struct fetch_task_tools *t,
                                             struct fetch_task *task,
                                             int64_t now)
{
    struct robots_answer a = ask_cache(t, task, clock_wall_ms());

    if (a.verdict == ROBOTS_ALLOWED)
        return begin_page(t, task, now);
    if (a.why != 0 && a.failures >= CHECK_TRIES &&
        a.verdict != ROBOTS_FETCHING && is_check(t, task))
        return end_silent(t, task, &a);
    if (a.verdict == ROBOTS_FETCH)
        return begin_first_robots(t, task, now);
    if (a.verdict == ROBOTS_FETCHING)
        return go_on_with_robots(t, task, now);
    if (t->o->robots == ROBOTS_OBEY)
        return obey(t, task, &a, now);
    if (a.verdict == ROBOTS_DENIED)
        return begin_noted(t, task, "robots would deny: ", a.line, now);
    return begin_noted(t, task, "robots.txt is unreachable", bytes_of("", 0),
                       now);
}

enum fetch_task_state fetch_task_begin(const struct fetch_task_tools *t,
                                       struct fetch_task *task, int64_t now)
{
    if (task->origin.len == 0)
        return end_unasked(t, task, OUTCOME_FAILED, REASON_PROTOCOL,
                           bytes_of_str("no URL"));
    if (lease_of(task)->robots_host.len > 0)
        return begin_robots_elsewhere(t, task, now);
    if (t->o->robots == ROBOTS_OFF)
        return begin_page(t, task, now);
    return begin_by_robots(t, task, now);
}

enum fetch_task_state fetch_task_on_ended(const struct fetch_task_tools *t,
                                          struct fetch_task *task,
                                          const struct fetch_result *result)
{
    return task->on_ended(t, task, result);
}
