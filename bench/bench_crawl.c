/* SPDX-License-Identifier: MIT */
/*
 * bench_crawl.c - what a crawled page costs, compared with fetching and parsing
 * alone.
 *
 * A generated web and real documentation (sqlite3-doc on sixteen addresses), on
 * loopback, each in five ways in turn, several times over, in a process of its
 * own, whose CPU time and memory the kernel counts:
 *
 *   fetch  a bare loop over the known URLs: libcurl's sockets in an epoll, 64
 *          transfers at once, bodies thrown away
 *   parse  the same, each body as a whole through libxml2's SAX parser, its
 *          links counted: the least that can be called crawling, with no frontier, no
 *          seen check, no store, no robots.txt
 *   crawl  urlweir crawl from the seeds, one fetcher thread, everything on
 *   warc   the same with --warc, gzip level 1: what an archive costs more
 *   wget2  a recursive crawl by wget2, its files deleted, if it is installed;
 *          it also fetches what urlweir does not follow (images, styles), so
 *          its cost is that of the pages that urlweir counted
 *
 * The server has the other core; only CPU time is compared. The bare loops ask
 * for the pages that the crawl counted, 404s of the documentation included; its
 * robots.txt and redirects count for the crawl only.
 *
 * Without numbers the generated web is one of 100 hosts, then one of 1,000 with
 * 200 pages each. The word docs crawls the documentation only, of another
 * folder if one is named. With the word growth: only crawls, of ever larger
 * webs, up to PAGES. With the word threads: one fetcher thread and two, on 1, 5
 * and 1,000 hosts, and each thread's part of the fetchers' CPU time. With the
 * word conns: one connection to a host and several, on 5, 100 and 1,000 hosts.
 *
 * usage: bench_crawl [PAGES [HOSTS [OCTETS]]]
 *        bench_crawl docs [FOLDER]
 *        bench_crawl growth [PAGES]
 *        bench_crawl threads [PAGES]
 *        bench_crawl conns [PAGES]
 */
/* Promise (Audit, progress and figures): recording a response costs at most 100
 * us more for a page of 9.7 KB. */
/* Promise (Audit, progress and figures): what a page costs beside a bare loop
 * of libcurl and libxml2, the seen check beside a B-tree, URLs, and lists
 * beside sort, awk and a table. See also `make bench-seen`, `make bench-url`,
 * `make bench-dedupe`. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/support/bare_loop.h"
#include "bench/support/crawl_web.h"
#include "bench/support/spread.h"
#include "bench/support/whole_crawl.h"

#define SEEDS_MOST CRAWL_SEEDS_MOST

static void print_row(const char *what, struct crawl_cost c, size_t pages)
{
    printf("%-8s %8zu %9.0f %9.1f %9.1f", what, pages,
           (double)pages / c.seconds, c.cpu_us / (double)pages,
           (double)c.rss_kb / 1024);
    puts(c.status == 0 ? "" : "   FAILED");
}

/* ---- the run ------------------------------------------------------------- */

/* Splits in place; the caller frees the list. */
static char **lines_of(struct buf *text, size_t *count)
{
    char **lines = NULL, *at = text->at, *end;
    size_t n = 0;

    while (at != NULL && (end = strchr(at, '\n')) != NULL) {
        *end = '\0';
        if (n % 1024 == 0)
            lines = xrealloc(lines, (n + 1024) * sizeof *lines);
        lines[n++] = at;
        at = end + 1;
    }
    *count = n;
    return lines;
}

enum way { FETCH, PARSE, CRAWL, WARC, WGET2, WAYS };

static const char *const way_name[] = {"fetch", "parse", "crawl", "warc",
                                       "wget2"};

#define ROUNDS_MOST 9

/* All ways in turn, several times, since a machine's speed changes from minute
 * to minute. */
