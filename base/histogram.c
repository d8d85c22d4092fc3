/* SPDX-License-Identifier: MIT */
/*
 * histogram.c - fixed buckets of times.
 *
 * We find the bucket by counting the bounds below the time: eighteen
 * comparisons without a branch, which the compiler turns into a few vector
 * instructions, cost less than one mispredicted branch.
 */
#include "base/histogram.h"

#include <math.h>

#include "base/clock.h"

/* clang-format off */
const int64_t histogram_bounds[HISTOGRAM_BOUNDS] = {
     100 * NS_PER_US,  250 * NS_PER_US,  500 * NS_PER_US,
       1 * NS_PER_MS, 2500 * NS_PER_US,    5 * NS_PER_MS,
      10 * NS_PER_MS,   25 * NS_PER_MS,   50 * NS_PER_MS,
     100 * NS_PER_MS,  250 * NS_PER_MS,  500 * NS_PER_MS,
       1 * NS_PER_S,  2500 * NS_PER_MS,    5 * NS_PER_S,
      10 * NS_PER_S,    30 * NS_PER_S,    60 * NS_PER_S,
};
/* clang-format on */

/* There is only one writer, so the value cannot change between read and
 * write. */
static void histogram_add(_Atomic uint64_t *to, uint64_t n)
{
    atomic_store_explicit(to,
                          atomic_load_explicit(to, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

void histogram_note(struct histogram *h, int64_t ns)
{
    unsigned above = 0;

    if (ns < 0)
        ns = 0;
    for (unsigned i = 0; i < HISTOGRAM_BOUNDS; i++)
        above += ns > histogram_bounds[i];
    histogram_add(&h->buckets[above], 1);
    histogram_add(&h->sum, (uint64_t)ns);
}

void histogram_add_to(const struct histogram *h, struct histogram_stats *into)
{
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++)
        into->buckets[i] +=
            atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
    into->sum += atomic_load_explicit(&h->sum, memory_order_relaxed);
}

uint64_t histogram_count(const struct histogram_stats *s)
{
    uint64_t n = 0;

    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++)
        n += s->buckets[i];
    return n;
}

/* ---- how fast a counter grows ---- */

#define SMOOTH_MS 10000.0 /* time constant */

void rate_follow(double *rate, uint64_t before, uint64_t now, int64_t ms)
{
    double weight, lately;

    if (now < before || ms <= 0)
        return;
    weight = *rate > 0 ? 1 - exp(-(double)ms / SMOOTH_MS) : 1;
    lately = (double)(now - before) * 1000.0 / (double)ms;
    *rate += (lately - *rate) * weight;
}
