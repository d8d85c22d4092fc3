/* SPDX-License-Identifier: MIT */
/*
 * bench_filter.c - membership filters: ours of a fixed size beside libbloom
 * (where it is installed), the one that grows at every power of two, and all
 * kinds in one table.
 *
 * KEYS=N and FPR=P change the size (10M) and the rate (0.001) of the tables;
 * LONG=1 grows to 100M. Times are nanoseconds of CPU a key, on one thread.
 * libbloom has no batches and hashes what it is given, 8 octets here; ours is
 * given the digest a crawl has already.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "cli/filter_measure.h"
#include "filter/block.h"

#if __has_include(<bloom.h>)
#include <bloom.h>
#define HAVE_LIBBLOOM 1
#else
#define HAVE_LIBBLOOM 0
#endif

#define ASKED 2000000

static uint64_t env_number(const char *name, double fallback)
{
    const char *text = getenv(name);

    return (uint64_t)(text != NULL ? strtod(text, NULL) : fallback);
}

static double env_rate(void)
{
    const char *text = getenv("FPR");

    return text != NULL ? strtod(text, NULL) : 0.001;
}

/* ---- fixed size, and libbloom ---- */

static void print_fixed(const char *name, double insert, double hit,
                        double miss, double bits, uint64_t wrong,
                        uint64_t asked, double than)
{
    struct sizing_interval w = sizing_wilson(wrong, asked, SIZING_Z95);

    printf("%-16s %7.1f %7.1f %7.1f %7.2f   %.5f to %.5f", name, insert, hit,
           miss, bits, w.low, w.high);
    if (than > 0)
        printf("   %5.1f x", than / miss);
    printf("\n");
    fflush(stdout);
}

#if HAVE_LIBBLOOM

struct libbloom {
    int (*init)(struct bloom *b, int entries, double error);
    int (*check)(struct bloom *b, const void *key, int len);
    int (*add)(struct bloom *b, const void *key, int len);
    void (*fini)(struct bloom *b);
};

/* Looked up by name, so that the benchmark is built without it. */
static bool find_libbloom(struct libbloom *l)
{
    void *lib = dlopen("libbloom.so.1", RTLD_NOW);

    if (lib == NULL)
        return false;
    *(void **)&l->init = dlsym(lib, "bloom_init");
    *(void **)&l->check = dlsym(lib, "bloom_check");
    *(void **)&l->add = dlsym(lib, "bloom_add");
    *(void **)&l->fini = dlsym(lib, "bloom_free");
    return l->init != NULL && l->check != NULL && l->add != NULL &&
           l->fini != NULL;
}

static double ask_libbloom(const struct libbloom *l, struct bloom *b,
                           uint64_t held, uint64_t *maybes)
{
    uint64_t *keys = xmalloc(ASKED * sizeof *keys);
    int64_t t;

    for (uint64_t i = 0; i < ASKED; i++)
        keys[i] = filter_measure_key(held > 0 ? filter_measure_key(i) % held
                                              : (UINT64_C(1) << 62) + i);
    *maybes = 0;
    t = filter_measure_now();
    for (size_t i = 0; i < ASKED; i++)
        *maybes += l->check(b, &keys[i], 8) == 1;
    t = filter_measure_now() - t;
    free(keys);
    return (double)t / ASKED;
}

/* Its miss in ns, 0: it is not there. */
static double bench_libbloom(uint64_t n, double fpr)
{
    struct libbloom l;
    struct bloom b;
    uint64_t wrong, right;
    double insert, hit, miss;
    int64_t t;

    if (!find_libbloom(&l) || l.init(&b, (int)n, fpr) != 0)
        return 0;
    t = filter_measure_now();
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = filter_measure_key(i);

        l.add(&b, &key, 8);
    }
    insert = (double)(filter_measure_now() - t) / (double)n;
    miss = ask_libbloom(&l, &b, 0, &wrong);
    hit = ask_libbloom(&l, &b, n, &right);
    print_fixed("libbloom", insert, hit, miss, 8.0 * b.bytes / (double)n, wrong,
                ASKED, 0);
    l.fini(&b);
    return miss;
}

#else

static double bench_libbloom(uint64_t n, double fpr)
{
    (void)n;
    (void)fpr;
    return 0;
}

#endif

static void bench_fixed(uint64_t n, double fpr)
{
    static const char *const names[] = {"bloom, scalar", "bloom, avx2",
                                        "bloom, avx512"};
    double than;

    printf("Fixed size, %" PRIu64 " keys at %g\n\n", n, fpr);
    printf("%-16s %7s %7s %7s %7s   %s\n", "", "insert", "hit", "miss", "bits",
           "false maybe, 95 %");
    than = bench_libbloom(n, fpr);
    if (than == 0)
        printf("%-16s not installed\n", "libbloom");
    for (int isa = BLOCK_SCALAR; isa <= BLOCK_AVX512; isa++) {
        struct filter_measured m;

        if (!block_use((enum block_isa)isa) ||
            filter_measure(&m, "bloom", n, n, fpr) != STATUS_OK)
            continue;
        print_fixed(names[isa], m.insert, m.hit, m.miss,
                    (double)m.stats.bits / (double)n, m.false_positives,
                    m.asked, than);
    }
    printf("\n");
}

