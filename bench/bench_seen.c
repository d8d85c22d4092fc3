/* SPDX-License-Identifier: MIT */
/*
 * bench_seen.c - the exact seen check compared with a plain SQLite B-tree.
 *
 * One stream of URL digests, four of five of them duplicates drawn by Zipf's
 * law (exponent 1) from the URLs seen so far, goes in batches through three
 * sets, each durable at the end of each batch:
 *
 *   ours        batch table, hot cache, scalable filter, exact set; a log row
 *   no filter   the same without the filter
 *   B-tree      CREATE TABLE seen(digest BLOB PRIMARY KEY) WITHOUT ROWID,
 *               INSERT OR IGNORE
 *
 * The answers of all three are compared URL by URL. The second table gives the
 * exact set a page cache of a quarter of its pages.
 *
 * usage: bench_seen [URLS]   4,000,000 by default
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/seen/seen.h"
#include "storage/db/db.h"
#include "storage/index/exact_set.h"

#define BATCH 6000 /* links of about 100 pages */
#define MIB   (UINT64_C(1) << 20)

static uint64_t random_state = 88172645463325252;

static uint64_t rnd(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double unit(void)
{
    return (double)(rnd() >> 11) * 0x1p-53;
}

/* A rank in [1, n]; rank r has a probability proportional to 1/r. Inverts the
 * harmonic sum, ln r + 0.5772. */
static uint64_t zipf(uint64_t n)
{
    double r = exp(unit() * (log((double)n) + 0.5772156649)) * 0.5614594836;
    uint64_t rank = (uint64_t)r + 1;

    return rank < n ? rank : n;
}

/* URL number k, k = 1, 2, ... */
static struct digest nth(const struct digest_key *key, uint64_t k)
{
    char url[80];
    int n = snprintf(url, sizeof url,
                     "http://www.host%05u.example/articles/2024/%06u/"
                     "page-%08" PRIu64 ".html",
                     (unsigned)(k % 9973), (unsigned)(k % 999983), k);

    return digest_bytes(key, bytes_of(url, (size_t)n));
}

static struct digest *make_stream(size_t n)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = "bench";
    struct digest *s = xcalloc(n, sizeof *s);
    struct digest_key key;
    uint64_t known = 0;

    digest_key_init(&key, seed);
    for (size_t i = 0; i < n; i++)
        s[i] = nth(&key, known == 0 || unit() < 0.2 ? ++known : zipf(known));
    return s;
}

struct result {
    double wall, cpu;
    uint64_t fresh, asked, read; /* read: checks that read a page */
    double pages; /* page look-ups of the exact set, hits included */
    bool *answers;
};

static char dir[64];

static void make_dir(void)
{
    strcpy(dir, "/tmp/urlweir-bench-XXXXXX");
    if (mkdtemp(dir) == NULL)
        exit(1);
}

static void remove_dir(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command) != 0)
        fprintf(stderr, "bench_seen: cannot remove %s\n", dir);
}

static void must(enum status st, const char *what)
{
    if (st != STATUS_OK) {
        fprintf(stderr, "bench_seen: %s: %s\n", what, status_text(st));
        exit(1);
    }
}

static enum status keys_of(void *ctx, uint64_t first, uint64_t last,
                           void (*visit)(void *to, const uint64_t *keys,
                                         size_t n),
                           void *to);

struct one {
    void (*visit)(void *to, const uint64_t *keys, size_t n);
    void *to;
};

static void pass_on(void *ctx, struct digest d, uint64_t id)
{
    const struct one *o = ctx;

    (void)id;
    o->visit(o->to, &d.hi, 1);
}

static enum status keys_of(void *ctx, uint64_t first, uint64_t last,
                           void (*visit)(void *to, const uint64_t *keys,
                                         size_t n),
                           void *to)
{
    struct one o = {visit, to};

    return exact_set_each(ctx, first, last, pass_on, &o);
}

