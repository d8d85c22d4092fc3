/* spread.h - the median of a figure over several rounds, and how far it goes.
 */
#ifndef URLWEIR_BENCH_SPREAD_H
#define URLWEIR_BENCH_SPREAD_H

#include <stddef.h>

struct spread {
    double mid, least, most; /* of an even number the upper median */
};

/* Of v[0..n), n > 0, which it puts in order. */
struct spread spread_of(double *v, size_t n);

#endif
