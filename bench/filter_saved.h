/*
 * filter_saved.h - what saving, loading and damage cost a filter.
 *
 * One table: the image beside a working owner, its reading again, what is newer
 * than the image, and a file with one flipped bit.
 */
#ifndef URLWEIR_BENCH_FILTER_SAVED_H
#define URLWEIR_BENCH_FILTER_SAVED_H

#include <stdint.h>

/* A scalable filter grown to `keys`; its file stands in TMPDIR meanwhile. */
void bench_saved(uint64_t keys, double fpr);

#endif
