/* SPDX-License-Identifier: MIT */
/*
 * bench_store.c - the cost of the embedded store as a crawl grows.
 *
 * A synthetic crawl, the same on every run: 60 links a page, 10 % of them new,
 * 75 % of those on the page's own host; of the others half are popular (early
 * ids) and half recent. Hosts follow a power law; URLs have 68 octets on
 * average. One URL of each host in turn, 65,536 hosts active with windows of 16
 * ids; 1,000 pages a transaction. A hot cache of digests is in front of the
 * exact set, as in frontier/seen; a new link counts as the filter's "certainly
 * new", except one in a thousand.
 *
 * CPU is that of the whole process, checkpoints included, less the making of
 * links. Octets written are those passed to write(2), for log and file.
 *
 *   bench_store [URLS [HOSTS [DIR]]]      1,000,000 URLs, 100,000 hosts, /tmp
 *   bench_store restart DATABASE          opens one that KEEP=1 left behind
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "storage/frontier_store.h"
#include "storage/index/exact_set.h"
#include "storage/rows/page_store.h"

#define PAGES  1000
#define LINKS  60
#define ACTIVE 65536
#define WINDOW 16
#define HOT    (1u << 20) /* sets of four digests: 64 MiB */

struct window {
    uint64_t cursor, ids[WINDOW];
    uint32_t queue, at, n;
};

/* The phases that the thread's CPU time is split into. */
enum phase { LEASE, CHECK, FETCH_ROWS, ADMIT, MERGE, UPKEEP, COMMIT, PHASES };
static const char *const phase_names[PHASES] = {"lease",       "check",
                                                "fetch rows",  "admit",
                                                "exact merge", "queues",
                                                "commit"};

struct bench {
    uint64_t urls, hosts;
    uint64_t random;
    struct db *d;
    struct exact_set *set;
    struct frontier_store *s;
    struct page_store *p;
    /* active hosts, and waiting ones */
    struct window *active;
    uint32_t active_count, turn;
    uint64_t *cursor; /* of queue */
    bool *listed;     /* of queue */
    uint32_t *waiting, wait_from, wait_to, wait_cap;
    struct digest *hot;
    /* one transaction */
    uint64_t page[PAGES];
    uint32_t page_queue[PAGES];
    uint32_t pages;
    uint64_t *link; /* id, 0: new */
    struct digest *digests;
    uint64_t *found;
    uint64_t text, links, asked, new_urls, page_reads;
    /* since the last line of the table */
    int64_t made_ns;
    int64_t *commit_ns;
    uint32_t commits;
    int64_t longest_ns;
    uint64_t wal_most;
    int64_t phase_ns[PHASES], phase_start;
    uint64_t phase_pages;
};

