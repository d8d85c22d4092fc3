/* SPDX-License-Identifier: MIT */
/*
 * sizing.c - how big a filter must be and how often it will be wrong.
 *
 * Given how many keys fell into a block, the lanes are independent, and
 * inclusion and exclusion gives the rate of each; so the rate is a plain sum
 * over that number, which is Poisson. No approximation of the kind (1 - e^-x)^k
 * is used for blocks: with two marks a lane it would be several per cent too
 * low.
 */
#include "filter/sizing.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#define LANES 8

uint64_t sizing_plain_bits(uint64_t keys, double fpr)
{
    return (uint64_t)fmax(1, -(double)keys * log(fpr) / (M_LN2 * M_LN2));
}

unsigned sizing_plain_hashes(uint64_t bits, uint64_t keys)
{
    double k = keys > 0 ? (double)bits / (double)keys * M_LN2 : 1.0;

    return k < 1.5 ? 1 : (unsigned)(k + 0.5);
}

double sizing_plain_rate(uint64_t bits, unsigned k, uint64_t keys)
{
    if (bits == 0)
        return 1.0;
    return pow(-expm1(-(double)k * (double)keys / (double)bits), k);
}

/* One lane after some independent draws of a cell, which may coincide: the
 * chances that they all miss one, two, three given cells. */
struct lane {
    double cells;
    double miss[3], step[3];
};

/* The lane after `drawn` draws; lane_draw() adds `more`. */
static struct lane lane_after(unsigned cells, unsigned drawn, unsigned more)
{
    struct lane l = {.cells = cells};

    for (int i = 0; i < 3; i++) {
        double one = 1 - (i + 1) / l.cells;

        l.miss[i] = pow(one, drawn);
        l.step[i] = pow(one, more);
    }
    return l;
}

static void lane_draw(struct lane *l)
{
    for (int i = 0; i < 3; i++)
        l->miss[i] *= l->step[i];
}

/* Chance that `asked` marks drawn for a new key all hit cells that the draws
 * have marked. */
static double lane_match(const struct lane *l, unsigned asked)
{
    double c = l->cells;
    double one = 1 - l->miss[0];
    double two = 1 - 2 * l->miss[0] + l->miss[1];
    double three = 1 - 3 * l->miss[0] + 3 * l->miss[1] - l->miss[2];

    switch (asked) {
    case 0:
        return 1;
    case 1:
        return one;
    case 2: /* both draws hit one cell, or two cells */
        return one / c + (1 - 1 / c) * two;
    default: /* one cell, two cells, or three */
        return one / (c * c) + 3 * (c - 1) / (c * c) * two +
               (c - 1) * (c - 2) / (c * c) * three;
    }
}

struct spread {
    unsigned first, last;
};

/* The range that holds nearly all of a Poisson distribution; the terms left out
 * sum to less than 1e-14. */
static struct spread poisson_spread(double mean)
{
    double wide = 9 * sqrt(mean) + 20;

    return (struct spread){mean > wide ? (unsigned)(mean - wide) : 0,
                           (unsigned)(mean + wide)};
}

/* Weights of s.first .. s.last, by recurrence from the first. */
static void poisson_weights(double mean, struct spread s, double *weight)
{
    int sign;
    double w = exp(s.first * log(mean) - mean - lgamma_r(s.first + 1.0, &sign));

    for (unsigned j = s.first; j <= s.last; j++) {
        weight[j - s.first] = w;
        w *= mean / (j + 1);
    }
}

static double power4(double x)
{
    return x * x * (x * x);
}

enum { MOST_DRAWS = 4096 };

static double whole_lanes_rate(unsigned each, unsigned cells, double load)
{
    struct spread s = poisson_spread(load);
    struct lane lane = lane_after(cells, s.first * each, each);
    double sum = 0, weight[MOST_DRAWS] = {0};

    if (s.last - s.first >= MOST_DRAWS)
        return 1; /* no filter ever runs at such a load */
    poisson_weights(load, s, weight);
    for (unsigned j = s.first; j <= s.last; j++, lane_draw(&lane)) {
        double match = power4(lane_match(&lane, each));

        sum += weight[j - s.first] * match * match;
    }
    return sum;
}

