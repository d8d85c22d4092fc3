/* SPDX-License-Identifier: MIT */
/*
 * job.c - one leased URL on its way through a fetcher.
 *
 *     begin ──► robots cache ──allowed───────────────► page ──► report
 *                  │  │  └─denied, not now──► report
 *                  │  └─being fetched──► held, or go on with its next hop
 *                  └─unknown──► robots.txt ──► release
 *
 * Each state that waits for a transfer is a function: what on_ended points to.
 */
#include "crawler/job.h"

#include <math.h>
#include <netdb.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/http_time.h"
#include "base/mem.h"
#include "crawler/html/links.h"
#include "crawler/sitemap_lines.h"
#include "crawler/sitemap_stream.h"
#include "frontier/url/host.h"
#include "frontier/url/queue_key.h"

#define CROWDED_WAIT (200 * NS_PER_MS)
#define STARVED_WAIT (1 * NS_PER_S)
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

void job_init(struct job *j)
{
    *j = (struct job){0};
    buf_init(&j->note, NOTE_MOST);
}

void job_fini(struct job *j)
{
    assignment_free(j->assignment);
    robots_hop_free(j->hop);
    sitemap_stream_free(j->list);
    warc_capture_free(j->robots_warc);
    buf_fini(&j->note);
}

void job_set(struct job *j, struct assignment *a)
{
    assignment_free(j->assignment);
    j->assignment = a;
    j->origin = bytes_of(a->lease.url.at, url_origin_length(a->lease.url));
    j->crawl_delay_ms = -2;
    robots_hop_free(j->hop);
    j->hop = NULL;
    sitemap_stream_free(j->list);
    j->list = NULL;
    j->read_robots = false;
    buf_clear(&j->note);
}

static const struct engine_lease *lease_of(const struct job *j)
{
    return &j->assignment->lease;
}

/* ---- ends ---------------------------------------------------------------- */

static enum job_state finish(const struct job_tools *t, struct job *j,
                             struct report *r)
{
    r->done.host.crawl_delay_ms = j->crawl_delay_ms;
    r->robots_warc = j->robots_warc;
    j->robots_warc = NULL;
    queue_send(t->reports, r);
    return JOB_DONE;
}

enum job_state job_release(const struct job_tools *t, struct job *j)
{
    return finish(t, j, report_release(lease_of(j), 0));
}

/* A transfer that told nothing of the URL. True: its URL was given back. */
static bool gave_back(const struct job_tools *t, struct job *j,
                      const struct fetch_result *result)
{
    struct report *r;

    if (result->end == FETCH_CROWDED)
        r = report_release(lease_of(j), result->ended + CROWDED_WAIT);
    else if (result->end == FETCH_STARVED)
        r = report_release(lease_of(j), result->ended + STARVED_WAIT);
    else if (result->end == FETCH_STOPPED)
        r = report_release(lease_of(j), 0);
    else
        return false;
    if (result->end != FETCH_CROWDED)
        r->done.host.ended = result->ended;
    (void)finish(t, j, r);
    return true;
}

/* No request was sent: the outcome is known without. */
static enum job_state end_unasked(const struct job_tools *t, struct job *j,
                                  enum outcome_status status,
                                  enum outcome_reason reason,
                                  struct bytes detail)
{
    return finish(t, j,
                  report_of(lease_of(j), status, reason, detail,
                            clock_wall_ms()));
}

/* ---- the page ------------------------------------------------------------ */

static enum job_state page_ended(const struct job_tools *t, struct job *j,
                                 const struct fetch_result *result)
{
    struct report *r;

    if (gave_back(t, j, result))
        return JOB_DONE;
    r = reporter_done(t->reporter, lease_of(j), result, j->list,
                      buf_bytes(&j->note));
    r->warc = warc_recorder_page(t->recorder, j->assignment, &r->done, result);
    return finish(t, j, r);
}

/* Sitemaps may be far larger than pages, and are read as they come. */
static bool is_read_as_it_comes(const struct job_tools *t, const struct job *j)
{
    return link_is_sitemap(lease_of(j)->kind) &&
           (t->o->kinds & LINK_BIT(LINK_SITEMAP)) != 0;
}

