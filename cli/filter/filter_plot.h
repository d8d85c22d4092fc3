/*
 * filter_plot.h - what kinds of filters cost and promise, as plots in one SVG.
 *
 * Measures what it draws: the rate of each kind as it fills, to four times
 * what it was made for; its cost and its bits at every size. Takes some
 * seconds a kind for a million keys.
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
