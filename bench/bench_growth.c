/* SPDX-License-Identifier: MIT */
/*
 * bench_growth.c - what a link costs as a crawl grows, through the whole
 * frontier.
 *
 * A crawl without sockets: the frontier of a crawl leases, and what a fetcher would
 * bring back is computed. 60 links a page, 10 % of them new; of the others half
 * are popular (id = n u^4) and half among the latest 200,000. Hosts follow a
 * power law (host = hosts u^3); a URL has 66 octets. 100 pages are acknowledged
 * at a time, 1,000 to a commit, and a checkpoint is written every 600,000
 * pages, as in a crawl of 10,000 pages a second.
 *
 * At 1M, 10M and 100M URLs the process that crawls ends without closing
 * anything, like kill -9; another opens the crawl, which is the restart that is
 * timed, checks that no URL is missing or there twice, and goes on.
 *
 *   us/link   CPU of the whole process, checkpoints included, less the making
 *             of links
 *   written   octets passed to write(2) for each new URL: log, file, filter
 *   asked     links that came to the exact set
 *   read      links that read a block of it from the database
 *   syscalls  read(2) and the like, for each link
 *
 *   bench_growth [URLS [HOSTS [MEMORY_MB [DIR]]]]
 *                1,000,000 (10,000,000 if LONG is set), 100,000, 512, /tmp
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_open.h"
#include "job/settings/settings.h"

#define BATCH      100
#define LINKS      60
#define IN_FLIGHT  2000
#define RECENT_IDS 200000
#define PAGE_NS    (100 * NS_PER_US) /* of the simulated clock */
#define CHECKPOINT (600000 * PAGE_NS)
#define WALL       INT64_C(1767225600000)
#define TEXT_MOST  96
#define COMMITS    8192 /* latest ones, for the quantiles */

/* What goes on from one process to the next. */
struct carried {
    uint64_t random, made, pages;
    int64_t now;
};

/* Everything that a line of the table is the difference of. */
struct tally {
    int64_t cpu, making;
    uint64_t links, urls, written, syscalls, asked, reads;
};

struct growth {
    struct carried *c; /* shared with the parent */
    uint64_t hosts;
    struct frontier_options o;
    char dir[256];
    struct frontier *e;
    struct tally now, before;
    int64_t *commits;
    uint32_t commit_count;
    int64_t next_checkpoint;
    struct url_lease leases[BATCH];
    struct url_done done[BATCH];
    struct url_item items[BATCH * LINKS];
    char keys[BATCH * LINKS][32], urls[BATCH * LINKS][TEXT_MOST];
};

