/*
 * quantity.h - numbers, sizes and times as users write them.
 *
 * Sizes are bytes, or a number with K, M or G, powers of 1024; counts are whole
 * numbers, or take the same letters for powers of 1000. Times are seconds, or a
 * number with ms, s, m, h or d. All take decimal fractions of up to nine
 * digits; signs, exponents and white space are refused, so that a typing error
 * is not a value. Any thread.
 */
#ifndef URLWEIR_CONFIG_QUANTITY_H
#define URLWEIR_CONFIG_QUANTITY_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

/* All return STATUS_FORMAT if the text is not valid, and STATUS_LIMIT if the
 * value is too large. */
/* "500", "10M", "1.5M", but neither "1.5" nor "1.0001K". */
MUST_CHECK enum status quantity_count(struct bytes text, int64_t *n);
/* A fraction of a byte is dropped. */
MUST_CHECK enum status quantity_size(struct bytes text, uint64_t *bytes);
/* A fraction of a millisecond is dropped; STATUS_FORMAT if that would turn a
 * time above 0 into 0. */
MUST_CHECK enum status quantity_time(struct bytes text, int64_t *ms);
/* Digits with an optional point and exponent: "0.001", "1e-3". */
MUST_CHECK enum status quantity_fraction(struct bytes text, double *f);

/* The shortest text, in the largest unit that is exact, that reads back as the
 * same value. */
void quantity_add_size(struct buf *out, uint64_t bytes);
void quantity_add_time(struct buf *out, int64_t ms);
void quantity_add_fraction(struct buf *out, double f);

#endif
