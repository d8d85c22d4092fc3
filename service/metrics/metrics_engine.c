/* SPDX-License-Identifier: MIT */
/*
 * metrics_engine.c - seen check, filter, commits and checkpoints, of own crawls
 * and of the served frontier alike.
 *
 * Samples of a family must be together on the page, so each family is written
 * for all engines before the next begins.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "crawler/crawl_counters.h"
#include "service/metrics/metrics_parts.h"

#define SEEN_FAMILY "seen_checks_total"

struct engines {
    struct metrics_text *m;
    const char *prefix;
    const struct metrics_engine *at;
    size_t n;
};

/* `crawl`, if there is one, then the other label. */
#define LABELS(e, label, text)                                                 \
    ((e)->crawl != NULL ? METRICS_LABELS({"crawl", (e)->crawl}, {label, text}) \
                        : METRICS_LABELS({label, text}))

static void begin(const struct engines *all, const char *name,
                  enum metrics_type type, const char *help)
{
    metrics_family(all->m, all->prefix, name, type, help);
}

/* ---- seen check ---- */

/* The answers of the seen check, from the table of counters. */
static void add_seen_of(const struct engines *all,
                        const struct metrics_engine *e)
{
    for (size_t k = 0; k < CRAWL_COUNTERS; k++) {
        const struct crawl_counter *c = &crawl_counters[k];

        if (strcmp(c->metric, SEEN_FAMILY) == 0)
            metrics_uint(all->m, LABELS(e, c->label, c->value),
                         crawl_counter_of_frontier(c, e->frontier));
    }
}

static void add_seen(const struct engines *all)
{
    begin(all, SEEN_FAMILY, METRICS_COUNTER,
          "Answers of the seen check, over all runs.");
    for (size_t i = 0; i < all->n; i++)
        add_seen_of(all, &all->at[i]);
}

/* ---- filter ---- */

static void add_rates(const struct engines *all, const struct metrics_engine *e)
{
    const struct seen_filter_stats *f = &e->frontier->filter;

    if (!f->used)
        return;
    metrics_double(all->m, LABELS(e, "rate", "promised"), f->promised);
    metrics_double(all->m, LABELS(e, "rate", "predicted"), f->predicted);
    if (f->asked == 0)
        return;
    metrics_double(all->m, LABELS(e, "rate", "measured"), f->measured);
    metrics_double(all->m, LABELS(e, "rate", "measured_low"), f->low);
    metrics_double(all->m, LABELS(e, "rate", "measured_high"), f->high);
}

static void add_filter(const struct engines *all)
{
    static const struct {
        const char *name, *help;
        size_t at;
        enum metrics_type type;
    } families[] = {
        {"filter_bytes", "Memory of the filter.",
         offsetof(struct frontier_stats, filter.bytes), METRICS_GAUGE},
        {"filter_keys", "Keys in the filter.",
         offsetof(struct frontier_stats, filter.keys), METRICS_GAUGE},
        {"filter_segments",
         "Parts of the filter that can be rebuilt on their "
         "own.",
         offsetof(struct frontier_stats, filter.segments), METRICS_GAUGE},
        {"filter_rebuilds_total", "Parts of the filter that were rebuilt.",
         offsetof(struct frontier_stats, filter.rebuilds), METRICS_COUNTER},
    };

    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        begin(all, families[k].name, families[k].type, families[k].help);
        for (size_t i = 0; i < all->n; i++)
            metrics_uint(all->m, LABELS(&all->at[i], NULL, NULL),
                         *(const uint64_t *)((const char *)all->at[i].frontier +
                                             families[k].at));
    }
    begin(all, "filter_fill_ratio", METRICS_GAUGE,
          "Share of the filter's bits or slots that are in use.");
    for (size_t i = 0; i < all->n; i++)
        metrics_double(all->m, LABELS(&all->at[i], NULL, NULL),
                       all->at[i].frontier->filter.fill);
    begin(all, "filter_overfull", METRICS_GAUGE,
          "1: the filter no longer keeps the rate it promised.");
    for (size_t i = 0; i < all->n; i++)
        metrics_uint(all->m, LABELS(&all->at[i], NULL, NULL),
                     all->at[i].frontier->filter.overfull);
    begin(all, "filter_false_positive_ratio", METRICS_GAUGE,
          "New URLs that the filter calls maybe seen: promised, predicted, and "
          "measured with its 95 % interval.");
    for (size_t i = 0; i < all->n; i++)
        add_rates(all, &all->at[i]);
}

/* ---- commits and checkpoints ---- */

static void add_times(const struct engines *all)
{
    begin(all, "commit_duration_seconds", METRICS_HISTOGRAM,
          "How long a commit took, until it was synced.");
    for (size_t i = 0; i < all->n; i++)
        metrics_histogram(all->m, LABELS(&all->at[i], NULL, NULL),
                          &all->at[i].frontier->commits);
    begin(all, "checkpoint_duration_seconds", METRICS_HISTOGRAM,
          "How long a checkpoint took; work goes on meanwhile.");
    for (size_t i = 0; i < all->n; i++)
        metrics_histogram(all->m, LABELS(&all->at[i], NULL, NULL),
                          &all->at[i].frontier->checkpoints);
    begin(all, "checkpoint_failures_total", METRICS_COUNTER,
          "Checkpoints that could not be written.");
    for (size_t i = 0; i < all->n; i++)
        metrics_uint(all->m, LABELS(&all->at[i], NULL, NULL),
                     all->at[i].frontier->checkpoints_failed);
    begin(all, "last_checkpoint_timestamp_seconds", METRICS_GAUGE,
          "When the last successful checkpoint began; 0: there was none.");
    for (size_t i = 0; i < all->n; i++)
        metrics_seconds(all->m, LABELS(&all->at[i], NULL, NULL),
                        (uint64_t)all->at[i].frontier->checkpoint_ms *
                            (uint64_t)NS_PER_MS);
}

void metrics_add_engines(struct metrics_text *m, const char *prefix,
                         const struct metrics_engine *e, size_t n)
{
    const struct engines all = {m, prefix, e, n};

    add_seen(&all);
    add_filter(&all);
    add_times(&all);
}
