/*
 * metrics.h - the page of metrics, part by part; private to the metrics_*.c
 * files and http_pages.c.
 *
 *   metrics.c          frontiers, crawls, the served frontier and its gRPC port,
 *                      filters by name, a crawl on many machines
 *   metrics_process.c  the process, the disk
 *
 * Every part reads stats that other threads have published; none waits for a
 * frontier thread or reads a store. docs/formats/metrics.md says what each
 * family means, and tests/cli/metrics.sh compares it with a page.
 */
#ifndef URLWEIR_SERVICE_METRICS_METRICS_H
#define URLWEIR_SERVICE_METRICS_METRICS_H

#include "cluster/cluster_stats.h"
#include "frontier/stats.h"
#include "job/registry/crawls.h"
#include "service/calls/frontier_service.h"
#include "service/filters/filter_shelf.h"
#include "service/grpc/grpc_server.h"
#include "service/metrics/metrics_text.h"
#include "service/net/places.h"

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