struct comparison {
    const char *title, *aim, *scope;
    char **seeds;
    bool wget2_all_hosts;
    /* Called once after the first crawl: the URLs that the bare loops ask for,
     * each with a line feed. */
    bool (*list_urls)(struct site *site, const struct whole_crawl *r,
                      struct buf *out);
    struct site *site;
    unsigned rounds;
    bool has_wget2;
    struct bare_loop loop;
    struct buf urls;
    struct crawl_cost cost[WAYS][ROUNDS_MOST];
};

static bool one_round(struct comparison *c, unsigned round)
{
    struct whole_crawl r;
    bool ok = whole_crawl_init(&r);

    if (!ok)
        return false;
    c->cost[CRAWL][round] = whole_crawl_measure(&r, c->scope, c->seeds, false);
    c->cost[WARC][round] = whole_crawl_measure(&r, c->scope, c->seeds, true);
    if (round == 0) {
        ok = c->list_urls(c->site, &r, &c->urls);
        c->loop.urls = lines_of(&c->urls, &c->loop.count);
    }
    c->has_wget2 = whole_crawl_wget2(&r, c->wget2_all_hosts, c->seeds,
                                     &c->cost[WGET2][round]);
    whole_crawl_fini(&r);
    c->loop.parse = false;
    c->cost[FETCH][round] = bare_loop_measure(&c->loop, NULL);
    c->loop.parse = true;
    c->cost[PARSE][round] = bare_loop_measure(&c->loop, NULL);
    return ok;
}

/* Of the rounds' quotients, or of a way's cost itself if `under` is WAYS. */
static struct spread ratio(const struct comparison *c, enum way over,
                           enum way under)
{
    double v[ROUNDS_MOST] = {0};

    for (unsigned i = 0; i < c->rounds; i++)
        v[i] =
            c->cost[over][i].cpu_us /
            (under < WAYS ? c->cost[under][i].cpu_us : (double)c->loop.count);
    return spread_of(v, c->rounds);
}

static void print_ratio(const struct comparison *c, enum way under,
                        const char *aim)
{
    const struct spread r = ratio(c, CRAWL, under);

    printf("crawl / %s: %.2f of the CPU a page (%.2f to %.2f; to reach: %s)\n",
           way_name[under], r.mid, r.least, r.most, aim);
}

static void print_comparison(const struct comparison *c)
{
    printf("%-12s  pages   pages/s   us/page   least    most   RSS MiB   "
           "(medians of %u)\n",
           c->title, c->rounds);
    for (enum way w = FETCH; w < (c->has_wget2 ? WAYS : WGET2); w++) {
        const struct spread us = ratio(c, w, WAYS);
        double seconds = 0;
        const struct crawl_cost *best = &c->cost[w][0];
        bool failed = false;

        for (unsigned i = 0; i < c->rounds; i++) {
            const struct crawl_cost *x = &c->cost[w][i];

            failed |= x->status != 0;
            seconds += x->seconds / c->rounds;
            best = x->rss_kb > best->rss_kb ? x : best;
        }
        printf("%-8s %10zu %9.0f %9.1f %7.1f %7.1f %9.1f%s\n", way_name[w],
               c->loop.count, (double)c->loop.count / seconds, us.mid, us.least,
               us.most, (double)best->rss_kb / 1024, failed ? "   FAILED" : "");
    }
    print_ratio(c, PARSE, c->aim);
    if (c->has_wget2)
        print_ratio(c, WGET2, "1.00");
    printf("warc - crawl: %.0f us more a page (to reach: 100 at 9.7 KB)\n\n",
           ratio(c, WARC, WAYS).mid - ratio(c, CRAWL, WAYS).mid);
    fflush(stdout);
}

static int compare(struct comparison *c)
{
    bool ok = true;

    buf_init(&c->urls, (size_t)1 << 30);
    for (unsigned i = 0; ok && i < c->rounds; i++)
        ok = one_round(c, i);
    if (ok)
        print_comparison(c);
    free(c->loop.urls);
    buf_fini(&c->urls);
    return ok ? 0 : 1;
}

