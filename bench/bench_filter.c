/* SPDX-License-Identifier: MIT */
/*
 * bench_filter.c - membership filters: one of a fixed size beside its peers,
 * those that grow at every power of two, cuckoo tables at their load, all kinds
 * in one table, and what saving costs.
 *
 * KEYS=N and FPR=P change the size (10M) and the rate (0.001) of the tables;
 * LONG=1 grows to 100M. Times are nanoseconds of CPU a key, on one thread. Ours
 * is given the digest that a crawl has already; libbloom and RocksDB hash the 8
 * octets of a key. SQLite and Redis get a tenth and a hundredth of the keys:
 * they would take minutes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "bench/filter_peers.h"
#include "bench/filter_saved.h"
#include "cli/filter_measure.h"
#include "filter/block.h"

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

static bool is_long(void)
{
    const char *text = getenv("LONG");

    return text != NULL && *text != '\0';
}

/* How much of it the kernel holds in huge pages. */
static const char *huge_word(const struct filter_stats *s, uint64_t huge)
{
    static char text[64];
    uint64_t bytes = s->bits / 8;

    snprintf(text, sizeof text, "%5.1f of %5.1f",
             (double)(huge < bytes ? huge : bytes) / (1 << 20),
             (double)bytes / (1 << 20));
    return text;
}

static void print_machine(void)
{
    char setting[128] = "unknown";
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");

    if (f != NULL) {
        if (fgets(setting, sizeof setting, f) != NULL)
            setting[strcspn(setting, "\n")] = '\0';
        fclose(f);
    }
    printf("Instructions: %s. Transparent huge pages: %s; ours ask for them; "
           "the last column is MiB\nthat the kernel gave in huge pages, of all "
           "MiB of the filter.\n\n",
           block_isa_name(), setting);
}

/* ---- fixed size, and the peers ---- */

static void print_fixed(const char *name, const struct peer_result *r,
                        const char *pages)
{
    struct sizing_interval w = sizing_wilson(r->wrong, r->asked, SIZING_Z95);

    printf("%-26s %8.1f %8.1f %8.1f %7.2f   %.5f to %.5f  %s\n", name,
           r->insert, r->hit, r->miss, r->bits, w.low, w.high, pages);
    fflush(stdout);
}

static void print_peer(const char *name, bool is_there,
                       const struct peer_result *r, const char *why)
{
    if (is_there)
        print_fixed(name, r, "");
    else
        printf("%-26s skipped: %s\n", name, why);
}

/* The last one is the best that this machine has. */
static void bench_ours(uint64_t n, double fpr, struct peer_result *best)
{
    static const char *const names[] = {"bloom, scalar", "bloom, avx2",
                                        "bloom, avx512"};

    for (int isa = BLOCK_SCALAR; isa <= BLOCK_AVX512; isa++) {
        struct filter_measured m;

        if (!block_use((enum block_isa)isa) ||
            filter_measure(&m, "bloom", n, n, fpr) != STATUS_OK)
            continue;
        *best = (struct peer_result){.insert = m.insert,
                                     .hit = m.hit,
                                     .miss = m.miss,
                                     .bits = (double)m.stats.bits / (double)n,
                                     .wrong = m.false_positives,
                                     .asked = m.asked};
        print_fixed(names[isa], best, huge_word(&m.stats, m.huge_bytes));
    }
}

static void print_times(const char *name, bool is_there,
                        const struct peer_result *peer,
                        const struct peer_result *ours)
{
    if (is_there)
        printf("    %-20s %6.1f x\n", name, peer->miss / ours->miss);
}

