/* SPDX-License-Identifier: MIT */
/* rate.c - how fast a counter grows. */
#include "base/rate.h"

#include <math.h>

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
