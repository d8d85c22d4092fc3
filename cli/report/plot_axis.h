/*
 * plot_axis.h - an axis: its range, its ticks, and where a value lies on it.
 *
 * Ranges end at round numbers. A logarithmic axis has no place for 0 and less:
 * such values lie at its lower end. Pure arithmetic, any thread.
 */
#ifndef URLWEIR_CLI_REPORT_PLOT_AXIS_H
#define URLWEIR_CLI_REPORT_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define PLOT_TICKS 16

struct plot_axis {
    bool log;
    double low, high;
    double tick[PLOT_TICKS];
    size_t count;
};

/* Makes an axis that holds all of [low, high]; for a logarithmic axis, both are
 * above 0. An empty range is widened. */
void plot_axis_fit(struct plot_axis *a, double low, double high, bool log);
/* 0 at the lower end, 1 at the upper; clamped. */
double plot_axis_at(const struct plot_axis *a, double value);

/* Short: "20k", "1M", "0.001", "1e-6". */
void plot_axis_label(struct buf *out, double value);

#endif
