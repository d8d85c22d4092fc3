/*
 * sizing.h - how big a filter must be and how often it will be wrong.
 *
 * Pure arithmetic: no state, any thread, exact beyond 2^32 bits. Blocked
 * layouts are worse than the textbook formula, since some blocks get more keys
 * than others; their rates here sum over that spread (Putze, Sanders, Singler:
 * Cache-, Hash- and Space-Efficient Bloom Filters, 2007, section 3).
 *
 * Words: a *layout* is a block of 8 lanes of `cells` cells each; a key marks
 * `k` cells of one block, dealt to the lanes in turn: every lane gets k / 8 of
 * them, and if 4 are left over, the lanes of one half, chosen by the key, get
 * one more. *load* is the mean number of keys a block.
 */
#ifndef URLWEIR_FILTER_SIZING_H
#define URLWEIR_FILTER_SIZING_H

#include <stdbool.h>
#include <stdint.h>

/* ---- the textbook filter: m bits, k marks anywhere ---- */

/* m = -n ln p / (ln 2)^2, the fraction dropped as Guava does (Broder &
 * Mitzenmacher, Network Applications of Bloom Filters, 2004, section 2.1).
 * `fpr` in (0, 1). */
uint64_t sizing_plain_bits(uint64_t keys, double fpr);
/* k = m / n * ln 2 to the nearest whole number, at least 1. */
unsigned sizing_plain_hashes(uint64_t bits, uint64_t keys);
/* (1 - e^(-kn/m))^k. */
double sizing_plain_rate(uint64_t bits, unsigned k, uint64_t keys);

/* ---- blocks ---- */

#define SIZING_MOST_K 24

/* False-positive rate of blocks that hold `load` keys on average; `k` is a
 * multiple of 4, at most SIZING_MOST_K, `cells` a lane's cells. */
double sizing_block_rate(unsigned k, unsigned cells, double load);
/* The greatest load at which the rate is at most `fpr`. */
double sizing_block_load(unsigned k, unsigned cells, double fpr);
/* The k that allows the greatest load at `fpr`; *load is that load. */
unsigned sizing_block_best(unsigned cells, double fpr, double *load);
/*
 * For filters whose parts grow one by one by the factor `growth` as they fill:
 * the load at which a part must grow so that the rate over all parts, their
 * fill spread evenly (in the logarithm) between just grown and just full, is
 * at most `fpr`. Above sizing_block_load(): most parts are not full.
 */
double sizing_growing_load(unsigned k, unsigned cells, double fpr,
                           double growth);
/* Expected share of cells marked at `load`, and the load that explains a
 * share (Swamidass & Baldi, 2007, for blocks). */
double sizing_block_fill(unsigned k, unsigned cells, double load);
double sizing_block_load_of_fill(unsigned k, unsigned cells, double fill);
/* Blocks for `keys` keys at `load` keys a block, at least 1. */
uint64_t sizing_blocks(uint64_t keys, double load);

/* sizing_block_rate() as a table, for callers that need it thousands of
 * times. */
#define SIZING_POINTS 48
struct sizing_curve {
    unsigned k, cells;
    double first; /* log of the least load in the table */
    double step;  /* in log of load, between two points */
    double log_rate[SIZING_POINTS];
};

/* Exact to 1 % between an eighth of `load` and four times `load`; slower
 * outside that range. */
void sizing_curve_init(struct sizing_curve *c, unsigned k, unsigned cells,
                       double load);
double sizing_curve_rate(const struct sizing_curve *c, double load);

/* ---- cuckoo tables ---- */

/* 1 - (1 - 2^-f)^(2 b load): two buckets of b slots are compared (Fan,
 * Andersen, Kaminsky, Mitzenmacher: Cuckoo Filter, 2014, section 5.1).
 * `load` in [0, 1]; a fingerprint is never 0, hence 2^f - 1 values. */
double sizing_cuckoo_rate(unsigned fingerprint_bits, unsigned slots,
                          double load);
/* The share of slots that can be filled: 0.5, 0.84, 0.95 or 0.98 for buckets of
 * 1, 2, 4 or 8 (the same, section 5.1). */
double sizing_cuckoo_load(unsigned slots);
/* Does a table of so many keys fill to that load? The two buckets of a key are
 * not independent, and the shorter the fingerprint the less (section 4.2);
 * measured, it matters for buckets of one slot: a fingerprint must have 8 bits
 * less than the number of keys. */
bool sizing_cuckoo_fills(unsigned fingerprint_bits, unsigned slots,
                         uint64_t keys);
/* The shortest fingerprint, of 8, 12, 16 or 32 bits, that keeps `fpr` in a full
 * table of so many keys; 0: none does. */
unsigned sizing_cuckoo_bits(unsigned slots, double fpr, uint64_t keys);

/* ---- what a measurement says ---- */

struct sizing_interval {
    double low, high;
};

#define SIZING_Z95 1.959963984540054

/* Wilson's score interval for `hits` among `n` (Wilson, 1927); [0, 1] when n
 * is 0. `z`: standard deviations, SIZING_Z95 for 95 %. */
struct sizing_interval sizing_wilson(uint64_t hits, uint64_t n, double z);

#endif
