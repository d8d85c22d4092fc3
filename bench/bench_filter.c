/* SPDX-License-Identifier: MIT */
/*
 * bench_filter.c - membership filters: a fixed-size one and its peers, growing
 * ones at every power of two, cuckoo tables at full load, all kinds in one
 * table, and the cost of saving.
 *
 * KEYS=N and FPR=P change the size (10M) and the rate (0.001) of the tables;
 * LONG=1 grows to 100M. Times are nanoseconds of CPU a key, on one thread. Ours
 * gets digests, which a crawl has already; libbloom and RocksDB hash the 8
 * octets of a key. SQLite and Redis get a tenth and a hundredth of the keys:
 * they would take minutes.
 */
/* Promise (Audit, progress and figures): filters are measured beside libbloom,
 * RocksDB, SQLite and Redis: speed, rate, growth, pauses, load, and the cost of
 * saving and damage, each beside its aim. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "bench/support/filter_aims.h"
#include "bench/support/filter_growth.h"
#include "bench/support/filter_peers.h"
#include "bench/support/filter_saved.h"
#include "cli/filter/filter_measure.h"
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

/* The last row is the best instruction set of this machine. */
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
        print_fixed(names[isa], best, growth_huge_word(&m.stats, m.huge_bytes));
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
    printf("\n");
    aim_note("fixed size: rate at capacity, of the promise",
             (double)ours.wrong / (double)ours.asked / fpr, AIM_AT_MOST, 1.05,
             "x");
    if (has_bloom)
        aim_note("fixed size: libbloom's miss, in ours", bloom.miss / ours.miss,
                 AIM_AT_LEAST, 5, "x");
    if (has_rocks)
        aim_note("fixed size: RocksDB's batched miss, in ours",
                 rocks.miss / ours.miss, AIM_AT_LEAST, 1.5, "x");
}

/* ---- cuckoo tables ---- */

/* Sizes far from powers of two: a table with any number of buckets fills as far
 * as one with a power of two. */
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
        aim_note("cuckoo: load at every size", 100 * m.stats.fill, AIM_AT_LEAST,
                 94.9, "%");
        aim_note("cuckoo: memory", (double)m.stats.bits / (double)sizes[i],
                 AIM_AT_MOST, 17, "bits a key");
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
               m.fpr.high, growth_huge_word(&m.stats, m.huge_bytes));
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
    bench_growth("scalable", n, most, fpr);
    bench_growth("stacked", n, n, fpr);
    bench_cuckoo(n, fpr);
    bench_kinds(n, fpr);
    bench_saved(most, fpr);
    aims_print();
    return 0;
}