/* Half the lanes get `each` + 1 marks and the others `each`; a keys chose the
 * half we ask, b the other. Both numbers are Poisson and independent. */
static double half_lanes_rate(unsigned each, unsigned cells, double load)
{
    struct spread s = poisson_spread(load / 2);
    struct lane lane = lane_after(cells, 0, 1);
    double sum = 0, weight[MOST_DRAWS] = {0};
    /* The chance for four lanes, by number of draws. */
    double full[MOST_DRAWS], part[MOST_DRAWS];
    unsigned most = (2 * each + 1) * s.last;

    if (most >= MOST_DRAWS)
        return 1;
    poisson_weights(load / 2, s, weight);
    for (unsigned n = 0; n <= most; n++, lane_draw(&lane)) {
        full[n] = power4(lane_match(&lane, each + 1));
        part[n] = power4(lane_match(&lane, each));
    }
    for (unsigned a = s.first; a <= s.last; a++)
        for (unsigned b = s.first; b <= s.last; b++)
            sum += weight[a - s.first] * weight[b - s.first] *
                   full[(a + b) * each + a] * part[(a + b) * each + b];
    return sum;
}

double sizing_block_rate(unsigned k, unsigned cells, double load)
{
    assert(k > 0 && k % 4 == 0 && k <= SIZING_MOST_K && cells > 3);
    if (load <= 0)
        return 0;
    if (load > cells * (double)LANES * 2)
        return 1;
    return fmin(k % LANES == 0 ? whole_lanes_rate(k / LANES, cells, load)
                               : half_lanes_rate(k / LANES, cells, load),
                1.0);
}

/* The rate at e^at, against `fpr`, as logarithms. */
static double excess(unsigned k, unsigned cells, double fpr, double at)
{
    return log(sizing_block_rate(k, cells, exp(at)) / fpr);
}

/* On logarithmic scales the rate is close to a straight line, so a secant finds
 * it in few steps; the Illinois rule (Dowell and Jarratt, BIT 11, 1971) keeps
 * one end of the interval from standing still. */
double sizing_block_load(unsigned k, unsigned cells, double fpr)
{
    double low = log(1e-3), high = log(cells * (double)LANES * 2);
    double under = excess(k, cells, fpr, low);
    double over = -log(fpr); /* every cell is marked there, nearly */
    int moved = 0;

    while (under < 0 && high - low > 1e-9) {
        double at = low - under * (high - low) / (over - under);
        double e;

        at = fmin(fmax(at, low + 1e-10), high - 1e-10);
        e = excess(k, cells, fpr, at);
        if (e <= 0) {
            over = moved < 0 ? over / 2 : over;
            low = at;
            under = e;
            moved = -1;
        } else {
            under = moved > 0 ? under / 2 : under;
            high = at;
            over = e;
            moved = 1;
        }
    }
    return exp(low);
}

unsigned sizing_block_best(unsigned cells, double fpr, double *load)
{
    unsigned best = 0;
    double most = -1;

    for (unsigned k = 4; k <= SIZING_MOST_K; k += 4) {
        double l = sizing_block_load(k, cells, fpr);

        if (l < most)
            break; /* past the best, loads only fall */
        most = l;
        best = k;
    }
    *load = most;
    return best;
}

/* Mean rate of parts whose loads are spread from full / growth to full. */
static double mean_rate(const struct sizing_curve *c, double full,
                        double growth)
{
    const int steps = 16;
    double sum = 0;

    for (int i = 0; i < steps; i++)
        sum += sizing_curve_rate(c, full * pow(growth, -(i + 0.5) / steps));
    return sum / steps;
}