/* ---- one that grows ---- */

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

/* How long single inserts took, in steps of a microsecond. */
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

/* ms that all but `rank` inserts stayed below. */
static double below(const struct pauses *p, uint64_t rank)
{
    uint64_t seen = 0;
    size_t us = MOST_US;

    while (us > 0 && (seen += p->of[us]) <= rank)
        us--;
    return (double)(us + 1) / 1000;
}

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
    *w = sizing_wilson(wrong, (ASKED + 1023) / 1024 * 1024, SIZING_Z95);
    return (double)all / ((ASKED + 1023) / 1024 * 1024);
}

/* What asking the clock twice takes. */
static int64_t clock_cost(void)
{
    enum { TIMES = 10000 };
    int64_t t = filter_measure_now();

    for (int i = 0; i < TIMES; i++)
        (void)filter_measure_now();
    return (filter_measure_now() - t) / TIMES;
}

/* One key a call, as the worst pause needs it. */
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

static void bench_growth(const char *kind, uint64_t until, double fpr)
{
    struct digests *d = xcalloc(1, sizeof *d);
    struct pauses *p = xcalloc(1, sizeof *p);
    struct filter_options o = {.kind = kind,
                               .expect = 100000,
                               .fpr = fpr,
                               .source = {digests_of, d}};
    uint64_t n = 0, rebuilds = 0;
    struct filter *f = NULL;
    struct filter_stats s;

    if (filter_new(&f, &o) != STATUS_OK)
        abort();
    printf("%s, made for 100000 keys, grown one by one, %g promised\n\n", kind,
           fpr);
    printf("%11s %8s %7s %7s   %-20s %10s %9s\n", "keys", "insert", "miss",
           "bits", "false maybe, 95 %", "rebuild ms", "worst ms");
    for (uint64_t step = 1 << 17; n < until;
         step = step * 2 < until ? step * 2 : until) {
        struct sizing_interval w;
        uint64_t more = step - n;
        int64_t all = 0;
        double miss;

        memset(p, 0, sizeof *p);
        add_single(f, d, n, step, p, &all);
        n = step;
        miss = measure_rate(f, &w);
        filter_stats(f, &s);
        /* Rebuilds are the longest inserts; the 99.9th percentile of them. */
        printf("%11" PRIu64 " %8.1f %7.1f %7.2f   %.6f to %.6f %10.3f %9.2f\n",
               n, (double)all / (double)more, miss, (double)s.bits / (double)n,
               w.low, w.high, below(p, (s.rebuilds - rebuilds) / 1000),
               p->worst_ms);
        fflush(stdout);
        rebuilds = s.rebuilds;
    }
    printf("\n");
    filter_free(f);
    for (size_t i = 0; i < 4096; i++)
        free(d->keys[i]);
    free(d);
    free(p);
}

/* ---- all kinds ---- */

static void bench_kinds(uint64_t n, double fpr)
{
    const struct filter_traits *kind;

    printf("All kinds, %" PRIu64 " keys at %g; those that grow are made for a "
           "hundredth\n\n",
           n, fpr);
    printf("%-9s %7s %7s %7s %7s %7s %7s   %s\n", "", "insert", "hit", "miss",
           "1 hit", "1 miss", "bits", "false maybe, 95 %");
    for (size_t i = 0; (kind = filter_kind(i)) != NULL; i++) {
        struct filter_measured m;

        if (filter_measure(&m, kind->name, kind->grows ? n / 100 : n, n, fpr) !=
            STATUS_OK)
            continue;
        printf("%-9s %7.1f %7.1f %7.1f %7.1f %7.1f %7.2f   %.6f to %.6f\n",
               kind->name, m.insert, m.hit, m.miss, m.hit_single, m.miss_single,
               (double)m.stats.bits / (double)m.stats.count, m.fpr.low,
               m.fpr.high);
        fflush(stdout);
    }
}

int main(void)
{
    uint64_t n = env_number("KEYS", 1e7);
    double fpr = env_rate();

    logger_set_level(LOG_LEVEL_ERROR);
    bench_fixed(n, fpr);
    bench_growth("scalable", getenv("LONG") != NULL ? 100000000 : n, fpr);
    bench_growth("stacked", n, fpr);
    bench_kinds(n, fpr);
    return 0;
}