static void must(enum status st)
{
    if (st == STATUS_OK)
        return;
    fprintf(stderr, "bench_growth: %s\n", status_text(st));
    exit(1);
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t rnd(struct growth *g)
{
    return mix(g->c->random += UINT64_C(0x9e3779b97f4a7c15));
}

static int64_t thread_cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static double unit_of(uint64_t x)
{
    return (double)(x >> 11) * 0x1p-53;
}

/* ---- the web ---- */

/* `digits` hexadecimal digits; snprintf would cost more than the frontier. */
static char *put_hex(char *to, uint64_t n, int digits)
{
    for (int i = digits - 1; i >= 0; i--, n >>= 4)
        to[i] = "0123456789abcdef"[n & 15];
    return to + digits;
}

static char *put_text(char *to, const char *text, size_t n)
{
    memcpy(to, text, n);
    return to + n;
}

#define PUT(to, text) put_text(to, text, sizeof(text) - 1)

/* URL number `n`, which gets the id `n`. */
static void make_item(struct growth *g, size_t at, uint64_t n)
{
    struct url_item *item = &g->items[at];
    double u = unit_of(mix(n * 0x10001));
    uint64_t host = (uint64_t)((double)g->hosts * u * u * u);
    char *key = g->keys[at], *url = g->urls[at], *end;
    size_t len;

    end = PUT(key, "www.site-");
    end = put_hex(end, host, 6);
    end = PUT(end, ".example");
    item->key = bytes_of(key, (size_t)(end - key));
    end = PUT(url, "https://");
    end = put_text(end, key, item->key.len);
    end = PUT(end, "/articles/of-the-year/");
    len = 1 + mix(n) % 12;
    memset(end, 'x', len);
    end = put_hex(end + len, n, 8);
    end = PUT(end, ".html");
    item->url = bytes_of(url, (size_t)(end - url));
    item->digest = digest_url(frontier_get_digest_key(g->e), g->o.crawl,
                              item->key, item->url);
    item->depth = 3;
    item->kind = 1;
}

static uint64_t next_link(struct growth *g)
{
    double u = unit_of(rnd(g)), v;
    uint64_t n = g->c->made;

    if (u < 0.1)
        return ++g->c->made;
    v = unit_of(rnd(g));
    if (u < 0.55)
        return (uint64_t)((double)n * v * v * v * v) + 1;
    return n - (uint64_t)(v * (double)(n < RECENT_IDS ? n : RECENT_IDS));
}

static void make_pages(struct growth *g, size_t n)
{
    int64_t before = thread_cpu();

    for (size_t i = 0; i < n; i++) {
        uint64_t id = g->leases[i].id;

        for (size_t k = 0; k < LINKS; k++)
            make_item(g, i * LINKS + k, next_link(g));
        g->done[i] = (struct url_done){
            .id = id,
            .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
            .row = {.at_ms = WALL + g->c->now / NS_PER_MS,
                    .elapsed_ms = 120,
                    .http_status = 200,
                    .wire_bytes = 9700,
                    .body_bytes = 25000,
                    .body_digest = {mix(id), mix(~id)},
                    .links = LINKS,
                    .mime = bytes_of_str("text/html"),
                    .charset = bytes_of_str("utf-8"),
                    .ip = bytes_of_str("192.0.2.17")},
            .outlinks = &g->items[i * LINKS],
            .outlink_count = LINKS,
            .host = {.ended = g->c->now, .retry_after_ms = -1},
        };
    }
    g->now.links += n * LINKS;
    g->now.making += thread_cpu() - before;
}

/* ---- the crawl ---- */

static int64_t wall(const struct growth *g)
{
    return WALL + g->c->now / NS_PER_MS;
}

static void end_turn(struct growth *g)
{
    int64_t began = clock_mono();
    uint64_t durable = 0;

    must(frontier_turn(g->e, false, g->c->now, wall(g), &durable));
    if (durable > 0)
        g->commits[g->commit_count++ % COMMITS] = clock_mono() - began;
    if (g->c->now < g->next_checkpoint)
        return;
    if (frontier_checkpoint(g->e, g->c->now, wall(g)) == STATUS_OK)
        g->next_checkpoint = g->c->now + CHECKPOINT;
}

static void turn(struct growth *g)
{
    size_t n = 0;

    must(frontier_lease(g->e, BATCH, g->c->now, wall(g), g->leases, &n));
    if (n == 0 && g->c->pages > IN_FLIGHT) {
        struct frontier_counts s;

        frontier_get_counts(g->e, &s);
        if (s.queued == s.leased)
            must(STATUS_NOT_FOUND); /* the web has no more pages */
    }
    make_pages(g, n);
    if (n > 0)
        must(frontier_ack(g->e, g->done, n, g->c->now, wall(g)));
    g->c->pages += n;
    g->c->now += (int64_t)(n > 0 ? n : 1) * PAGE_NS;
    end_turn(g);
}

static void put_seeds(struct growth *g)
{
    for (size_t i = 0; i < 1000; i++) {
        make_item(g, i, ++g->c->made);
        g->items[i].seed = true;
        g->items[i].depth = 0;
    }
    must(frontier_put(g->e, 0, g->items, 1000, wall(g), NULL));
    for (size_t i = 0; i < 1000; i++)
        g->items[i].seed = false;
    must(frontier_turn(g->e, true, g->c->now, wall(g), NULL));
}

/* ---- the table ---- */

static void read_io(struct tally *t)
{
    FILE *f = fopen("/proc/self/io", "r");
    char line[128];
    unsigned long long n;

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "wchar: %llu", &n) == 1)
            t->written = n;
        else if (sscanf(line, "syscr: %llu", &n) == 1)
            t->syscalls = n;
    }
    if (f != NULL)
        fclose(f);
}

static void take_tally(struct growth *g)
{
    const struct frontier *f = (const struct frontier *)g->e;
    struct exact_set_stats s = exact_set_stats(f->base->exact);

    g->now.cpu = clock_cpu();
    g->now.asked = s.finds;
    g->now.reads = s.block_reads;
    g->now.urls = g->c->made;
    read_io(&g->now);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static uint64_t on_disk(const struct growth *g)
{
    static const char *const names[] = {"frontier.db", "frontier.db-wal",
                                        "filter.ckpt"};
    uint64_t sum = 0, size;
    char path[320];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", g->dir, names[i]);
        if (file_size(path, &size) == STATUS_OK)
            sum += size;
    }
    return sum;
}

static double ratio(uint64_t a, uint64_t b)
{
    return b > 0 ? (double)a / (double)b : 0;
}

static void print_line(struct growth *g)
{
    uint32_t n = g->commit_count < COMMITS ? g->commit_count : COMMITS;
    const struct tally *a = &g->now, *b = &g->before;
    uint64_t links = a->links - b->links;
    int64_t cpu = a->cpu - b->cpu - (a->making - b->making);

    qsort(g->commits, n, sizeof *g->commits, by_size);
    printf("%10" PRIu64 "  %7.3f  %5.1f %5.1f %5.1f  %7.0f  %6.1f  %6.2f  "
           "%8.3f  %5.0f  %6.0f\n",
           a->urls, (double)cpu / (double)links / 1e3,
           n > 0 ? (double)g->commits[n / 2] / 1e6 : 0,
           n > 0 ? (double)g->commits[n * 99 / 100] / 1e6 : 0,
           n > 0 ? (double)g->commits[n - 1] / 1e6 : 0,
           ratio(a->written - b->written, a->urls - b->urls),
           100 * ratio(a->asked - b->asked, links),
           100 * ratio(a->reads - b->reads, links),
           ratio(a->syscalls - b->syscalls, links),
           (double)mem_resident() / 1e6, (double)on_disk(g) / 1e6);
    fflush(stdout);
    g->before = g->now;
    g->commit_count = 0;
}