static enum job_state begin_page(const struct job_tools *t, struct job *j,
                                 int64_t now)
{
    struct fetch_order order = {.id = lease_of(j)->id,
                                .url = lease_of(j)->url.at,
                                .body_most = t->o->max_body,
                                .keep_all = t->o->warc,
                                .filter_mime = true};

    if (is_read_as_it_comes(t, j)) {
        j->list = sitemap_stream_new(t->o, t->reports, lease_of(j));
        order.filter_mime = false;
        order.take = sitemap_stream_take;
        order.take_ctx = j->list;
        order.take_memory = SITEMAP_STREAM_MEMORY;
    }
    j->on_ended = page_ended;
    if (fetch_set_start(t->fetches, &order, j, now, clock_wall_ms()))
        return JOB_BUSY;
    return finish(t, j, report_release(lease_of(j), now + STARVED_WAIT));
}

/* ---- robots.txt ---------------------------------------------------------- */

static struct robots_answer ask_cache(const struct job_tools *t, struct job *j,
                                      int64_t wall_ms)
{
    struct bytes url = lease_of(j)->url;
    struct bytes path =
        bytes_of(url.at + j->origin.len, url.len - j->origin.len);
    struct robots_answer a =
        robots_cache_ask(t->robots, j->origin, path, wall_ms);

    if (a.verdict == ROBOTS_ALLOWED || a.verdict == ROBOTS_DENIED)
        j->crawl_delay_ms =
            a.crawl_delay < 0
                ? -1
                : (int64_t)ceil(fmin(a.crawl_delay, DELAY_MOST_S) * 1000);
    return a;
}

static enum job_state robots_ended(const struct job_tools *t, struct job *j,
                                   const struct fetch_result *result);

static enum job_state begin_robots(const struct job_tools *t, struct job *j,
                                   int64_t now)
{
    const struct fetch_order order = {.id = lease_of(j)->id,
                                      .url = buf_str(&j->hop->url.text),
                                      .body_most = ROBOTS_FETCH_MOST,
                                      .keep_all = t->o->warc};

    j->on_ended = robots_ended;
    j->read_robots = true;
    if (fetch_set_start(t->fetches, &order, j, now, clock_wall_ms()))
        return JOB_BUSY;
    robots_cache_gave_up(t->robots, j->origin);
    return finish(t, j, report_release(lease_of(j), now + STARVED_WAIT));
}

static enum job_state begin_first_robots(const struct job_tools *t,
                                         struct job *j, int64_t now)
{
    struct buf text;
    enum url_reason reason;

    j->hop = robots_hop_new(0);
    buf_init(&text, URL_LENGTH_CEILING);
    buf_add_bytes(&text, j->origin);
    buf_add_str(&text, "/robots.txt");
    reason = url_canonical(&j->hop->url, buf_bytes(&text), NULL, NULL);
    buf_fini(&text);
    if (reason == URL_OK)
        return begin_robots(t, j, now);
    robots_cache_gave_up(t->robots, j->origin);
    return end_unasked(t, j, OUTCOME_FAILED, REASON_PROTOCOL,
                       bytes_of_str("no URL"));
}

/* Where a redirect leads (RFC 9309 section 2.3.1.2: to any host, at least five
 * times); NULL: it is none, or one too many. */
static struct robots_hop *next_hop(const struct job *j,
                                   const struct fetch_result *result)
{
    const struct answer *a = result->answer;
    struct bytes location = answer_get(a, ANSWER_LOCATION);
    struct robots_hop *next;

    if (result->end != FETCH_ANSWERED || a->status < 300 || a->status >= 400 ||
        a->status == 304 || location.len == 0 ||
        j->hop->number == ROBOTS_HOPS_MOST)
        return NULL;
    next = robots_hop_new(j->hop->number + 1);
    if (url_canonical(&next->url, location, &j->hop->url, NULL) == URL_OK)
        return next;
    robots_hop_free(next);
    return NULL;
}

/* The URL goes back, and where its next request leads to another host, it says
 * so: the frontier keeps that host's delay too. */
static struct report *release_for(const struct job *j,
                                  const struct robots_hop *hop)
{
    struct report *r = report_release(lease_of(j), 0);
    struct bytes key = queue_key_of(&hop->url);

    if (!bytes_equal(key, lease_of(j)->key))
        report_set_visit(r, key);
    return r;
}

/* The next hop is another request, so it waits its turn like others: the URL
 * goes back, and whichever of its origin comes first goes on from there. */
static enum job_state leave_hop(const struct job_tools *t, struct job *j,
                                const struct fetch_result *result,
                                struct robots_hop *next)
{
    struct report *r = release_for(j, next);