static uint64_t rnd(struct bench *b)
{
    uint64_t z = (b->random += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double unit(struct bench *b)
{
    return (double)(rnd(b) >> 11) * 0x1p-53;
}

static struct digest digest_of(uint64_t id)
{
    struct bench one = {.random = id * 0x10001};
    uint64_t hi = rnd(&one);

    return (struct digest){hi, rnd(&one)};
}

static int64_t thread_cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Charges the time since the last call to `phase`. */
static void ends(struct bench *b, enum phase phase)
{
    int64_t now = thread_cpu();

    b->phase_ns[phase] += now - b->phase_start;
    b->phase_start = now;
}

static void must(enum status st)
{
    if (st == STATUS_OK)
        return;
    fprintf(stderr, "bench_store: %s\n", status_text(st));
    exit(1);
}

/* ---- the crawl ---- */

static uint32_t a_host(struct bench *b)
{
    double u = unit(b);

    return (uint32_t)((double)b->hosts * u * u * u) + 1;
}

static void wait_in_line(struct bench *b, uint32_t queue)
{
    if (b->listed[queue])
        return;
    b->listed[queue] = true;
    b->waiting[b->wait_to] = queue;
    b->wait_to = (b->wait_to + 1) % b->wait_cap;
}

/* Admits a URL with the next id; the queue's name is the host's number. */
static void admit(struct bench *b, uint32_t host, uint64_t via)
{
    char key[48], url[160];
    uint64_t id = frontier_store_last_id(b->s) + 1;
    struct url_row row = {.depth = 3,
                          .via = via,
                          .found_at_ms = 1767225600000 + (int64_t)id / 10};

    snprintf(key, sizeof key, "www.site-%06u.example", host);
    must(frontier_store_queue(b->s, bytes_of_str("default"), bytes_of_str(key),
                              &row.queue));
    snprintf(url, sizeof url, "https://%s/%.*s/page-%" PRIu64 ".html", key,
             (int)(12 + id % 23), "articles/archive/two-thousand-twenty",
             id * 17);
    row.url = bytes_of_str(url);
    b->text += row.url.len;
    must(frontier_store_admit(b->s, &row, &id));
    exact_set_add(b->set, digest_of(id), id);
    wait_in_line(b, row.queue);
}

/* False: it was not in the hot cache, but is now. */
static bool hot(struct bench *b, struct digest d)
{
    struct digest *set = b->hot + (d.lo & (HOT - 1)) * 4, t;

    for (int i = 0; i < 4; i++) {
        if (digest_equal(set[i], d)) {
            if (i > 0) {
                t = set[i - 1];
                set[i - 1] = set[i];
                set[i] = t;
            }
            return true;
        }
    }
    set[3] = set[2];
    set[2] = d;
    return false;
}

static void fill_active(struct bench *b)
{
    while (b->active_count < ACTIVE && b->wait_from != b->wait_to) {
        uint32_t queue = b->waiting[b->wait_from];

        b->wait_from = (b->wait_from + 1) % b->wait_cap;
        b->active[b->active_count++] =
            (struct window){.queue = queue, .cursor = b->cursor[queue]};
    }
}

/* The next URL of the next host; 0: there is none. */
static uint64_t lease(struct bench *b, uint32_t *queue)
{
    fill_active(b);
    while (b->active_count > 0) {
        struct window *w = &b->active[b->turn % b->active_count];
        size_t n = 0;

        if (w->at == w->n) {
            must(frontier_store_refill(b->s, w->queue, w->cursor, w->ids,
                                       WINDOW, &n));
            w->at = 0;
            w->n = (uint32_t)n;
        }
        if (w->n > 0) {
            b->turn++;
            w->cursor = w->ids[w->at];
            *queue = w->queue;
            return w->ids[w->at++];
        }
        b->cursor[w->queue] = w->cursor;
        b->listed[w->queue] = false;
        *w = b->active[--b->active_count];
    }
    return 0;
}

static void lease_pages(struct bench *b)
{
    struct url_row row;
    struct buf text;

    buf_init(&text, 4096);
    for (b->pages = 0; b->pages < PAGES; b->pages++) {
        uint64_t id = lease(b, &b->page_queue[b->pages]);

        if (id == 0)
            break;
        must(frontier_store_get(b->s, id, &row, &text));
        b->page[b->pages] = id;
    }
    buf_fini(&text);
}

static void make_links(struct bench *b)
{
    uint64_t n = frontier_store_last_id(b->s);
    int64_t before = thread_cpu();

    for (uint32_t i = 0; i < b->pages * LINKS; i++) {
        double u = unit(b);

        if (u < 0.1)
            b->link[i] = 0;
        else if (u < 0.55)
            b->link[i] = (uint64_t)((double)n * pow(unit(b), 4)) + 1;
        else
            b->link[i] = n - (n < 200000 ? rnd(b) % n : rnd(b) % 200000);
        if (b->link[i] != 0)
            b->digests[i] = digest_of(b->link[i]);
    }
    b->made_ns += thread_cpu() - before;
}

/* Duplicates go through the hot cache to the exact set. */
static void check_links(struct bench *b)
{
    size_t n = 0;

    for (uint32_t i = 0; i < b->pages * LINKS; i++) {
        if (b->link[i] != 0 && !hot(b, b->digests[i])) {
            b->link[n] = b->link[i];
            b->digests[n++] = b->digests[i];
        } else if (b->link[i] == 0) {
            b->new_urls++;
        }
    }
    b->links += b->pages * LINKS;
    b->asked += n;
    must(exact_set_find(b->set, b->digests, n, b->found));
    for (size_t i = 0; i < n; i++) {
        if (b->found[i] != b->link[i]) {
            fprintf(stderr,
                    "bench_store: id %" PRIu64 " found as %" PRIu64 "\n",
                    b->link[i], b->found[i]);
            exit(1);
        }
    }
}

static void commit_pages(struct bench *b)
{
    uint64_t before = frontier_store_last_id(b->s), seq;
    uint64_t new_urls = b->new_urls;

    b->new_urls = 0;
    b->phase_start = thread_cpu();
    for (uint32_t i = 0; i < b->pages; i++) {
        struct fetch_row f = {
            .url = b->page[i],
            .final = true,
            .status = 1,
            .tries = 1,
            .http_status = 200,
            .at_ms = 1767225600000 + (int64_t)before,
            .elapsed_ms = 120,
            .wire_bytes = 9700,
            .body_bytes = 25000,
            .body_digest = digest_of(b->page[i] + (UINT64_C(1) << 50)),
            .links = LINKS,
            .mime = bytes_of_str("text/html"),
            .charset = bytes_of_str("utf-8"),
            .ip = bytes_of_str("192.0.2.17"),
        };

        must(page_store_add(b->p, &f, &seq));
        must(frontier_store_done(b->s, b->page[i], seq));
    }
    ends(b, FETCH_ROWS);
    for (uint64_t i = 0; i < new_urls; i++) {
        uint32_t page = (uint32_t)(i * b->pages / new_urls);
        bool same = unit(b) < 0.75;

        if (same) {
            struct bytes crawl, key;

            frontier_store_queue_name(b->s, b->page_queue[page], &crawl, &key);
            admit(b, (uint32_t)atoi(key.at + 9), b->page[page]);
        } else {
            admit(b, a_host(b), b->page[page]);
        }
    }
    ends(b, ADMIT);
    must(exact_set_step(b->set, frontier_store_last_id(b->s) - before));
    ends(b, MERGE);
    must(frontier_store_step(b->s));
    ends(b, UPKEEP);
}

static void turn(struct bench *b)
{
    int64_t start = clock_mono(), made, begin, end;

    b->phase_start = thread_cpu();
    lease_pages(b);
    ends(b, LEASE);
    made = clock_mono();
    make_links(b);
    made = clock_mono() - made;
    b->phase_start = thread_cpu();
    check_links(b);
    ends(b, CHECK);
    b->phase_pages += b->pages;
    must(db_begin(b->d));
    commit_pages(b);
    begin = clock_mono();
    must(db_commit(b->d));
    end = clock_mono();
    ends(b, COMMIT);
    b->commit_ns[b->commits++] = end - begin;
    if (end - start - made > b->longest_ns)
        b->longest_ns = end - start - made;
}

/* ---- the table ---- */

static uint64_t written(void)
{
    FILE *f = fopen("/proc/self/io", "r");
    char line[128];
    unsigned long long n = 0;

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "wchar: %llu", &n) == 1)
            break;
    }
    if (f != NULL)
        fclose(f);
    return n;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static void print_line(struct bench *b, const char *path, int64_t cpu_ns,
                       uint64_t links, uint64_t bytes, uint64_t new_urls)
{
    uint64_t n = frontier_store_last_id(b->s), size = 0;

    must(file_size(path, &size));
    qsort(b->commit_ns, b->commits, sizeof *b->commit_ns, by_size);
    printf("%9" PRIu64 "  %7.3f  %8.1f  %6.1f %6.1f %6.1f  %8.1f  %7.0f  "
           "%6.1f  %6.1f  %5.2f  %5.1f  %5.0f\n",
           n, (double)cpu_ns / (double)links / 1e3,
           (double)cpu_ns / (double)links * LINKS / 1e3,
           (double)b->commit_ns[b->commits / 2] / 1e6,
           (double)b->commit_ns[b->commits * 99 / 100] / 1e6,
           (double)b->commit_ns[b->commits - 1] / 1e6,
           (double)b->longest_ns / 1e6, (double)bytes / (double)new_urls,
           ((double)size - (double)b->text) / (double)n,
           100.0 * (double)b->asked / (double)links,
           100.0 *
               (double)(exact_set_stats(b->set).page_reads - b->page_reads) /
               (double)links,
           (double)b->wal_most / 1e6, (double)mem_resident() / 1e6);
    fflush(stdout);
    b->commits = 0;
    b->longest_ns = 0;
    b->asked = 0;
    b->page_reads = exact_set_stats(b->set).page_reads;
    b->wal_most = 0;
}

