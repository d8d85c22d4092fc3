/* SPDX-License-Identifier: MIT */
/*
 * filter_measure.c - what one kind of filter costs on this machine.
 *
 * Making keys is not timed. Checks hit the whole filter in random order;
 * otherwise we would measure caches instead of memory.
 */
#include "cli/filter/filter_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

#define BATCH 1024
#define ASKED UINT64_C(2000000)

int64_t filter_measure_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* proc(5), smaps_rollup: "AnonHugePages:    2048 kB". */
uint64_t filter_measure_huge(void)
{
    static const char name[] = "AnonHugePages:";
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    char line[256];
    uint64_t kib = 0;

    if (f == NULL)
        return 0;
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, sizeof name - 1) == 0)
            kib = strtoull(line + sizeof name - 1, NULL, 10);
    fclose(f);
    return kib << 10;
}

uint64_t filter_measure_key(uint64_t n)
{
    uint64_t x = (n + 1) * UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Stands in for the exact set: the filter's keys by prefix, found without
 * delay. */
struct known {
    uint64_t *keys[4096];
    uint32_t count[4096], cap[4096];
};

static void known_add(struct known *k, uint64_t key)
{
    uint32_t p = (uint32_t)(key >> 52);

    if (k->count[p] == k->cap[p]) {
        k->cap[p] = k->cap[p] + k->cap[p] / 2 + 64;
        k->keys[p] = xrealloc(k->keys[p], k->cap[p] * sizeof(uint64_t));
    }
    k->keys[p][k->count[p]++] = key;
}

static enum status known_keys(void *ctx, uint64_t first, uint64_t last,
                              void (*visit)(void *to, const uint64_t *keys,
                                            size_t n),
                              void *to)
{
    struct known *k = ctx;

    for (uint64_t p = first >> 52; p <= last >> 52; p++)
        if (k->count[p] > 0)
            visit(to, k->keys[p], k->count[p]);
    return STATUS_OK;
}

static void known_free(struct known *k)
{
    for (size_t i = 0; i < 4096; i++)
        free(k->keys[i]);
    free(k);
}

struct filter_probe {
    struct filter *filter;
    struct known *known; /* NULL: the kind needs none */
    uint64_t keys;       /* keys 0 .. keys - 1 are in it */
};

enum status filter_probe_new(struct filter_probe **out, const char *kind,
                             uint64_t start, uint64_t most, double fpr)
{
    struct filter_options o = {.kind = kind, .expect = start, .fpr = fpr};
    const struct filter_traits *traits = filter_kind_named(kind);
    struct filter_probe *p;
    enum status st;

    if (traits == NULL)
        return STATUS_ARG;
    p = xcalloc(1, sizeof *p);
    if (traits->needs_keys && start < most) {
        p->known = xcalloc(1, sizeof *p->known);
        o.source = (struct filter_source){known_keys, p->known};
    }
    o.keep_nothing = p->known == NULL;
    st = filter_new(&p->filter, &o);
    if (st != STATUS_OK) {
        filter_probe_free(p);
        return st;
    }
    *out = p;
    return STATUS_OK;
}

void filter_probe_free(struct filter_probe *p)
{
    if (p == NULL)
        return;
    filter_free(p->filter);
    if (p->known != NULL)
        known_free(p->known);
    free(p);
}

struct filter *filter_probe_filter(struct filter_probe *p)
{
    return p->filter;
}

struct filter_source filter_probe_source(const struct filter_probe *p)
{
    return (struct filter_source){p->known != NULL ? known_keys : NULL,
                                  p->known};
}

enum status filter_probe_fill(struct filter_probe *p, uint64_t upto,
                              double *insert_ns, double *worst_ms)
{
    uint64_t keys[BATCH], n = upto - p->keys;
    int64_t all = 0, worst = 0;

    while (p->keys < upto) {
        uint64_t left = upto - p->keys;
        size_t m = left < BATCH ? (size_t)left : BATCH;
        enum status st;
        int64_t t;

        for (size_t j = 0; j < m; j++) {
            keys[j] = filter_measure_key(p->keys + j);
            if (p->known != NULL)
                known_add(p->known, keys[j]);
        }
        t = filter_measure_now();
        st = filter_add(p->filter, keys, m, NULL);
        t = filter_measure_now() - t;
        all += t;
        worst = t > worst ? t : worst;
        if (st != STATUS_OK && st != STATUS_LIMIT)
            return st;
        p->keys += m;
    }
    *insert_ns = n > 0 ? (double)all / (double)n : 0;
    *worst_ms = (double)worst / 1e6;
    return STATUS_OK;
}

/* Returns ns a check; `held` > 0: of keys 0 .. held - 1, else of new ones.
 * *maybes: how many were "maybe". `asked` is a multiple of BATCH. */
static double ask_batched(const struct filter *f, uint64_t asked, uint64_t held,
                          uint64_t *maybes)
{
    uint64_t keys[BATCH];
    bool maybe[BATCH];
    int64_t all = 0;

    *maybes = 0;
    for (uint64_t i = 0; i < asked; i += BATCH) {
        int64_t t;

        for (uint64_t j = 0; j < BATCH; j++)
            keys[j] =
                filter_measure_key(held > 0 ? filter_measure_key(i + j) % held
                                            : (UINT64_C(1) << 62) + i + j);
        t = filter_measure_now();
        filter_check(f, keys, BATCH, maybe);
        all += filter_measure_now() - t;
        for (size_t j = 0; j < BATCH; j++)
            *maybes += maybe[j];
    }
    return (double)all / (double)asked;
}

double filter_probe_miss(const struct filter_probe *p, uint64_t asked,
                         uint64_t *maybes)
{
    return ask_batched(p->filter, (asked + BATCH - 1) / BATCH * BATCH, 0,
                       maybes);
}

static double ask_single(const struct filter *f, uint64_t held)
{
    const size_t rounds = 200000;
    uint64_t *keys = xmalloc(rounds * sizeof *keys);
    unsigned seen = 0;
    int64_t t;

    for (uint64_t i = 0; i < rounds; i++)
        keys[i] =
            filter_measure_key(held > 0 ? filter_measure_key(i + ASKED) % held
                                        : (UINT64_C(1) << 61) + i);
    t = filter_measure_now();
    for (size_t i = 0; i < rounds; i++)
        seen += filter_check_one(f, keys[(i + seen % 2) % rounds]);
    t = filter_measure_now() - t;
    free(keys);
    return (double)t / (double)rounds;
}

/* Adds the last keys one by one; growth among them counts. */
static enum status insert_singly(struct filter_probe *p, uint64_t upto,
                                 double *ns)
{
    uint64_t n = upto - p->keys, *keys = xmalloc((n + 1) * sizeof *keys);
    enum status st = STATUS_OK;
    int64_t t;

    for (uint64_t i = 0; i < n; i++) {
        keys[i] = filter_measure_key(p->keys + i);
        if (p->known != NULL)
            known_add(p->known, keys[i]);
    }
    t = filter_measure_now();
    for (uint64_t i = 0; i < n; i++) {
        st = filter_add(p->filter, &keys[i], 1, NULL);
        if (st != STATUS_OK && st != STATUS_LIMIT)
            break;
    }
    t = filter_measure_now() - t;
    p->keys = upto;
    *ns = n > 0 ? (double)t / (double)n : 0;
    free(keys);
    return st == STATUS_LIMIT ? STATUS_OK : st;
}

enum status filter_measure(struct filter_measured *out, const char *kind,
                           uint64_t start, uint64_t keys, double fpr)
{
    struct filter_probe *p = NULL;
    uint64_t maybes, singly = keys / 10 < 100000 ? keys / 10 : 100000;
    enum status st = filter_probe_new(&p, kind, start, keys, fpr);

    memset(out, 0, sizeof *out);
    if (st == STATUS_OK)
        st = filter_probe_fill(p, keys - singly, &out->insert,
                               &out->insert_worst_ms);
    if (st == STATUS_OK)
        st = insert_singly(p, keys, &out->insert_single);
    if (st == STATUS_OK) {
        const struct filter *f = p->filter;

        out->asked = (ASKED + BATCH - 1) / BATCH * BATCH;
        out->miss = ask_batched(f, out->asked, 0, &out->false_positives);
        out->hit = ask_batched(f, out->asked, keys, &maybes);
        out->false_negatives = out->asked - maybes;
        out->miss_single = ask_single(f, 0);
        out->hit_single = ask_single(f, keys);
        out->fpr = sizing_wilson(out->false_positives, out->asked, SIZING_Z95);
        filter_stats(f, &out->stats);
        out->huge_bytes = filter_measure_huge();
    }
    filter_probe_free(p);
    return st;
}