static void bench_fixed(const char *self, uint64_t n, double fpr)
{
    struct peer_result ours = {.miss = 1}, bloom, rocks, tree, bits, script;
    bool has_bloom, has_rocks, has_tree, has_bits, has_script;
    const char *why = "";

    printf("Fixed size, %" PRIu64 " keys at %g\n\n", n, fpr);
    printf("%-26s %8s %8s %8s %7s   %s\n", "", "insert", "hit", "miss", "bits",
           "false maybe, 95 %       huge MiB");
    bench_ours(n, fpr, &ours);
    has_bloom = peer_libbloom(&bloom, n, fpr, &why);
    print_peer("libbloom", has_bloom, &bloom, why);
    has_rocks = peer_rocksdb(&rocks, self, n, ours.bits, &why);
    print_peer("RocksDB, batched", has_rocks, &rocks, why);
    has_tree = peer_sqlite(&tree, n / 10, &why);
    print_peer("SQLite B-tree, 1/10", has_tree, &tree, why);
    has_bits = peer_redis(&bits, n / 100, fpr, false, &why);
    print_peer("Redis SETBIT, 1/100", has_bits, &bits, why);
    has_script = peer_redis(&script, n / 100, fpr, true, &why);
    print_peer("Redis EVAL, 1/100", has_script, &script, why);
    printf(
        "\nA miss of theirs in misses of ours, the last row of `bloom`:\n\n");
    print_times("libbloom", has_bloom, &bloom, &ours);
    print_times("RocksDB, batched", has_rocks, &rocks, &ours);
    print_times("SQLite B-tree", has_tree, &tree, &ours);
    print_times("Redis SETBIT", has_bits, &bits, &ours);
    print_times("Redis EVAL", has_script, &script, &ours);
    printf("    rate at capacity     %6.2f of the promise\n\n",
           (double)ours.wrong / (double)ours.asked / fpr);
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

/* Of all keys, how many are called new: must be 0. */
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
           "bits", "false maybe, 95 %", "rebuild ms", "worst ms   huge MiB");
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
        printf("%11" PRIu64 " %8.1f %7.1f %7.2f   %.6f to %.6f %10.3f %9.2f"
               "  %s\n",
               n, (double)all / (double)more, miss, (double)s.bits / (double)n,
               w.low, w.high, below(p, (s.rebuilds - rebuilds) / 1000),
               p->worst_ms, huge_word(&s, filter_measure_huge()));
        fflush(stdout);
        rebuilds = s.rebuilds;
    }
    printf("\nKeys that were added and are called new: %" PRIu64 " of %" PRIu64
           "\n\n",
           count_lost(f, n), n);
    filter_free(f);
    for (size_t i = 0; i < 4096; i++)
        free(d->keys[i]);
    free(d);
    free(p);
}

/* ---- cuckoo tables ---- */

/* Sizes far from powers of two: a table of any number of buckets fills as far
 * as one of a power of two does. */
static void bench_cuckoo(uint64_t n, double fpr)
{
    const uint64_t sizes[] = {n / 100, n / 30, n / 10, n * 6 / 10, n};

    printf("Cuckoo of 16 bits, filled to what it was made for\n\n");
    printf("%11s %8s %7s %7s %7s   %-22s %s\n", "keys", "insert", "miss",
           "load %", "bits", "false maybe, 95 %", "without a place");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct filter_measured m;

        if (filter_measure(&m, "cuckoo", sizes[i], sizes[i], fpr) != STATUS_OK)
            continue;
        printf("%11" PRIu64 " %8.1f %7.1f %7.2f %7.2f   %.6f to %.6f   %" PRIu64
               "\n",
               sizes[i], m.insert, m.miss, 100 * m.stats.fill,
               (double)m.stats.bits / (double)sizes[i], m.fpr.low, m.fpr.high,
               m.stats.stuck);
        fflush(stdout);
    }
    printf("\n");
}

/* ---- all kinds ---- */

static void bench_kinds(uint64_t n, double fpr)
{
    const struct filter_traits *kind;

    printf("All kinds, %" PRIu64 " keys at %g; those that grow are made for a "
           "hundredth\n\n",
           n, fpr);
    printf("%-9s %7s %7s %7s %7s %7s %7s   %s\n", "", "insert", "hit", "miss",
           "1 hit", "1 miss", "bits", "false maybe, 95 %       huge MiB");
    for (size_t i = 0; (kind = filter_kind(i)) != NULL; i++) {
        struct filter_measured m;

        if (filter_measure(&m, kind->name, kind->grows ? n / 100 : n, n, fpr) !=
            STATUS_OK)
            continue;
        printf("%-9s %7.1f %7.1f %7.1f %7.1f %7.1f %7.2f   %.6f to %.6f  %s\n",
               kind->name, m.insert, m.hit, m.miss, m.hit_single, m.miss_single,
               (double)m.stats.bits / (double)m.stats.count, m.fpr.low,
               m.fpr.high, huge_word(&m.stats, m.huge_bytes));
        fflush(stdout);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    uint64_t n = env_number("KEYS", 1e7), most = is_long() ? 10 * n : n;
    double fpr = env_rate();

    (void)argc;
    logger_set_level(LOG_LEVEL_ERROR);
    print_machine();
    bench_fixed(argv[0], n, fpr);
    bench_growth("scalable", most, fpr);
    bench_growth("stacked", n, fpr);
    bench_cuckoo(n, fpr);
    bench_kinds(n, fpr);
    bench_saved(most, fpr);
    return 0;
}