static bool list_web(struct site *site, const struct whole_crawl *r,
                     struct buf *out)
{
    (void)r;
    return site_urls(site, out) == STATUS_OK;
}

static bool list_fetched(struct site *site, const struct whole_crawl *r,
                         struct buf *out)
{
    (void)site;
    whole_crawl_fetched(r, out);
    return out->len > 0;
}

static int known_web(const char *pages, const char *hosts, const char *size,
                     unsigned rounds)
{
    const char *const web[] = {"--pages", pages,    "--hosts", hosts, "--size",
                               size,      "--seed", "1",       NULL};
    char *seeds[] = {NULL, NULL}, title[32];
    struct comparison c = {.title = title,
                           .aim = "0.65",
                           .scope = "any",
                           .seeds = seeds,
                           .wget2_all_hosts = true,
                           .list_urls = list_web,
                           .rounds = rounds};
    int failed = 1;

    if (site_start(&c.site, web, NULL) == STATUS_OK) {
        seeds[0] = xstrdup(site_seed(c.site));
        snprintf(title, sizeof title, "%.6s hosts", hosts);
        failed = compare(&c);
        free(seeds[0]);
    }
    site_stop(c.site);
    return failed;
}

/* ---- as it grows ---- */

static bool crawl_of(const char *pages, struct crawl_cost *out)
{
    const char *const web[] = {"--pages", pages,  "--hosts", "1000",
                               "--size",  "2000", NULL};
    char *seeds[] = {NULL, NULL};
    struct site *site = NULL;
    struct whole_crawl r;
    bool ok = whole_crawl_init(&r) && site_start(&site, web, NULL) == STATUS_OK;

    if (ok) {
        seeds[0] = xstrdup(site_seed(site));
        *out = whole_crawl_measure(&r, "any", seeds, false);
        free(seeds[0]);
    }
    site_stop(site);
    whole_crawl_fini(&r);
    return ok;
}

static int growth(size_t most)
{
    static const size_t sizes[] = {10000, 100000, 1000000, 10000000};
    double first = 0, last = 0;

    puts("one crawl     pages   pages/s   us/page   RSS MiB");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char pages[24];
        struct crawl_cost c;

        if (sizes[i] > most)
            break;
        snprintf(pages, sizeof pages, "%zu", sizes[i]);
        if (!crawl_of(pages, &c))
            return 1;
        print_row("crawl", c, sizes[i]);
        fflush(stdout);
        last = c.cpu_us / (double)sizes[i];
        first = i == 0 ? last : first;
    }
    printf("largest / smallest: %.2f of the CPU a page\n", last / first);
    return 0;
}

/* ---- real documentation ---- */

static int documentation(const char *dir, unsigned rounds)
{
    char where[PATH_MAX], *seeds[SEEDS_MOST + 1] = {NULL};
    const char *const dirs[] = {where, NULL};
    struct comparison c = {.title = "real docs",
                           .aim = "0.60",
                           .scope = "host",
                           .seeds = seeds,
                           .list_urls = list_fetched,
                           .rounds = rounds};
    size_t n;
    int failed;

    snprintf(where, sizeof where, "%s/index.html", dir);
    if (access(where, R_OK) != 0) {
        printf("real documentation: skipped, sqlite3-doc is not installed\n");
        return 0;
    }
    n = (size_t)snprintf(where, sizeof where, "%s=127.0.0.1", dir);
    for (int i = 2; i <= SEEDS_MOST; i++)
        n += (size_t)snprintf(where + n, sizeof where - n, ",127.0.0.%d", i);
    if (site_start_files(&c.site, dirs) != STATUS_OK)
        return 1;
    for (int i = 0; i < SEEDS_MOST; i++) {
        char seed[64];

        snprintf(seed, sizeof seed, "http://127.0.0.%d:%u/", i + 1,
                 (unsigned)site_port(c.site));
        seeds[i] = xstrdup(seed);
    }
    failed = compare(&c);
    for (int i = 0; i < SEEDS_MOST; i++)
        free(seeds[i]);
    site_stop(c.site);
    return failed;
}

