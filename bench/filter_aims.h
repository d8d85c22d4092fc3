/*
 * filter_aims.h - the figures that filters are to reach, beside those measured.
 *
 * Noted while the tables are printed, and told together at the end, so that
 * what is missed is said by the benchmark and by nobody else.
 */
#ifndef URLWEIR_BENCH_FILTER_AIMS_H
#define URLWEIR_BENCH_FILTER_AIMS_H

#include <stdbool.h>

enum aim_side { AIM_AT_MOST, AIM_AT_LEAST };

/* `what` stays the caller's, and is there until the end. A figure that is noted
 * twice counts where it is worse. */
void aim_note(const char *what, double measured, enum aim_side side, double aim,
              const char *unit);
void aims_print(void);

#endif
