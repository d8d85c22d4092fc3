/* SPDX-License-Identifier: MIT */
/*
 * bench_wide.c - thousands of hosts, some slow and some dead, at their pace.
 *
 * The hosts of wide_web.h, a second from a response to the host's next request,
 * so that all hosts together bound the requests a second by
 *
 *   the sum over all hosts that live of 1 / (delay + time to respond)
 *
 * Crawled with --no-adaptive, which that bound is for, and with the adaptive
 * delay, the default, which waits for at least twice the time that a host takes
 * and so has a lower bound. The rate is that of the middle of the run, when all
 * hosts have robots.txt behind them and pages before them; `busy` is how much
 * of the machine was in use in the whole run, by crawl, server and others.
 *
 * Nothing may be lost: afterwards every page that some fetched page leads to is
 * looked up in the crawl's export. Hosts that live have all of theirs fetched,
 * once; a page of a host that comes and goes may have failed; those of dead
 * hosts may wait. A crawl ends after a time; the adaptive one before the slow
 * hosts do, any if the cores were full: what is left must be queued.
 *
 * usage: bench_wide [HOSTS [SECONDS [MEMORY]]]   (2000 60 512M, 10000 60 1G)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/support/whole_crawl.h"
#include "bench/support/wide_server.h"

#define TO_REACH   0.85
#define LOST_SHOWN 5
#define FULL       0.95 /* of the cores: the rate says nothing then */

enum state { UNKNOWN, QUEUED, FETCHED, NOT_FETCHED };

struct bench {
    struct wide_server server;
    struct whole_crawl crawl;
    unsigned char *states; /* of each page, by the export */
    bool adaptive;
    char memory[16];
};

struct row {
    struct crawl_cost cost;
    char progress[65536]; /* the counters */
    uint64_t fetched, failed, left, lost, twice;
    double rate, busy;
};

/* ---- the crawl ---- */

static bool write_seeds(const struct bench *b, const char *path)
{
    FILE *f = fopen(path, "w");
    char url[64];

    for (uint32_t h = 0; f != NULL && h < b->server.web.hosts; h++) {
        wide_web_url(&b->server.web, h, 0, url);
        fprintf(f, "%s\n", url);
    }
    return f != NULL && fclose(f) == 0;
}

/* Time of all cores since the start of the machine: used, and in all. */
static void read_cores(double out[2])
{
    unsigned long long t[8] = {0};
    FILE *f = fopen("/proc/stat", "r");

    out[0] = out[1] = 0;
    if (f == NULL)
        return;
    if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1],
               &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) == 8)
        for (int i = 0; i < 8; i++) {
            out[1] += (double)t[i];
            out[0] += i == 3 || i == 4 ? 0 : (double)t[i]; /* idle, iowait */
        }
    fclose(f);
}

/* What an ideal crawl needs, and for what comes and goes; with the adaptive
 * delay slow hosts would take twice as long again. Dead hosts are tried for
 * minutes. */
static int64_t time_limit(const struct bench *b)
{
    return b->server.web.seconds * (b->adaptive ? 1 : 2) + 30;
}

static void crawl(struct bench *b, struct row *r)
{
    char seeds[64], progress[64], delay[24], time[24];
    const char *const args[] = {
        "urlweir",    "crawl",
        "-o",         b->crawl.dir,
        "-i",         seeds,
        "-q",         "--progress",
        "json",       "--allow-private",
        "--insecure", "--delay",
        delay,        "--timeout",
        "12s",        "--memory",
        b->memory,    b->adaptive ? "--adaptive" : "--no-adaptive",
        "--time",     time,
        NULL};
    double before[2], after[2];

    snprintf(seeds, sizeof seeds, "%s/seeds", b->crawl.warc_dir);
    snprintf(progress, sizeof progress, "%s/progress", b->crawl.warc_dir);
    snprintf(delay, sizeof delay, "%" PRId64 "ms", b->server.web.delay_ms);
    snprintf(time, sizeof time, "%" PRId64 "s", time_limit(b));
    if (!write_seeds(b, seeds))
        return;
    read_cores(before);
    r->cost = whole_crawl_run(&b->crawl, args, progress);
    read_cores(after);
    r->busy = (after[0] - before[0]) / (after[1] - before[1]);
    whole_crawl_last_line(progress, r->progress, sizeof r->progress);
}