    robots_hop_free(map_put(t->hops, j->origin, next));
    r->done.host.ended = result->ended;
    return finish(t, j, r);
}

/* Another's robots.txt is under way, or waits for its next hop: that is gone on
 * with if the lease is for the host that it leads to. */
static enum job_state go_on_with_robots(const struct job_tools *t,
                                        struct job *j, int64_t now)
{
    const struct engine_lease *l = lease_of(j);
    const struct robots_hop *hop = map_get(t->hops, j->origin);
    struct bytes host = l->visit.len > 0 ? l->visit : l->key;

    if (hop == NULL)
        return JOB_HELD;
    if (!bytes_equal(queue_key_of(&hop->url), host))
        return finish(t, j, release_for(j, hop));
    j->hop = map_remove(t->hops, j->origin);
    return begin_robots(t, j, now);
}

/* Its lease is for a hop to another host, and for nothing else. */
static enum job_state begin_visit(const struct job_tools *t, struct job *j,
                                  int64_t now)
{
    if (map_get(t->hops, j->origin) == NULL)
        return job_release(t, j); /* somebody has gone on with it */
    return go_on_with_robots(t, j, now);
}

/* An answer that was cut by anything but its length may lack a rule: it counts
 * as none. */
static struct robots_fetch fetched(const struct fetch_result *result)
{
    const struct answer *a = result->answer;
    bool whole =
        result->end == FETCH_ANSWERED || result->end == FETCH_CUT_LENGTH;

    return (struct robots_fetch){
        .http_status = whole ? a->status : 0,
        .body = result->body,
        .cache_control = answer_get(a, ANSWER_CACHE_CONTROL),
        .expires = answer_get(a, ANSWER_EXPIRES),
        .date = answer_get(a, ANSWER_DATE),
        .retry_after = answer_get(a, ANSWER_RETRY_AFTER),
    };
}

static struct report *report_unreachable(struct job *j,
                                         const struct fetch_result *result,
                                         const struct robots_fetch *f)
{
    struct report *r;

    buf_clear(&j->note);
    if (f->http_status != 0)
        buf_addf(&j->note, "robots.txt: HTTP %d", f->http_status);
    else
        buf_addf(&j->note, "robots.txt: %.400s", result->error);
    r = report_of(lease_of(j), OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE,
                  buf_bytes(&j->note), result->started_wall_ms);
    r->done.transient = true;
    r->done.host.unreachable = true;
    return r;
}

/* What becomes of the URL now that its origin's rules are known, or known to
 * be out of reach. Where it may be fetched, that is for another time: a
 * request has just been sent to its host. The cache is asked at the moment it
 * was told: a moment later the retry may be due, and it would have us fetch
 * again what nobody here fetches. */
static struct report *report_after_robots(const struct job_tools *t,
                                          struct job *j,
                                          const struct fetch_result *result,
                                          const struct robots_fetch *f,
                                          int64_t wall_ms)
{
    struct robots_answer a = ask_cache(t, j, wall_ms);

    if (t->o->robots == ROBOTS_OBEY && a.verdict == ROBOTS_DENIED)
        return report_of(lease_of(j), OUTCOME_DENIED, REASON_ROBOTS, a.line,
                         result->started_wall_ms);
    if (t->o->robots == ROBOTS_OBEY && a.verdict == ROBOTS_WAIT)
        return report_unreachable(j, result, f);
    return report_release(lease_of(j), 0);
}

static enum job_state robots_known(const struct job_tools *t, struct job *j,
                                   const struct fetch_result *result)
{
    const struct robots_fetch f = fetched(result);
    const int64_t wall_ms = clock_wall_ms();
    struct robots_row row;
    bool keep = robots_cache_told(t->robots, j->origin, &f, wall_ms, &row);
    struct report *r = report_after_robots(t, j, result, &f, wall_ms);
    struct engine_host_news *host = &r->done.host;

    host->ended = result->ended;
    host->slow_down = f.http_status == 429 || f.http_status == 503;
    if (host->slow_down)
        host->retry_after_ms = http_retry_after_ms(f.retry_after, wall_ms);
    if (keep)
        report_set_robots(r, &row);
    if (t->o->find_sitemaps)
        sitemap_lines_report(t->o, lease_of(j), j->origin,
                             robots_cache_rules(t->robots, j->origin), r);
    return finish(t, j, r);
}