/* 1, 2 and 5 times a power of ten. */
static uint64_t next_line(uint64_t n)
{
    uint64_t ten = 1;

    while (ten * 10 <= n)
        ten *= 10;
    return n < 2 * ten ? 2 * ten : n < 5 * ten ? 5 * ten : 10 * ten;
}

/* Lines at 1, 2 and 5; measured over the last tenth before each. */
static void crawl_to(struct growth *g, uint64_t urls)
{
    uint64_t next = next_line(g->c->made > 99999 ? g->c->made : 99999);

    take_tally(g);
    g->before = g->now;
    g->next_checkpoint = g->c->now + CHECKPOINT;
    while (g->c->made < urls) {
        bool begun = g->c->made >= next - next / 5;

        turn(g);
        if (!begun && g->c->made >= next - next / 5) {
            take_tally(g);
            g->before = g->now;
            g->commit_count = 0;
        }
        if (g->c->made >= next) {
            take_tally(g);
            print_line(g);
            next = next_line(next);
        }
    }
}

/* ---- one process after the other ---- */

static void open_again(struct growth *g, const char *when)
{
    int64_t began = clock_mono(), cpu = clock_cpu();
    struct frontier_counts s;

    must(frontier_open(&g->e, g->dir, &g->o, g->c->now, wall(g)));
    printf("# restart after %s: %.2f s, CPU %.2f s\n", when,
           (double)(clock_mono() - began) / 1e9,
           (double)(clock_cpu() - cpu) / 1e9);
    frontier_get_counts(g->e, &s);
    if (s.urls > g->c->made) {
        fprintf(stderr, "bench_growth: %" PRIu64 " URLs of %" PRIu64 "\n",
                s.urls, g->c->made);
        exit(1);
    }
    g->c->made = s.urls; /* the killed process had not committed the rest */
}

static void child(struct growth *g, bool first, uint64_t urls)
{
    if (first) {
        must(frontier_create(&g->e, g->dir, &g->o, wall(g)));
        put_seeds(g);
    } else {
        open_again(g, "a kill");
    }
    crawl_to(g, urls);
    fflush(stdout);
    _exit(0); /* closes nothing, like kill -9 */
}

static bool run(struct growth *g, uint64_t urls)
{
    bool first = true;

    printf("      URLs  us/link  commit ms 50/99/max  written  asked%%   "
           "read%%  syscalls    RSS    disk\n");
    for (uint64_t stop = 1000000; first || g->c->made < urls; stop *= 10) {
        int status = 0;
        pid_t pid;

        if (stop > urls)
            stop = urls;
        fflush(stdout);
        pid = fork();
        if (pid == 0)
            child(g, first, stop);
        waitpid(pid, &status, 0);
        if (status != 0)
            return false;
        first = false;
        if (stop == urls)
            break;
    }
    open_again(g, "the last kill");
    frontier_close(g->e);
    return true;
}

static void remove_all(const struct growth *g)
{
    static const char *const names[] = {"frontier.db",     "frontier.db-wal",
                                        "frontier.db-shm", "filter.ckpt",
                                        "filter.ckpt.tmp", "manifest"};
    char path[320];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", g->dir, names[i]);
        unlink(path);
    }
    rmdir(g->dir);
}

int main(int argc, char **argv)
{
    static struct growth g;
    uint64_t urls = getenv("LONG") != NULL ? 10000000 : 1000000;
    uint64_t memory = argc > 3 ? strtoull(argv[3], NULL, 10) : 512;
    bool good;

    urls = argc > 1 ? strtoull(argv[1], NULL, 10) : urls;
    g.hosts = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    snprintf(g.dir, sizeof g.dir, "%s/bench-growth-XXXXXX",
             argc > 4 ? argv[4] : "/tmp");
    g.c = mmap(NULL, sizeof *g.c, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mkdtemp(g.dir) == NULL || g.c == MAP_FAILED)
        return 1;
    *g.c = (struct carried){.random = 1, .now = NS_PER_S};
    g.commits = xcalloc(COMMITS, sizeof *g.commits);
    g.o = (struct frontier_options){
        .crawl = bytes_of_str("default"),
        .schedule = {.max_delay = 30 * NS_PER_S,
                     .max_crawl_delay = 300 * NS_PER_S,
                     .retry_delay = NS_PER_S},
        .tries = 3,
        .conns_per_host = 1,
        .in_flight = IN_FLIGHT,
        .commit_least = 32,
        .store = {.use_filter = true,
                  .fpr = 0.001,
                  .memory = memory_plan(memory << 20, true).frontier},
        .commit_interval = 200 * NS_PER_MS,
    };
    printf("# --memory %" PRIu64 "M, %" PRIu64 " hosts\n", memory, g.hosts);
    good = run(&g, urls);
    remove_all(&g);
    return good ? 0 : 1;
}
