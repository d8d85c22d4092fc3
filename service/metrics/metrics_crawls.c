/* SPDX-License-Identifier: MIT */
/*
 * metrics_crawls.c - the crawls of this process, each under a label.
 *
 * Counters come from the table in crawler/crawl_counters.h; metrics with more
 * labels, or that are not whole numbers, have functions.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/crawl_counters.h"
#include "service/metrics/metrics_parts.h"

#define PREFIX "crawl"
#define OF(v)                                                                  \
    {                                                                          \
        "crawl", (v)->name                                                     \
    }
struct crawl_views {
    struct metrics_text *m;
    const struct crawls_view *at;
    size_t n;
};

/* ---- the counters that have no labels of their own ---- */

/* "URLs admitted, over all runs." */
static void add_help(struct buf *out, const struct crawl_counter *c)
{
    static const char *const spans[COUNTER_KINDS] = {
        [COUNTER_CRAWL] = ", over all runs",
        [COUNTER_RUN] = ", of this run",
        [COUNTER_STATE] = "",
        [COUNTER_LIVE] = "",
    };

    buf_addf(out, "%s%s.", c->help, spans[c->kind]);
}

static void add_counter(const struct crawl_views *all,
                        const struct crawl_counter *c)
{
    bool sum = c->kind == COUNTER_CRAWL || c->kind == COUNTER_RUN;
    struct buf help;

    buf_init(&help, 1024);
    add_help(&help, c);
    metrics_family(all->m, PREFIX, c->metric,
                   sum ? METRICS_COUNTER : METRICS_GAUGE, buf_str(&help));
    for (size_t i = 0; i < all->n; i++)
        metrics_uint(all->m, METRICS_LABELS(OF(&all->at[i])),
                     crawl_counter_value(c, &all->at[i].stats));
    buf_fini(&help);
}

static void add_counters(const struct crawl_views *all)
{
    for (size_t k = 0; k < CRAWL_COUNTERS; k++)
        if (crawl_counters[k].label == NULL)
            add_counter(all, &crawl_counters[k]);
}

/* ---- state ---- */

static void add_states(const struct crawl_views *all)
{
    metrics_family(all->m, PREFIX, "state", METRICS_GAUGE,
                   "1: the crawl is in this state.");
    for (size_t i = 0; i < all->n; i++)
        for (unsigned s = CRAWLS_RUNNING; s <= CRAWLS_FAILED; s++)
            metrics_uint(all->m,
                         METRICS_LABELS(OF(&all->at[i]),
                                        {"state", crawls_state_name(
                                                      (enum crawls_state)s)}),
                         all->at[i].state == s);
    metrics_family(all->m, PREFIX, "start_time_seconds", METRICS_GAUGE,
                   "When this run began.");
    for (size_t i = 0; i < all->n; i++)
        metrics_seconds(all->m, METRICS_LABELS(OF(&all->at[i])),
                        (uint64_t)all->at[i].started_ms * (uint64_t)NS_PER_MS);
}

/* ---- outcomes of URLs and links ---- */

/* Reasons that are shown with a status even while they are 0, so that a rate()
 * sees the first one. Their numbers in enum outcome_reason are consecutive. */
static bool is_expected(unsigned status, unsigned reason)
{
    switch (status) {
    case OUTCOME_FETCHED:
        return reason <= REASON_BAD_ENCODING || reason == REASON_UNCHANGED;
    case OUTCOME_REDIRECT:
        return reason == REASON_NONE || (reason >= REASON_REDIRECT_LIMIT &&
                                         reason <= REASON_REDIRECT_INVALID);
    case OUTCOME_FAILED:
        return reason > REASON_HTTP && reason <= REASON_PROTOCOL;
    case OUTCOME_DENIED:
        return reason == REASON_ROBOTS || reason == REASON_ROBOTS_UNREACHABLE;
    case OUTCOME_SKIPPED:
        return reason >= REASON_ADDRESS && reason <= REASON_NOINDEX;
    default:
        return false;
    }
}

static void add_done(struct metrics_text *m, const struct crawls_view *v,
                     unsigned status, const char *reason, uint64_t value)
{
    metrics_uint(m,
                 METRICS_LABELS(OF(v),
                                {"status", outcome_status_name(
                                               (enum outcome_status)status)},
                                {"reason", reason}),
                 value);
}

