/*
 * metrics_text.h - writes Prometheus' text format 0.0.4.
 *
 * Begin a family, then write its samples; each family once. Names end in their
 * unit, counters in _total, and all begin with "urlweir_", which is added here.
 * Times are given in ns and written in seconds, to the last digit.
 *
 * Source: prometheus.io, "Exposition formats" and "Metric and label naming".
 */
#ifndef URLWEIR_SERVICE_METRICS_METRICS_TEXT_H
#define URLWEIR_SERVICE_METRICS_METRICS_TEXT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/histogram.h"

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

#endif
