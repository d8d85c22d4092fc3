/*
 * metrics.h - the page of metrics, part by part: frontiers, crawls, the served
 * frontier and its gRPC port, filters by name, a crawl on many machines, the
 * process, the disk.
 *
 * Every part reads stats that other threads have published; none waits for a
 * frontier thread or reads a store. docs/formats/metrics.md says what each
 * family means, and tests/cli/metrics.sh compares it with a page.
 */
#ifndef URLWEIR_SERVICE_METRICS_METRICS_H
#define URLWEIR_SERVICE_METRICS_METRICS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/histogram.h"
#include "cluster/cluster_stats.h"
#include "frontier/stats.h"
#include "job/registry/crawls.h"
#include "service/calls/frontier_service.h"
#include "service/filters/filter_shelf.h"
#include "service/grpc/grpc_server.h"
#include "service/net/listener.h"

/* ---- writes Prometheus' text format 0.0.4 ----
 *
 * Begin a family, then write its samples; each family once. Names end in their
 * unit, counters in _total, and all begin with "urlweir_", which is added here.
 * Times are given in ns and written in seconds, to the last digit.
 *
 * Source: prometheus.io, "Exposition formats" and "Metric and label naming".
 */

enum metrics_type { METRICS_COUNTER, METRICS_GAUGE, METRICS_HISTOGRAM };

struct metrics_text {
    struct buf *out;
    char name[128]; /* of the family that was begun */
};

/* The last in an array has no name. */
struct metrics_label {
    const char *name, *value;
};
#define METRICS_LABELS(...)                                                    \
    ((const struct metrics_label[]){__VA_ARGS__, {NULL, NULL}})

void metrics_text_init(struct metrics_text *m, struct buf *out);

/* The name is `prefix`, "_" and `name`. */
void metrics_family(struct metrics_text *m, const char *prefix,
                    const char *name, enum metrics_type type, const char *help);

/* Samples of the current family; `labels` NULL: none. */
void metrics_uint(struct metrics_text *m, const struct metrics_label *labels,
                  uint64_t value);
void metrics_double(struct metrics_text *m, const struct metrics_label *labels,
                    double value);
void metrics_seconds(struct metrics_text *m, const struct metrics_label *labels,
                     uint64_t ns);
void metrics_histogram(struct metrics_text *m,
                       const struct metrics_label *labels,
                       const struct histogram_stats *h);

/* A family of one sample. */
void metrics_one(struct metrics_text *m, const char *prefix, const char *name,
                 enum metrics_type type, const char *help, uint64_t value);

/* ---- the parts of the page ---- */

/* With n == 0 too: their families are listed. */
void metrics_add_crawls(struct metrics_text *m, const struct crawls_view *views,
                        size_t n);
void metrics_add_cluster(struct metrics_text *m, struct cluster_board *b);
void metrics_add_frontier(struct metrics_text *m, struct frontier_service *s);
void metrics_add_filters(struct metrics_text *m, struct filter_shelf *shelf);
void metrics_add_grpc(struct metrics_text *m, const struct grpc_server *s);
/* Connections that a port closed, by place_end. */
void metrics_add_closed(struct metrics_text *m, const char *prefix,
                        const uint64_t closed[PLACE_ENDS_]);
/* `dir` NULL: no disk is shown. */
void metrics_add_process(struct metrics_text *m, const char *dir);

/* One of the frontiers that share families. */
struct frontier_metrics {
    const char *crawl; /* NULL: no such label */
    const struct frontier_stats *frontier;
};

#endif