static void run_ours(const struct digest *stream, size_t n, bool with_filter,
                     uint64_t hot, uint64_t cache, struct result *r)
{
    struct exact_set_options eo = {.block_cache_bytes = cache};
    struct db_options dbo = {.cache_bytes = 16 * MIB};
    struct filter *f = NULL;
    struct exact_set *set = NULL;
    struct seen *seen = NULL;
    struct db *d = NULL;
    sqlite3_stmt *log = NULL;
    enum seen_answer answers[BATCH];
    struct digest fresh[BATCH];
    uint64_t id = 0;
    char path[96];
    int64_t wall, cpu;

    make_dir();
    snprintf(path, sizeof path, "%s/frontier.db", dir);
    must(db_open(&d, path, DB_CREATE, &dbo), "open");
    must(exact_set_open(&set, d, &eo), "exact set");
    must(db_exec(d, "CREATE TABLE log(id INTEGER PRIMARY KEY, digests BLOB)"),
         "log");
    must(db_prepare(d, &log, "INSERT INTO log(digests) VALUES(?)"), "log");
    if (with_filter) {
        struct filter_options fo = {.expect = 1,
                                    .fpr = 0.001,
                                    .source = {keys_of, set}};

        must(filter_new(&f, &fo), "filter");
    }
    must(seen_new(&seen, f, set, hot), "seen");
    wall = clock_mono();
    cpu = clock_cpu();
    for (size_t at = 0; at < n; at += BATCH) {
        size_t w = n - at < BATCH ? n - at : BATCH, news = 0;

        must(db_begin(d), "begin");
        must(seen_check(seen, stream + at, w, answers), "check");
        for (size_t i = 0; i < w; i++) {
            r->answers[at + i] = answers[i] != SEEN_BEFORE;
            if (answers[i] != SEEN_BEFORE)
                fresh[news++] = stream[at + i];
        }
        sqlite3_bind_blob(log, 1, fresh, (int)(news * sizeof *fresh),
                          SQLITE_STATIC);
        must(db_run(d, log), "log");
        must(seen_admit(seen, fresh, news, id + 1), "admit");
        id += news;
        must(exact_set_step(set, news), "merge");
        must(db_commit(d), "commit");
    }
    r->wall = (double)(clock_mono() - wall) / 1e9;
    r->cpu = (double)(clock_cpu() - cpu) / 1e9;
    r->fresh = id;
    r->asked = n;
    r->read = exact_set_stats(set).block_reads;
    r->pages = (double)(exact_set_stats(set).block_reads +
                        exact_set_stats(set).block_hits);
    sqlite3_finalize(log);
    seen_free(seen);
    filter_free(f);
    exact_set_close(set);
    db_close(d);
    remove_dir();
}

static void sql(sqlite3 *h, const char *text)
{
    if (sqlite3_exec(h, text, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "bench_seen: %s: %s\n", text, sqlite3_errmsg(h));
        exit(1);
    }
}

static void run_btree(const struct digest *stream, size_t n, struct result *r)
{
    sqlite3 *h = NULL;
    sqlite3_stmt *s = NULL;
    char path[96];
    int64_t wall, cpu;

    make_dir();
    snprintf(path, sizeof path, "%s/btree.db", dir);
    if (sqlite3_open(path, &h) != SQLITE_OK)
        exit(1);
    sql(h, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
           "PRAGMA cache_size=-65536;"
           "CREATE TABLE seen(digest BLOB PRIMARY KEY) WITHOUT ROWID");
    sqlite3_prepare_v2(h, "INSERT OR IGNORE INTO seen VALUES(?)", -1, &s, NULL);
    wall = clock_mono();
    cpu = clock_cpu();
    for (size_t at = 0; at < n; at += BATCH) {
        size_t w = n - at < BATCH ? n - at : BATCH;

        sql(h, "BEGIN");
        for (size_t i = 0; i < w; i++) {
            sqlite3_bind_blob(s, 1, &stream[at + i], sizeof *stream,
                              SQLITE_STATIC);
            if (sqlite3_step(s) != SQLITE_DONE)
                exit(1);
            r->answers[at + i] = sqlite3_changes(h) == 1;
            r->fresh += r->answers[at + i];
            sqlite3_reset(s);
        }
        sql(h, "COMMIT");
    }
    r->wall = (double)(clock_mono() - wall) / 1e9;
    r->cpu = (double)(clock_cpu() - cpu) / 1e9;
    r->asked = n;
    sqlite3_finalize(s);
    sqlite3_close(h);
    remove_dir();
}

static void row(const char *name, const struct result *r,
                const struct result *base, bool ours)
{
    printf("| %-28s | %9.0f | %7.2f | %6.1f x |", name,
           (double)r->asked / r->wall, r->cpu * 1e6 / (double)r->asked,
           base->cpu / r->cpu);
    if (ours)
        printf(" %6.2f %% |\n", 100.0 * (double)r->read / (double)r->asked);
    else
        printf("    100 %% |\n");
}

static void compare(const char *name, const struct result *a,
                    const struct result *b, size_t n)
{
    size_t differ = 0;

    for (size_t i = 0; i < n; i++)
        differ += a->answers[i] != b->answers[i];
    if (differ > 0) {
        printf("%s: %zu ANSWERS DIFFER\n", name, differ);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 4000000;
    struct digest *stream = make_stream(n);
    struct result r[4] = {{0}};

    for (int i = 0; i < 4; i++)
        r[i].answers = xcalloc(n, sizeof(bool));
    run_btree(stream, n, &r[0]);
    run_ours(stream, n, true, 64 * MIB, 64 * MIB, &r[1]);
    run_ours(stream, n, false, 64 * MIB, 64 * MIB, &r[2]);
    run_ours(stream, n, true, 1 * MIB, r[0].fresh * 20 / 4, &r[3]);
    for (int i = 1; i < 4; i++)
        compare("ours", &r[i], &r[0], n);
    printf("%zu URLs, %" PRIu64 " new; batches of %d, durable each; answers "
           "identical\n\n",
           n, r[0].fresh, BATCH);
    printf("| exact seen check             |    URLs/s | us CPU  | by CPU   | "
           "on disk |\n|---|---|---|---|---|\n");
    row("SQLite B-tree", &r[0], &r[0], false);
    row("ours, set in cache", &r[1], &r[0], true);
    row("ours without filter", &r[2], &r[0], true);
    row("ours, caches of a quarter", &r[3], &r[0], true);
    for (int i = 0; i < 4; i++)
        free(r[i].answers);
    free(stream);
    return 0;
}