double sizing_growing_load(unsigned k, unsigned cells, double fpr,
                           double growth)
{
    double low = sizing_block_load(k, cells, fpr), high = low * growth;
    struct sizing_curve c;

    sizing_curve_init(&c, k, cells, low);
    for (int i = 0; i < 30; i++) {
        double mid = (low + high) / 2;

        if (mean_rate(&c, mid, growth) <= fpr)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* A cell stays free with q^draws, q = 1 - 1/cells; the mean of that over a
 * Poisson number of keys is e^(-load * this). */
static double fill_exponent(unsigned k, unsigned cells)
{
    /* Integer division is intended.
     * NOLINTNEXTLINE(bugprone-integer-division) */
    double q = 1 - 1.0 / cells, each = pow(q, k / LANES);

    if (k % LANES == 0)
        return 1 - each;
    return 1 - (each + each * q) / 2;
}

double sizing_block_fill(unsigned k, unsigned cells, double load)
{
    return -expm1(-load * fill_exponent(k, cells));
}

double sizing_block_load_of_fill(unsigned k, unsigned cells, double fill)
{
    return -log1p(-fmin(fill, 1 - 1e-12)) / fill_exponent(k, cells);
}

uint64_t sizing_blocks(uint64_t keys, double load)
{
    double blocks = ceil((double)keys / load);

    return blocks < 1 ? 1 : (uint64_t)blocks;
}

/* Near 0 the rate is a power of the load, so on logarithmic scales straight
 * lines between a few points are close. */
void sizing_curve_init(struct sizing_curve *c, unsigned k, unsigned cells,
                       double load)
{
    c->k = k;
    c->cells = cells;
    c->first = log(load / 8);
    c->step = log(32) / (SIZING_POINTS - 1);
    for (int i = 0; i < SIZING_POINTS; i++)
        c->log_rate[i] =
            log(sizing_block_rate(k, cells, exp(c->first + i * c->step)));
}

double sizing_curve_rate(const struct sizing_curve *c, double load)
{
    double at = load > 0 ? (log(load) - c->first) / c->step : -1;
    int i = (int)at;

    if (at < 0 || at >= SIZING_POINTS - 1)
        return sizing_block_rate(c->k, c->cells, load);
    return exp(c->log_rate[i] +
               (at - i) * (c->log_rate[i + 1] - c->log_rate[i]));
}

double sizing_cuckoo_rate(unsigned fingerprint_bits, unsigned slots,
                          double load)
{
    double values = exp2(fingerprint_bits) - 1;

    return -expm1(2.0 * slots * load * log1p(-1 / values));
}

double sizing_cuckoo_load(unsigned slots)
{
    return slots == 1 ? 0.5 : slots == 2 ? 0.84 : slots == 4 ? 0.95 : 0.98;
}

bool sizing_cuckoo_fills(unsigned fingerprint_bits, unsigned slots,
                         uint64_t keys)
{
    return slots > 1 || keys >> (fingerprint_bits + 8) == 0;
}

unsigned sizing_cuckoo_bits(unsigned slots, double fpr, uint64_t keys)
{
    static const unsigned bits[] = {8, 12, 16, 32};

    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (sizing_cuckoo_rate(bits[i], slots, sizing_cuckoo_load(slots)) <=
                fpr &&
            sizing_cuckoo_fills(bits[i], slots, keys))
            return bits[i];
    return 0;
}

struct sizing_interval sizing_wilson(uint64_t hits, uint64_t n, double z)
{
    double m = (double)n, p, mid, half, scale;

    if (n == 0)
        return (struct sizing_interval){0, 1};
    p = (double)hits / m;
    scale = 1 + z * z / m;
    mid = (p + z * z / (2 * m)) / scale;
    half = z / scale * sqrt(p * (1 - p) / m + z * z / (4 * m * m));
    /* With no hits, or nothing but hits, the end of the interval is exactly 0
     * or 1; rounding would miss it. */
    return (struct sizing_interval){hits > 0 ? fmax(mid - half, 0) : 0,
                                    hits < n ? fmin(mid + half, 1) : 1};
}
