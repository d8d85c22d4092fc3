/* SPDX-License-Identifier: MIT */
/*
 * bench_dates.c - what millions of pages with dates cost: CPU a fetch, memory,
 * disk, and the start after them.
 *
 * usage: bench_dates [-n URLS] [-h HOSTS] [-m MEMORY]   2,000,000; 1,000; 512M
 *
 * The frontier without sockets, in simulated time: each page is fetched once and
 * has its date then, the process starts again, and a quarter of them are
 * fetched at their dates. Their digests are in no order.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "crawler/html/link_values.h"
#include "frontier/crawl/frontier_open.h"

#define BATCH 256
#define EVERY INT64_C(86400000) /* ms between two fetches of a page */
/* URLs between two checkpoints: a crawl makes one each minute. */
#define CHECKPOINT 100000

struct dates {
    uint64_t urls, hosts, memory;
    char dir[64];
    struct frontier_options o;
    struct frontier *e;
    int64_t now;
    uint64_t worked; /* URLs put and fetched */
};

static void check(enum status st, const char *what)
{
    if (st == STATUS_OK)
        return;
    fprintf(stderr, "bench_dates: %s: %s\n", what, status_text(st));
    exit(1);
}

static void turn(struct dates *d, uint64_t urls)
{
    uint64_t before = d->worked / CHECKPOINT;
    enum status st;

    check(frontier_turn(d->e, false, d->now, d->now / NS_PER_MS, NULL), "turn");
    d->worked += urls;
    if (d->worked / CHECKPOINT == before)
        return;
    st = frontier_checkpoint(d->e, d->now, d->now / NS_PER_MS);
    check(st == STATUS_AGAIN ? STATUS_OK : st, "checkpoint");
}

static void put(struct dates *d)
{
    static char urls[BATCH][64], keys[BATCH][32];
    struct url_item items[BATCH];

    for (uint64_t i = 0; i < d->urls; i += BATCH) {
        size_t n = d->urls - i < BATCH ? (size_t)(d->urls - i) : BATCH;

        for (size_t k = 0; k < n; k++) {
            uint64_t id = i + k;

            snprintf(keys[k], sizeof keys[k], "h%" PRIu64 ".test",
                     id % d->hosts);
            snprintf(urls[k], sizeof urls[k],
                     "http://%s/a/path/of/a/page-%" PRIu64, keys[k], id);
            items[k] = (struct url_item){.seed = true,
                                         .kind = LINK_SEED,
                                         .key = bytes_of_str(keys[k]),
                                         .url = bytes_of_str(urls[k])};
            items[k].digest =
                digest_url(frontier_get_digest_key(d->e), d->o.crawl,
                           items[k].key, items[k].url);
        }
        check(frontier_put(d->e, 0, items, n, d->now / NS_PER_MS, NULL), "put");
        d->now += (int64_t)n * NS_PER_MS / 10;
        turn(d, n);
    }
}

/* Digests are spread evenly, as those of pages are. */
static uint64_t mixed(uint64_t id, uint64_t what)
{
    id = (id << 2 | what) * UINT64_C(0x9e3779b97f4a7c15);
    return (id ^ id >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static void ack(struct dates *d, const struct url_lease *l)
{
    struct url_done done = {
        .id = l->id,
        .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
        .row = {.at_ms = d->now / NS_PER_MS,
                .body_bytes = 1000,
                .body_digest = {mixed(l->id, 1), l->id},
                .body_print = mixed(l->id, 3),
                .text_digest = {mixed(l->id, 2), 1}},
        .host = {.ended = d->now, .retry_after_ms = -1},
    };

    check(frontier_ack(d->e, &done, 1, d->now, d->now / NS_PER_MS), "ack");
}

/* Fetches `n` pages that are due, now or later; returns us of CPU for each. */
static double fetch(struct dates *d, uint64_t n)
{
    struct url_lease l;
    int64_t begin = clock_cpu();
    uint64_t done = 0;

    while (done < n) {
        size_t got = 0;

        check(frontier_lease(d->e, 1, d->now, d->now / NS_PER_MS, &l, &got),
              "lease");
        if (got > 0) {
            ack(d, &l);
            d->now += NS_PER_MS;
            done++;
        } else {
            d->now = frontier_next_due(d->e, d->now, NULL);
        }
        turn(d, got);
    }
    check(frontier_turn(d->e, true, d->now, d->now / NS_PER_MS, NULL), "turn");
    return (double)(clock_cpu() - begin) / 1e3 / (double)n;
}

static double megabytes_of_memory(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

static double megabytes_on_disk(const struct dates *d)
{
    char path[96];
    struct stat s;

    snprintf(path, sizeof path, "%s/frontier.db", d->dir);
    return stat(path, &s) == 0 ? (double)s.st_size / 1048576 : 0;
}

static void run(struct dates *d)
{
    int64_t begin;
    double first, again;

    check(frontier_create(&d->e, d->dir, &d->o, 1), "create");
    put(d);
    first = fetch(d, d->urls);
    check(frontier_checkpoint_now(d->e, "stopped", true, d->now,
                                  d->now / NS_PER_MS),
          "checkpoint");
    frontier_close(d->e);
    begin = clock_cpu();
    check(frontier_open(&d->e, d->dir, &d->o, d->now, d->now / NS_PER_MS),
          "open");
    printf("%" PRIu64 " pages of %" PRIu64 " hosts, --memory %" PRIu64
           "M: %.1f us of CPU a first fetch, start %.2f s",
           d->urls, d->hosts, d->memory >> 20, first,
           (double)(clock_cpu() - begin) / 1e9);
    again = fetch(d, d->urls / 4);
    printf(", %.1f us a fetch at its date; memory %.0f MB at most, disk %.0f "
           "MB\n",
           again, megabytes_of_memory(), megabytes_on_disk(d));
    frontier_close(d->e);
}

int main(int argc, char **argv)
{
    struct dates d = {.urls = 2000000,
                      .hosts = 1000,
                      .memory = (uint64_t)512 << 20,
                      .dir = "/var/tmp/bench-dates-XXXXXX",
                      .now = NS_PER_S};
    char command[96];

    for (int opt; (opt = getopt(argc, argv, "n:h:m:")) != -1;) {
        uint64_t v = strtoull(optarg != NULL ? optarg : "", NULL, 10);

        if (v == 0)
            return 1;
        if (opt == 'n')
            d.urls = v;
        else if (opt == 'h')
            d.hosts = v;
        else if (opt == 'm')
            d.memory = v << 20;
    }
    d.o = (struct frontier_options){
        .crawl = bytes_of_str("DEFAULT"),
        .schedule = {.max_delay = NS_PER_S},
        .tries = 1,
        .conns_per_host = 1,
        .in_flight = 4096,
        .commit_least = 32,
        .store = {.use_filter = true, .fpr = 0.001, .memory = d.memory},
        .refresh = {.every_ms = EVERY, .min_ms = 1000, .share = 1},
        .changed_by = CHANGED_BY_TEXT,
        .commit_interval = NS_PER_S,
        .random_seed = 7,
    };
    if (mkdtemp(d.dir) == NULL)
        return 1;
    run(&d);
    snprintf(command, sizeof command, "rm -rf %s", d.dir);
    return system(command) == 0 ? 0 : 1;
}