static enum job_state robots_ended(const struct job_tools *t, struct job *j,
                                   const struct fetch_result *result)
{
    struct robots_hop *next;

    j->robots_warc = warc_recorder_robots(t->recorder, j->assignment,
                                          buf_bytes(&j->hop->url.text),
                                          j->hop->number, result);
    if (gave_back(t, j, result)) {
        robots_cache_gave_up(t->robots, j->origin);
        return JOB_DONE;
    }
    if (result->end == FETCH_ADDRESS && j->hop->number == 0) {
        robots_cache_gave_up(t->robots, j->origin);
        return end_unasked(t, j, OUTCOME_SKIPPED, REASON_ADDRESS,
                           bytes_of_str(result->error));
    }
    next = next_hop(j, result);
    if (next != NULL)
        return leave_hop(t, j, result, next);
    return robots_known(t, j, result);
}

/* ---- the beginning ------------------------------------------------------- */

/* Marks the page with what robots.txt would have done to it. */
static enum job_state begin_noted(const struct job_tools *t, struct job *j,
                                  const char *words, struct bytes line,
                                  int64_t now)
{
    size_t most = NOTE_MOST - 64;

    buf_add_str(&j->note, words);
    buf_add(&j->note, line.at, line.len < most ? line.len : most);
    return begin_page(t, j, now);
}

static enum job_state obey(const struct job_tools *t, struct job *j,
                           const struct robots_answer *a, int64_t now)
{
    int64_t wait_ms;

    if (a->verdict == ROBOTS_DENIED)
        return end_unasked(t, j, OUTCOME_DENIED, REASON_ROBOTS, a->line);
    wait_ms = a->until_ms - clock_wall_ms();
    return finish(t, j,
                  report_release(lease_of(j),
                                 now +
                                     (wait_ms > 0 ? wait_ms : 0) * NS_PER_MS));
}

static enum job_state begin_by_robots(const struct job_tools *t, struct job *j,
                                      int64_t now)
{
    struct robots_answer a = ask_cache(t, j, clock_wall_ms());

    if (a.verdict == ROBOTS_ALLOWED)
        return begin_page(t, j, now);
    if (a.verdict == ROBOTS_FETCH)
        return begin_first_robots(t, j, now);
    if (a.verdict == ROBOTS_FETCHING)
        return go_on_with_robots(t, j, now);
    if (t->o->robots == ROBOTS_OBEY)
        return obey(t, j, &a, now);
    if (a.verdict == ROBOTS_DENIED)
        return begin_noted(t, j, "robots would deny: ", a.line, now);
    return begin_noted(t, j, "robots.txt is unreachable", bytes_of("", 0), now);
}

/* Behind a proxy no address is seen but its own. What can still be refused is
 * an address that stands in the URL itself. */
static bool is_refused_literal(const struct job_tools *t, struct job *j)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    struct url u;
    char *host = NULL;
    bool refused = false;

    if (t->o->proxy == NULL || t->o->guard == NULL)
        return false;
    url_init(&u);
    if (url_parse(&u, lease_of(j)->url, NULL, NULL) == URL_OK &&
        host_is_address(url_host(&u))) {
        struct bytes name = url_host(&u);

        if (name.at[0] == '[')
            name = bytes_of(name.at + 1, name.len - 2);
        host = xstrndup(name.at, name.len);
        if (getaddrinfo(host, NULL, &hints, &found) == 0)
            refused = !guard_permits(t->o->guard, found->ai_addr);
        else
            refused = true;
    }
    if (found != NULL)
        freeaddrinfo(found);
    free(host);
    url_fini(&u);
    return refused;
}

enum job_state job_begin(const struct job_tools *t, struct job *j, int64_t now)
{
    if (j->origin.len == 0)
        return end_unasked(t, j, OUTCOME_FAILED, REASON_PROTOCOL,
                           bytes_of_str("no URL"));
    if (is_refused_literal(t, j))
        return end_unasked(t, j, OUTCOME_SKIPPED, REASON_ADDRESS,
                           bytes_of_str(guard_words));
    if (lease_of(j)->visit.len > 0)
        return begin_visit(t, j, now);
    if (t->o->robots == ROBOTS_OFF)
        return begin_page(t, j, now);
    return begin_by_robots(t, j, now);
}

enum job_state job_on_ended(const struct job_tools *t, struct job *j,
                            const struct fetch_result *result)
{
    return j->on_ended(t, j, result);
}
