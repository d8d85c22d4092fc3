/*
 * filter_saved.h - the cost of saving, loading and repairing a filter.
 *
 * One table: writing the image while the owner works, reading it, adding newer
 * keys, and a file with one flipped bit.
 */
#ifndef URLWEIR_BENCH_FILTER_SAVED_H
#define URLWEIR_BENCH_FILTER_SAVED_H

#include <stdint.h>

/* Measures a scalable filter grown to `keys`, with a file in TMPDIR. */
void bench_saved(uint64_t keys, double fpr);

#endif
