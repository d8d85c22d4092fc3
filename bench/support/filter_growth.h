/*
 * filter_growth.h - filters that grow, one key a call: rate, memory and pauses
 * at every power of two.
 */
#ifndef URLWEIR_BENCH_FILTER_GROWTH_H
#define URLWEIR_BENCH_FILTER_GROWTH_H

#include <stdint.h>

#include "filter/filter.h"

/* A table of `kind` from 100,000 keys to `until`; at `middle` and at the end a
 * filter of a fixed size is measured beside it. */
void bench_growth(const char *kind, uint64_t middle, uint64_t until,
                  double fpr);

/* "N of M MiB" of a filter in huge pages; valid until the next call. */
const char *growth_huge_word(const struct filter_stats *s, uint64_t huge);

#endif
