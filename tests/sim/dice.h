/*
 * dice.h - numbers from a seed.
 *
 * Each part of a simulation throws dice of its own, made of the seed and a word
 * that names the part, so that a change to one part leaves the others as they
 * were under the same seed. The generator is SplitMix64 (Steele, Lea, Flood
 * 2014).
 */
#ifndef URLWEIR_TESTS_SIM_DICE_H
#define URLWEIR_TESTS_SIM_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint64_t dice_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t dice_next(struct dice *d)
{
    d->state += UINT64_C(0x9e3779b97f4a7c15);
    return dice_mix(d->state);
}

static inline struct dice dice_of(uint64_t seed, const char *part)
{
    struct dice d = {dice_mix(seed + 1)};

    for (; *part != '\0'; part++)
        d.state = dice_mix(d.state + (unsigned char)*part);
    return d;
}

/* 0 to n - 1. */
static inline unsigned dice_below(struct dice *d, unsigned n)
{
    return (unsigned)(dice_next(d) >> 33) % n;
}

/* From `least` to `most`, both included. */
static inline int64_t dice_between(struct dice *d, int64_t least, int64_t most)
{
    return least +
           (int64_t)((dice_next(d) >> 1) % (uint64_t)(most - least + 1));
}

/* 1 to 2^bits, small numbers as often as large ones. */
static inline uint64_t dice_nth(struct dice *d, unsigned bits)
{
    return 1 + dice_next(d) % (UINT64_C(1) << dice_below(d, bits + 1));
}

/* True in so many of a hundred throws. */
static inline bool dice_chance(struct dice *d, unsigned percent)
{
    return dice_below(d, 100) < percent;
}

#endif
