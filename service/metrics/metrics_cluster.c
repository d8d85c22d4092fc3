/* SPDX-License-Identifier: MIT */
/*
 * metrics_cluster.c - a crawl on many machines, whichever worker is asked.
 *
 * Each worker shows the whole crawl, so the series of several are the same ones:
 * they are not to be added up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "service/metrics/metrics_parts.h"

static enum metrics_type type_of(const struct shard_figure *f)
{
    const size_t n = strlen(f->metric), end = strlen("_total");

    return n > end && strcmp(f->metric + n - end, "_total") == 0
               ? METRICS_COUNTER
               : METRICS_GAUGE;
}

static const char *number(char text[16], uint32_t n)
{
    snprintf(text, 16, "%" PRIu32, n);
    return text;
}

static void add_figure(struct metrics_text *m, const struct shard_figure *f,
                       const char *crawl, const struct cluster_stats *s)
{
    char text[16];

    metrics_family(m, "cluster", f->metric, type_of(f), f->help);
    metrics_uint(m, METRICS_LABELS({"crawl", crawl}),
                 shard_figure_value(f, &s->all));
    metrics_family(m, "shard", f->metric, type_of(f), f->help);
    for (uint32_t n = 0; n < s->count; n++)
        metrics_uint(m,
                     METRICS_LABELS({"crawl", crawl},
                                    {"shard", number(text, n)}),
                     shard_figure_value(f, &s->shards[n]));
}

void metrics_add_cluster(struct metrics_text *m, struct cluster_board *b)
{
    const char *crawl = cluster_board_name(b);
    struct cluster_stats s;
    char text[16];

    cluster_board_read(b, &s);
    for (size_t i = 0; i < SHARD_FIGURES; i++)
        add_figure(m, &shard_figures[i], crawl, &s);
    metrics_family(m, "cluster", "state", METRICS_GAUGE,
                   "1: the crawl is in this state.");
    metrics_uint(m, METRICS_LABELS({"crawl", crawl}, {"state", s.state}), 1);
    metrics_family(m, "shard", "worker", METRICS_GAUGE,
                   "1: this worker has the shard, or had it last.");
    for (uint32_t n = 0; n < s.count; n++)
        metrics_uint(m,
                     METRICS_LABELS({"crawl", crawl},
                                    {"shard", number(text, n)},
                                    {"worker", s.shards[n].worker},
                                    {"state", shard_state(&s.shards[n])}),
                     1);
    cluster_stats_fini(&s);
}
