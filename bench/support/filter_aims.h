/*
 * filter_aims.h - target figures for filters, and measured ones.
 *
 * Figures are noted while the tables are printed, and listed together at the
 * end, so that the benchmark itself reports missed targets.
 */
#ifndef URLWEIR_BENCH_FILTER_AIMS_H
#define URLWEIR_BENCH_FILTER_AIMS_H

#include <stdbool.h>

enum aim_side { AIM_AT_MOST, AIM_AT_LEAST };

/* `what` is borrowed until the end. If a figure is noted twice, the worse one
 * counts. */
void aim_note(const char *what, double measured, enum aim_side side, double aim,
              const char *unit);
void aims_print(void);

#endif
