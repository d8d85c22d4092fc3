/*
 * histogram.h - how long things took, in fixed buckets that a monitor reads.
 *
 * One scale for all of the program, 100 us to 60 s in steps of 1, 2.5 and 5, so
 * that histograms of several threads can be added up and those of different
 * things laid side by side. Finer than that a quantile is a guess within its
 * bucket; what is below 100 us or above 60 s is only counted.
 *
 * Threads: one writes (histogram_note), any number look meanwhile and wait for
 * nobody. A look adds up its buckets one after the other, so it never loses an
 * observation and never counts one twice, but the sum may lack one that the
 * buckets have, or the other way round. An observation costs a few nanoseconds:
 * neither a lock nor a locked instruction.
 */
#ifndef URLWEIR_BASE_HISTOGRAM_H
#define URLWEIR_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS 18 /* and one bucket above the last */

/* The upper bounds in ns, rising; each bucket holds its own bound. */
extern const int64_t histogram_bounds[HISTOGRAM_BOUNDS];

/* All zero: empty. */
struct histogram {
    _Atomic uint64_t buckets[HISTOGRAM_BOUNDS + 1];
    _Atomic uint64_t sum; /* ns */
};

/* As it was when somebody looked; not cumulative. All zero: empty. */
struct histogram_stats {
    uint64_t buckets[HISTOGRAM_BOUNDS + 1];
    uint64_t sum; /* ns */
};

/* Something took so long; less than nothing is taken for nothing. The one
 * writer's thread. */
void histogram_note(struct histogram *h, int64_t ns);

/* Adds what `h` holds to *into. */
void histogram_add_to(const struct histogram *h, struct histogram_stats *into);
/* Observations in it. */
uint64_t histogram_count(const struct histogram_stats *s);

#endif