static void open_all(struct bench *b, const char *path, enum db_mode mode,
                     url_row_visit visit)
{
    const struct db_options o = {0};
    const struct exact_set_options e = {.page_cache_bytes = 192u << 20};
    const struct frontier_store_options f = {.memory_bytes = 64u << 20};

    must(db_open(&b->d, path, mode, &o));
    must(exact_set_open(&b->set, b->d, &e));
    must(
        frontier_store_open(&b->s, b->d, &f, exact_set_upto(b->set), visit, b));
    must(page_store_open(&b->p, b->d));
}

static void crawl(struct bench *b, const char *path)
{
    uint64_t step = 100000, next = step, links = 0, bytes = written();
    uint64_t urls = 0, wal = 0;
    char log[512];
    int64_t cpu;

    snprintf(log, sizeof log, "%s-wal", path);
    open_all(b, path, DB_CREATE, NULL);
    must(db_begin(b->d));
    for (int i = 0; i < 1000; i++)
        admit(b, a_host(b), 0);
    must(db_commit(b->d));
    cpu = clock_cpu();
    printf("     URLs  us/link   us/page  commit ms: p50/p99/max  turn max  "
           "B/new    B/URL+  asked%%  read%%    WAL    RSS\n");
    while (frontier_store_last_id(b->s) < b->urls) {
        turn(b);
        if (file_size(log, &wal) == STATUS_OK && wal > b->wal_most)
            b->wal_most = wal;
        if (frontier_store_last_id(b->s) >= next) {
            int64_t now = clock_cpu();

            print_line(b, path, now - cpu - b->made_ns, b->links - links,
                       written() - bytes, frontier_store_last_id(b->s) - urls);
            cpu = now;
            if (next + step < b->urls) {
                memset(b->phase_ns, 0, sizeof b->phase_ns);
                b->phase_pages = 0;
            }
            b->made_ns = 0;
            links = b->links;
            bytes = written();
            urls = frontier_store_last_id(b->s);
            step = next >= 10 * step ? step * 10 : step;
            next += step;
        }
    }
    printf("us of the writer's thread a page, at the end:");
    for (int i = 0; i < PHASES; i++)
        printf(" %s %.1f%s", phase_names[i],
               (double)b->phase_ns[i] / (double)b->phase_pages / 1e3,
               i + 1 < PHASES ? "," : "\n");
    printf("memory: exact set %.1f MB, frontier store %.1f MB\n",
           (double)exact_set_stats(b->set).memory / 1e6,
           (double)frontier_store_memory(b->s) / 1e6);
}

