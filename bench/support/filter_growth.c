/* SPDX-License-Identifier: MIT */
/*
 * filter_growth.c - filters that grow, one key a call, to the very last pause.
 *
 * The digests of all keys are kept by prefix, as in the exact set. Rebuilds are
 * the slowest inserts, so the 99.9th percentile of rebuilds is computed from
 * the slowest inserts.
 */
#include "bench/support/filter_growth.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/support/filter_aims.h"
#include "cli/filter/filter_measure.h"

#define ASKED 2000896 /* whole batches of 1024 */

/* How much of the filter is in huge pages. */
const char *growth_huge_word(const struct filter_stats *s, uint64_t huge)
{
    static char text[64];
    uint64_t bytes = s->bits / 8;

    snprintf(text, sizeof text, "%5.1f of %5.1f",
             (double)(huge < bytes ? huge : bytes) / (1 << 20),
             (double)bytes / (1 << 20));
    return text;
}

struct digests {
    uint64_t *keys[4096];
    uint32_t count[4096], cap[4096];
};

static void digests_add(struct digests *d, uint64_t key)
{
    uint32_t p = (uint32_t)(key >> 52);

    if (d->count[p] == d->cap[p]) {
        d->cap[p] = d->cap[p] * 2 + 64;
        d->keys[p] = xrealloc(d->keys[p], d->cap[p] * sizeof(uint64_t));
    }
    d->keys[p][d->count[p]++] = key;
}

static enum status digests_of(void *ctx, uint64_t first, uint64_t last,
                              void (*visit)(void *to, const uint64_t *keys,
                                            size_t n),
                              void *to)
{
    struct digests *d = ctx;

    for (uint64_t p = first >> 52; p <= last >> 52; p++)
        visit(to, d->keys[p], d->count[p]);
    return STATUS_OK;
}

/* Times of single inserts, in steps of a microsecond. */
enum { MOST_US = 20000 };
struct pauses {
    uint64_t of[MOST_US + 1];
    double worst_ms;
};

static void note(struct pauses *p, int64_t ns)
{
    uint64_t us = ns > 0 ? (uint64_t)ns / 1000 : 0;

    p->of[us < MOST_US ? us : MOST_US]++;
    if ((double)ns / 1e6 > p->worst_ms)
        p->worst_ms = (double)ns / 1e6;
}

/* The ms that all but `rank` inserts stayed below. */
static double below(const struct pauses *p, uint64_t rank)
{
    uint64_t seen = 0;
    size_t us = MOST_US;

    while (us > 0 && (seen += p->of[us]) <= rank)
        us--;
    return (double)(us + 1) / 1000;
}

/* The cost of reading the clock twice: the least of many rounds, since an
 * interrupted one would make inserts cost less than nothing. */
static int64_t clock_cost(void)
{
    enum { ROUNDS = 50, TIMES = 1000 };
    int64_t least = INT64_MAX;

    for (int round = 0; round < ROUNDS; round++) {
        int64_t t = filter_measure_now();

        for (int i = 0; i < TIMES; i++)
            (void)filter_measure_now();
        t = (filter_measure_now() - t) / TIMES;
        least = t < least ? t : least;
    }
    return least;
}

/* Adds one key a call, to find the worst pause. */
static void add_single(struct filter *f, struct digests *d, uint64_t from,
                       uint64_t until, struct pauses *p, int64_t *all)
{
    int64_t clock = clock_cost();

    for (uint64_t i = from; i < until; i++) {
        uint64_t key = filter_measure_key(i);
        int64_t t;

        digests_add(d, key);
        t = filter_measure_now();
        if (filter_add(f, &key, 1, NULL) != STATUS_OK)
            abort();
        t = filter_measure_now() - t - clock;
        *all += t;
        note(p, t);
    }
}

struct growth {
    const char *kind;
    double fpr;
    struct filter *f;
    struct digests *d;
    struct pauses *p;
    uint64_t n, rebuilds; /* so far */
};

/* Returns ns a check of new keys, in batches. */
static double measure_rate(const struct filter *f, struct sizing_interval *w)
{
    uint64_t keys[1024], wrong = 0;
    bool maybe[1024];
    int64_t all = 0;

    for (uint64_t i = 0; i < ASKED; i += 1024) {
        int64_t t;

        for (uint64_t j = 0; j < 1024; j++)
            keys[j] = filter_measure_key((UINT64_C(1) << 62) + i + j);
        t = filter_measure_now();
        filter_check(f, keys, 1024, maybe);
        all += filter_measure_now() - t;
        for (size_t j = 0; j < 1024; j++)
            wrong += maybe[j];
    }
    *w = sizing_wilson(wrong, ASKED, SIZING_Z95);
    return (double)all / ASKED;
}