/* ---- fetcher threads ---- */

static bool crawl_by(const char *pages, const char *hosts, unsigned conns,
                     unsigned threads, struct crawl_cost *out)
{
    const char *const web[] = {"--pages", pages,  "--hosts", hosts,
                               "--size",  "9700", NULL};
    char *seeds[] = {NULL, NULL};
    struct site *site = NULL;
    struct whole_crawl r;
    bool ok = whole_crawl_init(&r) && site_start(&site, web, NULL) == STATUS_OK;

    if (ok) {
        r.threads = threads;
        r.conns = conns;
        seeds[0] = xstrdup(site_seed(site));
        *out = whole_crawl_measure(&r, "any", seeds, false);
        free(seeds[0]);
    }
    site_stop(site);
    whole_crawl_fini(&r);
    return ok && out->status == 0;
}

static int by_threads(const char *pages)
{
    static const struct {
        const char *hosts;
        unsigned conns;
    } webs[] = {{"1", 64}, {"5", 16}, {"1000", 1}};
    double n = strtod(pages, NULL);

    puts("hosts  conns  pages/s: 1 thread  2 threads  ratio   CPU of fetchers");
    for (size_t i = 0; i < sizeof webs / sizeof *webs; i++) {
        struct crawl_cost one, two;
        double all;

        if (!crawl_by(pages, webs[i].hosts, webs[i].conns, 1, &one) ||
            !crawl_by(pages, webs[i].hosts, webs[i].conns, 2, &two))
            return 1;
        all = two.fetcher_us[0] + two.fetcher_us[1];
        printf("%5s %6u %18.0f %10.0f %6.2f   %.0f %% and %.0f %%\n",
               webs[i].hosts, webs[i].conns, n / one.seconds, n / two.seconds,
               one.seconds / two.seconds, 100 * two.fetcher_us[0] / all,
               100 * two.fetcher_us[1] / all);
        fflush(stdout);
    }
    return 0;
}

/* ---- connections to a host ---- */

static int by_connections(const char *pages)
{
    static const char *const hosts[] = {"5", "100", "1000"};
    static const unsigned conns[] = {1, 4, 64};
    double n = strtod(pages, NULL);

    puts("hosts  conns  pages/s  us/page  to 1 conn");
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct crawl_cost one = {0}, c;

        for (size_t k = 0; k < sizeof conns / sizeof *conns; k++) {
            if (!crawl_by(pages, hosts[i], conns[k], 1, &c))
                return 1;
            if (k == 0)
                one = c;
            printf("%5s %6u %8.0f %8.1f %10.2f\n", hosts[i], conns[k],
                   n / c.seconds, c.cpu_us / n, c.cpu_us / one.cpu_us);
            fflush(stdout);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const char docs[] = "/usr/share/doc/sqlite3", size[] = "9700";

    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (argc > 1 && strcmp(argv[1], "docs") == 0)
        return documentation(argc > 2 ? argv[2] : docs, 5);
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        return by_threads(argc > 2 ? argv[2] : "20000");
    if (argc > 1 && strcmp(argv[1], "conns") == 0)
        return by_connections(argc > 2 ? argv[2] : "20000");
    if (argc > 1 && strcmp(argv[1], "growth") == 0)
        return growth(argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000);
    if (argc > 1)
        return known_web(argv[1], argc > 2 ? argv[2] : "100",
                         argc > 3 ? argv[3] : size, 5);
    return known_web("20000", "100", size, 5) |
           known_web("200000", "1000", size, 1) | documentation(docs, 5);
}
