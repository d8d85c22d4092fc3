/* SPDX-License-Identifier: MIT */
/* spread.c - the median of a figure over several rounds. */
#include "bench/support/spread.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

struct spread spread_of(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_value);
    return (struct spread){v[n / 2], v[0], v[n - 1]};
}