/* Notes the targets of a crawl's kind, at every step. */
static void note_step(const struct growth *g, const struct filter_stats *s,
                      double rate_high, double rebuild_ms)
{
    if (strcmp(g->kind, "scalable") != 0)
        return;
    aim_note("scalable: upper bound of the rate at every step, of the promise",
             rate_high / g->fpr, AIM_AT_MOST, 1, "x");
    aim_note("scalable: 99.9 % of rebuilds", rebuild_ms, AIM_AT_MOST, 0.5,
             "ms");
    aim_note("scalable: the slowest insert", g->p->worst_ms, AIM_AT_MOST, 5,
             "ms");
    if (g->n >= 10000000)
        aim_note("scalable: memory from 10M keys on",
                 (double)s->bits / (double)g->n, AIM_AT_MOST, 17.5,
                 "bits a key");
}

/* Compares with a filter of fixed size for as many keys, measured now on the
 * same machine. */
static void note_miss(const struct growth *g, double miss)
{
    struct filter_measured m;

    if (strcmp(g->kind, "scalable") == 0 &&
        filter_measure(&m, "bloom", g->n, g->n, g->fpr) == STATUS_OK)
        aim_note("scalable: a batched miss, in those of a fixed size",
                 miss / m.miss, AIM_AT_MOST, 2, "x");
}

static void grow(struct growth *g, uint64_t step, bool compare)
{
    uint64_t more = step - g->n;
    struct sizing_interval w;
    struct filter_stats s;
    int64_t all = 0;
    double miss, rebuild_ms;

    memset(g->p, 0, sizeof *g->p);
    add_single(g->f, g->d, g->n, step, g->p, &all);
    g->n = step;
    miss = measure_rate(g->f, &w);
    filter_stats(g->f, &s);
    rebuild_ms = below(g->p, (s.rebuilds - g->rebuilds) / 1000);
    printf("%11" PRIu64 " %8.1f %7.1f %7.2f   %.6f to %.6f %10.3f %9.2f  %s\n",
           g->n, (double)all / (double)more, miss,
           (double)s.bits / (double)g->n, w.low, w.high, rebuild_ms,
           g->p->worst_ms, growth_huge_word(&s, filter_measure_huge()));
    fflush(stdout);
    g->rebuilds = s.rebuilds;
    note_step(g, &s, w.high, rebuild_ms);
    if (compare)
        note_miss(g, miss);
}

/* The number of added keys that are called new: must be 0. */
static uint64_t count_lost(const struct filter *f, uint64_t n)
{
    uint64_t keys[1024], lost = 0;
    bool maybe[1024];

    for (uint64_t i = 0; i < n; i += 1024) {
        size_t m = n - i < 1024 ? (size_t)(n - i) : 1024;

        for (size_t j = 0; j < m; j++)
            keys[j] = filter_measure_key(i + j);
        filter_check(f, keys, m, maybe);
        for (size_t j = 0; j < m; j++)
            lost += !maybe[j];
    }
    return lost;
}

static void finish(struct growth *g)
{
    uint64_t lost = count_lost(g->f, g->n);

    printf("\nKeys that were added and are called new: %" PRIu64 " of %" PRIu64
           "\n\n",
           lost, g->n);
    aim_note("keys called new although added", (double)lost, AIM_AT_MOST, 0,
             "");
    filter_free(g->f);
    for (size_t i = 0; i < 4096; i++)
        free(g->d->keys[i]);
    free(g->d);
    free(g->p);
}

void bench_growth(const char *kind, uint64_t middle, uint64_t until, double fpr)
{
    struct growth g = {.kind = kind,
                       .fpr = fpr,
                       .d = xcalloc(1, sizeof *g.d),
                       .p = xcalloc(1, sizeof *g.p)};
    struct filter_options o = {.kind = kind,
                               .expect = 100000,
                               .fpr = fpr,
                               .source = {digests_of, g.d}};
    uint64_t power = 1 << 17;

    if (filter_new(&g.f, &o) != STATUS_OK)
        abort();
    printf("%s, made for 100000 keys, grown one by one, %g promised\n\n", kind,
           fpr);
    printf("%11s %8s %7s %7s   %-20s %10s %9s   %s\n", "keys", "insert", "miss",
           "bits", "false maybe, 95 %", "rebuild ms", "worst ms", "huge MiB");
    while (g.n < until) {
        uint64_t step = power < until ? power : until;

        if (g.n < middle && middle < step)
            step = middle;
        grow(&g, step, step == middle || step == until);
        power *= step == power ? 2 : 1;
    }
    finish(&g);
}