/* ---- the truth ---- */

static unsigned char *state_of(const struct bench *b, uint32_t host,
                               uint32_t page)
{
    return &b->states[(size_t)host * wide_web_pages_most(&b->server.web) +
                      page];
}

/* A line is URL, status, reason and so on. */
static void take_line(struct bench *b, const char *line)
{
    unsigned y, z, port, page;
    char scheme[8], status[16];
    uint32_t host;

    if (sscanf(line, "%7[a-z]://127.1.%u.%u:%u/%u,%15[a-z]", scheme, &y, &z,
               &port, &page, status) != 6 ||
        !wide_web_host(&b->server.web, 0x7f010000 | y << 8 | z, &host) ||
        page >= wide_web_pages(&b->server.web, host))
        return;
    *state_of(b, host, page) = strcmp(status, "fetched") == 0  ? FETCHED
                               : strcmp(status, "queued") == 0 ? QUEUED
                                                               : NOT_FETCHED;
}

static void read_export(struct bench *b)
{
    char command[sizeof b->crawl.program + 128], line[4096];
    FILE *f;

    snprintf(command, sizeof command, "%s export %s --what urls --format csv",
             b->crawl.program, b->crawl.dir);
    f = popen(command, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        take_line(b, line);
    if (f != NULL)
        pclose(f);
}

static bool is_lost(uint32_t host, unsigned char state)
{
    return state == UNKNOWN || (state == NOT_FETCHED && wide_web_lives(host));
}

static void say_lost(const struct bench *b, uint32_t host, uint32_t page,
                     unsigned char state, uint64_t before)
{
    static const char *const names[] = {"not known", "queued", "fetched",
                                        "not fetched"};
    char url[64];

    if (before >= LOST_SHOWN)
        return;
    wide_web_url(&b->server.web, host, page, url);
    printf("lost: %s is %s\n", url, names[state]);
}

/* Each page links to later ones, so those known are found from first to last.
 */
static void check_host(const struct bench *b, uint32_t host, struct row *r)
{
    uint32_t pages = wide_web_pages(&b->server.web, host);
    uint32_t known_to = 0; /* the last page that a fetched one leads to */

    for (uint32_t page = 0; page < pages && page <= known_to; page++) {
        unsigned char state = *state_of(b, host, page);

        if (state == FETCHED)
            known_to = page + WIDE_LINKS;
        r->fetched += state == FETCHED;
        r->failed += state == NOT_FETCHED;
        r->left += state == QUEUED && wide_web_lives(host);
        if (is_lost(host, state))
            say_lost(b, host, page, state, r->lost++);
        r->twice += wide_server_served(&b->server, host, page) > 1;
    }
}

static void check_all(struct bench *b, struct row *r)
{
    read_export(b);
    for (uint32_t h = 0; h < b->server.web.hosts; h++)
        check_host(b, h, r);
}

/* Requests a second between a third and five sixths of the ideal crawl's time.
 */
static double middle_rate(const struct wide_server *s)
{
    int64_t from = s->web.seconds / 3, to = s->web.seconds * 5 / 6;
    uint64_t n = 0;

    for (int64_t i = from; i < to; i++)
        n += s->log->by_second[i];
    return (double)n / (double)(to - from);
}

/* ---- the table ---- */

static bool print_row(const struct bench *b, const struct row *r)
{
    const struct wide_log *log = b->server.log;
    double bound = wide_web_rate(&b->server.web, b->adaptive);
    uint64_t pages = r->fetched > 0 ? r->fetched : 1;
    uint64_t memory = strtoull(b->memory, NULL, 10)
                      << (strchr(b->memory, 'G') != NULL ? 30 : 20);
    bool fast = r->rate >= TO_REACH * bound || r->busy >= FULL;
    bool small = (uint64_t)r->cost.rss_kb << 10 <= memory;
    bool ok = r->lost + r->twice + log->early + log->strays == 0 &&
              (r->left == 0 || b->adaptive || r->busy >= FULL);

    printf("%-9s %7" PRIu64 " %6" PRIu64 " %5.0f %10.0f %8.0f %5.2f %5.2f "
           "%7.0f %11" PRIu64 " %8" PRIu64 " %5ld of %-5s\n",
           b->adaptive ? "adaptive" : "1 s", r->fetched, r->failed,
           r->cost.seconds, r->rate, bound, r->rate / bound, r->busy,
           r->cost.cpu_us / (double)pages, log->connections,
           whole_crawl_counter(r->progress, "handshakes_resumed"),
           r->cost.rss_kb >> 10, b->memory);
    printf("          %" PRIu64 " left, %" PRIu64 " lost, %" PRIu64
           " fetched twice, %" PRIu64 " requests too early%s%s%s\n",
           r->left, r->lost, r->twice, log->early, ok ? "" : "   FAILED",
           fast ? "" : "   BELOW THE RATE", small ? "" : "   TOO LARGE");
    fflush(stdout);
    return ok && fast && small;
}

static bool measure(struct bench *b, const struct wide_web *web, bool adaptive)
{
    struct row *r = xcalloc(1, sizeof *r);
    bool ok = false;

    b->adaptive = adaptive;
    b->states = xcalloc(web->hosts, wide_web_pages_most(web));
    if (whole_crawl_init(&b->crawl)) {
        if (wide_server_start(&b->server, web) == STATUS_OK) {
            crawl(b, r);
            wide_server_stop(&b->server);
            r->rate = middle_rate(&b->server);
            check_all(b, r);
            ok = print_row(b, r);
        }
        wide_server_free(&b->server);
        whole_crawl_fini(&b->crawl);
    }
    free(b->states);
    free(r);
    return ok;
}

static bool compare(uint32_t hosts, int64_t seconds, const char *memory)
{
    struct bench b = {.adaptive = false};
    struct wide_web web = {.hosts = hosts,
                           .seconds = seconds,
                           .delay_ms = 1000};
    bool ok;

    snprintf(b.memory, sizeof b.memory, "%s", memory);
    wide_web_init(&web);
    printf("%u hosts, %" PRIu64 " pages of those that live, %" PRId64
           " s for an ideal crawl\n",
           hosts, wide_web_total(&web), seconds);
    printf("%-9s %7s %6s %5s %10s %8s %5s %5s %7s %11s %8s %s\n", "delay",
           "pages", "failed", "s", "requests/s", "bound", "share", "busy",
           "us/page", "connections", "resumed", "MiB");
    ok = measure(&b, &web, false);
    ok &= measure(&b, &web, true);
    putchar('\n');
    wide_web_fini(&web);
    return ok;
}

int main(int argc, char **argv)
{
    int64_t seconds = argc > 2 ? strtoll(argv[2], NULL, 10) : 60;
    uint32_t hosts =
        argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : WIDE_HOSTS_MOST + 1;
    bool ok;

    if (argc > 1 && (hosts < 1 || hosts > WIDE_HOSTS_MOST || seconds < 6 ||
                     seconds > WIDE_SECONDS_MOST)) {
        fputs("usage: bench_wide [HOSTS [SECONDS [MEMORY]]]\n", stderr);
        return 2;
    }
    if (argc > 1)
        return compare(hosts, seconds, argc > 3 ? argv[3] : "512M") ? 0 : 1;
    ok = compare(2000, seconds, "512M");
    ok &= compare(10000, seconds, "1G");
    return ok ? 0 : 1;
}