static void add_again(void *ctx, const struct url_row *row)
{
    struct bench *b = ctx;

    exact_set_add(b->set, digest_of(row->id), row->id);
    b->new_urls++;
}

static void restart(struct bench *b, const char *path, bool verify)
{
    int64_t start = clock_mono(), cpu = clock_cpu();

    b->new_urls = 0;
    open_all(b, path, DB_WRITE, add_again);
    printf("restart after kill: %.2f s, CPU %.2f s (%" PRIu64
           " rows replayed)\n",
           (double)(clock_mono() - start) / 1e9,
           (double)(clock_cpu() - cpu) / 1e9, b->new_urls);
    if (!verify)
        return;
    start = clock_mono();
    must(exact_set_verify(b->set));
    must(frontier_store_verify(b->s));
    printf("verify: %.2f s\n", (double)(clock_mono() - start) / 1e9);
    page_store_close(b->p);
    frontier_store_close(b->s);
    exact_set_close(b->set);
    db_close(b->d);
}

int main(int argc, char **argv)
{
    struct bench b = {.random = 1};
    char dir[256], path[300], name[320];
    const char *ends[] = {"", "-wal", "-shm"};
    int status = 0;
    pid_t child;

    if (argc > 2 && strcmp(argv[1], "restart") == 0) {
        restart(&b, argv[2], false);
        return 0;
    }
    b.urls = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    b.hosts = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    snprintf(dir, sizeof dir, "%s/bench-store-XXXXXX",
             argc > 3 ? argv[3] : "/tmp");
    if (mkdtemp(dir) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/frontier.db", dir);
    b.wait_cap = (uint32_t)b.hosts + 2;
    b.active = xcalloc(ACTIVE, sizeof *b.active);
    b.cursor = xcalloc(b.hosts + 2, sizeof *b.cursor);
    b.listed = xcalloc(b.hosts + 2, sizeof *b.listed);
    b.waiting = xcalloc(b.wait_cap, sizeof *b.waiting);
    b.hot = xcalloc((size_t)HOT * 4, sizeof *b.hot);
    b.link = xcalloc(PAGES * LINKS, sizeof *b.link);
    b.digests = xcalloc(PAGES * LINKS, sizeof *b.digests);
    b.found = xcalloc(PAGES * LINKS, sizeof *b.found);
    b.commit_ns = xcalloc(b.urls / 100 + 1000, sizeof *b.commit_ns);
    child = fork();
    if (child == 0) {
        crawl(&b, path);
        fflush(stdout);
        _exit(0); /* closes nothing, like kill -9 */
    }
    waitpid(child, &status, 0);
    if (status == 0)
        restart(&b, path, true);
    if (getenv("KEEP") != NULL) {
        printf("kept: %s\n", path);
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    rmdir(dir);
    return status == 0 ? 0 : 1;
}
