/*
 * keys.h - keys for the filter tests, and a key source that remembers them.
 */
#ifndef URLWEIR_TESTS_FILTER_KEYS_H
#define URLWEIR_TESTS_FILTER_KEYS_H

#include <stdlib.h>

#include "base/mem.h"
#include "filter/filter.h"

/* Sanitizers slow everything about tenfold, so sizes shrink for them. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FEWER(n) ((n) / 8)
#else
#define FEWER(n) (n)
#endif

/* Returns the nth of a fixed sequence of distinct, evenly spread keys
 * (SplitMix64). Filters in memory have no seed, so a rate measured with these
 * keys is the same in every run: a test can only start to fail if the code
 * changes. */
static inline uint64_t nth_key(uint64_t n)
{
    uint64_t x = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Adds keys first .. first + n - 1 of that sequence, in batches. */
static inline enum status add_range(struct filter *f, uint64_t first,
                                    uint64_t n)
{
    enum status st = STATUS_OK;
    uint64_t keys[512];

    for (uint64_t i = 0; i < n; i += 512) {
        size_t m = n - i < 512 ? (size_t)(n - i) : 512;
        enum status one;

        for (size_t j = 0; j < m; j++)
            keys[j] = nth_key(first + i + j);
        one = filter_add(f, keys, m, NULL);
        if (one != STATUS_OK)
            st = one;
    }
    return st;
}

/* Counts how many of them the filter calls "maybe". */
static inline uint64_t count_maybe(const struct filter *f, uint64_t first,
                                   uint64_t n)
{
    uint64_t keys[512], hits = 0;
    bool maybe[512];

    for (uint64_t i = 0; i < n; i += 512) {
        size_t m = n - i < 512 ? (size_t)(n - i) : 512;

        for (size_t j = 0; j < m; j++)
            keys[j] = nth_key(first + i + j);
        filter_check(f, keys, m, maybe);
        for (size_t j = 0; j < m; j++)
            hits += maybe[j];
    }
    return hits;
}

/* Gives a filter what an exact set would: every key, by prefix. */
struct remembered {
    uint64_t *keys[4096];
    uint32_t count[4096], cap[4096];
    enum status fail; /* returned instead, unless STATUS_OK */
    uint64_t asked;
};

static inline void remember(struct remembered *r, uint64_t key)
{
    uint32_t s = (uint32_t)(key >> 52);

    if (r->count[s] == r->cap[s]) {
        r->cap[s] = r->cap[s] * 2 + 8;
        r->keys[s] = xrealloc(r->keys[s], r->cap[s] * sizeof(uint64_t));
    }
    r->keys[s][r->count[s]++] = key;
}

static inline void remember_range(struct remembered *r, uint64_t first,
                                  uint64_t n)
{
    for (uint64_t i = first; i < first + n; i++)
        remember(r, nth_key(i));
}

static inline enum status remembered_keys_of(
    void *ctx, uint64_t first, uint64_t last,
    void (*visit)(void *to, const uint64_t *keys, size_t n), void *to)
{
    struct remembered *r = ctx;

    r->asked++;
    if (r->fail != STATUS_OK)
        return r->fail;
    for (uint64_t s = first >> 52; s <= last >> 52; s++)
        if (r->count[s] > 0)
            visit(to, r->keys[s], r->count[s]);
    return STATUS_OK;
}

static inline struct filter_source source_of(struct remembered *r)
{
    return (struct filter_source){remembered_keys_of, r};
}

static inline void forget_all(struct remembered *r)
{
    for (size_t s = 0; s < 4096; s++)
        free(r->keys[s]);
    free(r);
}

#endif
