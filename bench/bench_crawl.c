/* SPDX-License-Identifier: MIT */
/*
 * bench_crawl.c - what a crawled page costs, compared with fetching and parsing
 * alone.
 *
 * A generated web and real documentation (sqlite3-doc on sixteen addresses), on
 * loopback, each in four ways in one run, in a process of its own, whose CPU
 * time and memory the kernel counts:
 *
 *   fetch  a plain curl multi loop over the known URLs: curl_multi_perform, 64
 *          at once, bodies thrown away
 *   parse  the same, each body through libxml2's push SAX parser, its links
 *          counted: the least that can be called crawling, with no frontier, no
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
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bare_loop.h"
#include "bench/crawl_web.h"
#include "bench/whole_crawl.h"

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

/* Compares the bare loop over `urls`, which is cut into lines, with both
 * crawls. */
static void compare(const char *title, struct buf *urls,
                    struct crawl_cost crawl, struct crawl_cost warc,
                    const struct crawl_cost *wget2, const char *aim)
{
    struct bare_loop b = {0};
    struct crawl_cost fetch, parse;

    b.urls = lines_of(urls, &b.count);
    fetch = bare_loop_measure(&b, NULL);
    b.parse = true;
    parse = bare_loop_measure(&b, NULL);
    printf("%-12s  pages   pages/s   us/page   RSS MiB\n", title);
    print_row("fetch", fetch, b.count);
    print_row("parse", parse, b.count);
    print_row("crawl", crawl, b.count);
    print_row("warc", warc, b.count);
    if (wget2 != NULL)
        print_row("wget2", *wget2, b.count);
    printf("crawl / parse: %.2f of the CPU a page (to reach: %s)\n",
           crawl.cpu_us / parse.cpu_us, aim);
    if (wget2 != NULL)
        printf("crawl / wget2: %.2f of the CPU a page (to reach: 1.00)\n",
               crawl.cpu_us / wget2->cpu_us);
    printf("warc - crawl: %.0f us more a page (to reach: 100 at 9.7 KB)\n\n",
           (warc.cpu_us - crawl.cpu_us) / (double)b.count);
    fflush(stdout);
    free(b.urls);
}

static int known_web(const char *pages, const char *hosts, const char *size)
{
    const char *const web[] = {"--pages", pages,    "--hosts", hosts, "--size",
                               size,      "--seed", "1",       NULL};
    char *seeds[] = {NULL, NULL}, title[32];
    struct site *site = NULL;
    struct crawl_cost crawl, warc, wget2;
    bool has_wget2;
    struct buf urls;
    struct whole_crawl r;
    int failed = 1;

    buf_init(&urls, (size_t)1 << 30);
    if (!whole_crawl_init(&r) || site_start(&site, web, NULL) != STATUS_OK ||
        site_urls(site, &urls) != STATUS_OK)
        goto out;
    seeds[0] = xstrdup(site_seed(site));
    crawl = whole_crawl_measure(&r, "any", seeds, false);
    warc = whole_crawl_measure(&r, "any", seeds, true);
    has_wget2 = whole_crawl_wget2(&r, true, seeds, &wget2);
    snprintf(title, sizeof title, "%.6s hosts", hosts);
    compare(title, &urls, crawl, warc, has_wget2 ? &wget2 : NULL, "0.65");
    free(seeds[0]);
    failed = 0;
out:
    site_stop(site);
    buf_fini(&urls);
    whole_crawl_fini(&r);
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

static int documentation(const char *dir)
{
    char where[PATH_MAX], *seeds[SEEDS_MOST + 1] = {NULL};
    const char *const dirs[] = {where, NULL};
    size_t n;
    struct site *site = NULL;
    struct buf urls;
    struct crawl_cost crawl, warc, wget2;
    struct whole_crawl r;
    bool has_wget2;

    snprintf(where, sizeof where, "%s/index.html", dir);
    if (access(where, R_OK) != 0) {
        printf("real documentation: skipped, sqlite3-doc is not installed\n");
        return 0;
    }
    n = (size_t)snprintf(where, sizeof where, "%s=127.0.0.1", dir);
    for (int i = 2; i <= SEEDS_MOST; i++)
        n += (size_t)snprintf(where + n, sizeof where - n, ",127.0.0.%d", i);
    if (!whole_crawl_init(&r) || site_start_files(&site, dirs) != STATUS_OK)
        return 1;
    for (int i = 0; i < SEEDS_MOST; i++) {
        char seed[64];

        snprintf(seed, sizeof seed, "http://127.0.0.%d:%u/", i + 1,
                 (unsigned)site_port(site));
        seeds[i] = xstrdup(seed);
    }
    buf_init(&urls, (size_t)1 << 30);
    crawl = whole_crawl_measure(&r, "host", seeds, false);
    warc = whole_crawl_measure(&r, "host", seeds, true);
    whole_crawl_fetched(&r, &urls);
    has_wget2 = whole_crawl_wget2(&r, false, seeds, &wget2);
    compare("real docs", &urls, crawl, warc, has_wget2 ? &wget2 : NULL, "0.60");
    for (int i = 0; i < SEEDS_MOST; i++)
        free(seeds[i]);
    buf_fini(&urls);
    site_stop(site);
    whole_crawl_fini(&r);
    return 0;
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
        return documentation(argc > 2 ? argv[2] : docs);
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        return by_threads(argc > 2 ? argv[2] : "20000");
    if (argc > 1 && strcmp(argv[1], "conns") == 0)
        return by_connections(argc > 2 ? argv[2] : "20000");
    if (argc > 1 && strcmp(argv[1], "growth") == 0)
        return growth(argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000);
    if (argc > 1)
        return known_web(argv[1], argc > 2 ? argv[2] : "100",
                         argc > 3 ? argv[3] : size);
    return known_web("20000", "100", size) | known_web("200000", "1000", size) |
           documentation(docs);
}
