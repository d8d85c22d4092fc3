/*
 * filter_plot.h - plots the costs and rates of kinds of filters in one SVG.
 *
 * Measures the rate of each kind as it fills, up to four times its capacity,
 * and its cost and bits at every size. Takes some seconds a kind for a million
 * keys.
 */
#ifndef URLWEIR_CLI_FILTER_FILTER_PLOT_H
#define URLWEIR_CLI_FILTER_FILTER_PLOT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* `kinds`: at most PLOT_GREY of them (cli/report/plot.h); `keys`: the largest
 * size. STATUS_IO, STATUS_FULL: the file could not be written; others as
 * filter_new(). */
MUST_CHECK enum status filter_plot_write(const char *path,
                                         const char *const *kinds, size_t count,
                                         uint64_t keys, double fpr);

#endif
