/* SPDX-License-Identifier: MIT */
/*
 * refresh_rate.c - how often a page changes, and when it is worth a request.
 *
 * With u the natural logarithm of the rate and x = rate * gap, an observation
 * has the score d/du log P = x / (e^x - 1) if the page has changed, else -x,
 * and the Fisher information x^2 / (e^x - 1), 0.65 at most. So a fetch long
 * after many changes moves hardly anything, and one that finds no change then
 * moves much, as it should. A bound on the step holds where the quadratic
 * approximation does not.
 *
 *   bits 32..62   (u + U_SPAN) * 2^U_BITS; it is never 0
 *   bits  0..31   weight * 2^W_BITS; 0: a guess, which weighs W_LEAST
 */
#include "frontier/refresh/refresh_rate.h"

#include <math.h>

#define U_SPAN   64 /* rates from e^-64 to e^63 a millisecond */
#define U_BITS   24
#define W_BITS   24
#define W_LEAST  0.5  /* of what is assumed: less than one good observation */
#define KEPT     0.95 /* of the weight, at each fetch: the last 20 count */
#define STEP     1.5
#define X_MOST   50 /* e^x is far above what matters */
#define U_LEAST  (-60.0)
#define U_MOST   60.0
#define WORTH_LO 1e-6
#define WORTH_HI 60.0

struct belief {
    double u, weight;
};

bool refresh_rate_is_told(uint64_t known)
{
    return (known & UINT32_MAX) != 0;
}

static double between(double low, double v, double high)
{
    return v < low ? low : v > high ? high : v;
}

static struct belief unpack(uint64_t known, double first)
{
    struct belief b = {between(U_LEAST, log(first), U_MOST), W_LEAST};

    if (known >> 32 != 0) {
        b.u = (double)(known >> 32) / (1 << U_BITS) - U_SPAN;
        if (refresh_rate_is_told(known))
            b.weight = (double)(known & UINT32_MAX) / (1 << W_BITS);
    }
    return b;
}

static uint64_t pack(const struct belief *b)
{
    uint64_t u = (uint64_t)((b->u + U_SPAN) * (1 << U_BITS));

    return u << 32 | (uint64_t)(b->weight * (1 << W_BITS));
}

uint64_t refresh_rate_note(uint64_t known, double first, int64_t gap_ms,
                           bool changed)
{
    struct belief b = unpack(known, first);
    double x = between(1e-12, exp(b.u) * (double)gap_ms, X_MOST);
    double odds = expm1(x);
    double score = changed ? x / odds : -x;

    b.weight = between(W_LEAST, b.weight * KEPT + x * x / odds, 64);
    b.u += between(-STEP, score / b.weight, STEP);
    b.u = between(U_LEAST, b.u, U_MOST);
    return pack(&b);
}

uint64_t refresh_rate_guess(double rate)
{
    const struct belief b = {unpack(0, rate).u, 0};

    return pack(&b);
}

double refresh_rate(uint64_t known, double first)
{
    return exp(unpack(known, first).u);
}

double refresh_freshness(double rate, double ms)
{
    double x = rate * ms;

    return x < 1e-9 ? 1 : -expm1(-x) / x;
}

/* The time that one more request at x = rate * interval brings, times the rate:
 * the derivative of freshness by the frequency of requests. Rises from 0 to 1.
 */
static double marginal(double x)
{
    return -expm1(-x) - x * exp(-x);
}

double refresh_worth(double rate, double price_ms)
{
    double low = WORTH_LO, high = WORTH_HI, y = rate * price_ms;

    if (y <= 0)
        return 0;
    if (y >= marginal(WORTH_HI))
        return INFINITY;
    for (int i = 0; i < 40; i++) { /* bisection of the logarithm: 1e-11 */
        double x = sqrt(low * high);

        *(marginal(x) < y ? &low : &high) = x;
    }
    return low / rate;
}