static void add_done_of(struct metrics_text *m, const struct crawls_view *v,
                        unsigned status)
{
    const struct frontier_stats *w = &v->stats.frontier;

    for (unsigned r = 0; r < REASON_COUNT_; r++)
        if (r != REASON_HTTP &&
            (w->done[status][r] > 0 || is_expected(status, r)))
            add_done(m, v, status, outcome_reason_name((enum outcome_reason)r),
                     w->done[status][r]);
    for (unsigned d = 0; d < 10; d++) {
        char reason[16];

        snprintf(reason, sizeof reason, "http_%uxx", d);
        if (w->done_http[status][d] > 0 ||
            (status == OUTCOME_FAILED && (d == 4 || d == 5)))
            add_done(m, v, status, reason, w->done_http[status][d]);
    }
}

static void add_outcomes(const struct crawl_views *all)
{
    metrics_family(all->m, PREFIX, "urls_done_total", METRICS_COUNTER,
                   "URLs by their final outcome, over all runs.");
    for (size_t i = 0; i < all->n; i++)
        for (unsigned s = OUTCOME_FETCHED; s < OUTCOME_STATUS_COUNT_; s++)
            add_done_of(all->m, &all->at[i], s);
    metrics_family(all->m, PREFIX, "dropped_links_total", METRICS_COUNTER,
                   "Links dropped before admission, over all runs.");
    for (size_t i = 0; i < all->n; i++)
        for (unsigned r = REASON_NONE + 1; r < REASON_COUNT_; r++)
            if (all->at[i].stats.frontier.dropped[r] > 0 || r == REASON_SCOPE)
                metrics_uint(all->m,
                             METRICS_LABELS(OF(&all->at[i]),
                                            {"reason",
                                             outcome_reason_name(
                                                 (enum outcome_reason)r)}),
                             all->at[i].stats.frontier.dropped[r]);
}

/* ---- requests ---- */

static void add_requests(const struct crawl_views *all)
{
    metrics_family(all->m, PREFIX, "requests_total", METRICS_COUNTER,
                   "Requests of this run by how they ended, each try and each "
                   "robots.txt.");
    for (size_t i = 0; i < all->n; i++)
        for (unsigned e = 0; e < FETCH_STATS_ENDS; e++)
            metrics_uint(all->m,
                         METRICS_LABELS(OF(&all->at[i]),
                                        {"result", fetch_stats_end_name(e)}),
                         all->at[i].stats.fetches.ends[e]);
    metrics_family(all->m, PREFIX, "answers_total", METRICS_COUNTER,
                   "Responses of this run by their HTTP status.");
    for (size_t i = 0; i < all->n; i++)
        for (unsigned c = 1; c < FETCH_STATS_CLASSES; c++) {
            uint64_t n = all->at[i].stats.fetches.classes[c];
            char code[16];

            snprintf(code, sizeof code, "%uxx", c);
            if (n > 0 || (c >= 2 && c <= 5))
                metrics_uint(all->m,
                             METRICS_LABELS(OF(&all->at[i]), {"code", code}),
                             n);
        }
}

static void add_times(const struct crawl_views *all)
{
    static const struct {
        const char *name, *help;
        size_t at; /* in struct fetch_stats */
    } times[] = {
        {"response_duration_seconds",
         "Time from the start of a request to the last octet of its response.",
         offsetof(struct fetch_stats, response)},
        {"first_byte_duration_seconds",
         "Time from the start of a request to the first octet of its response.",
         offsetof(struct fetch_stats, first_byte)},
        {"connect_duration_seconds",
         "Time from the start of a request until its new connection was open, "
         "TLS included.",
         offsetof(struct fetch_stats, connect)},
        {"robots_duration_seconds",
         "Time from the start of a request for robots.txt to the last octet "
         "of its response.",
         offsetof(struct fetch_stats, robots)},
    };

    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        metrics_family(all->m, PREFIX, times[k].name, METRICS_HISTOGRAM,
                       times[k].help);
        for (size_t i = 0; i < all->n; i++) {
            const char *fetches = (const char *)&all->at[i].stats.fetches;

            metrics_histogram(
                all->m, METRICS_LABELS(OF(&all->at[i])),
                (const struct histogram_stats *)(const void *)(fetches +
                                                               times[k].at));
        }
    }
}

/* ---- the whole ---- */

static void add_engines(const struct crawl_views *all)
{
    struct metrics_engine *engines = xcalloc(all->n, sizeof *engines);

    for (size_t i = 0; i < all->n; i++)
        engines[i] = (struct metrics_engine){all->at[i].name,
                                             &all->at[i].stats.frontier};
    metrics_add_engines(all->m, PREFIX, engines, all->n);
    free(engines);
}

void metrics_add_crawls(struct metrics_text *m, const struct crawls_view *views,
                        size_t n)
{
    const struct crawl_views all = {m, views, n};

    add_states(&all);
    add_outcomes(&all);
    add_counters(&all);
    add_requests(&all);
    add_times(&all);
    add_engines(&all);
}
