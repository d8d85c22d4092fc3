/* SPDX-License-Identifier: MIT */
/*
 * bench_tls.c - hosts behind TLS at their pace: connections, handshakes, CPU.
 *
 * HOSTS hosts (tls_site.h), PAGES pages each, DELAY ms from a response to the
 * host's next request, with HTTP/1.1 and with HTTP/2, in three ways in one run,
 * each in a process of its own, whose CPU time the kernel counts:
 *
 *   fetch  a plain curl multi loop over the known pages at the same pace, which
 *          keeps its connections and throws bodies away: bare_loop.h
 *   parse  the same, each body through libxml2's push SAX parser
 *   crawl  urlweir crawl from page 0 of each host, everything on, with as many
 *          threads as there are cores
 *
 * The crawl asks each host for robots.txt and /sitemap.xml as well; their cost
 * is part of its pages' cost, and the bare loops do without. No client checks
 * the certificate. The server shares the cores; only CPU time is compared. A
 * host asked without pause but for the delay is asked 1 / delay times a second:
 * all hosts together bound the requests a second.
 *
 * usage: bench_tls [HOSTS [PAGES [DELAY]]]   (1500 14 500)
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/support/bare_loop.h"
#include "bench/support/tls_site.h"
#include "bench/support/whole_crawl.h"

struct bench {
    size_t hosts, pages;
    unsigned delay_ms;
    struct tls_site site;
};

struct row {
    struct crawl_cost cost;
    uint64_t pages, requests, connections;
    uint64_t handshakes, resumed; /* of the crawl; libcurl does not count */
};

/* ---- the ways ---- */

/* Page 0 of every host, then page 1 of every host, as bare_loop.h wants it. */
static char **known_urls(const struct bench *b, enum tls_protocol p)
{
    char **urls = xcalloc(b->hosts * b->pages, sizeof *urls);

    for (size_t i = 0; i < b->hosts * b->pages; i++) {
        char url[64];

        tls_site_url(&b->site, p, i % b->hosts, i / b->hosts, url);
        urls[i] = xstrdup(url);
    }
    return urls;
}

static struct row measure_bare(const struct bench *b, char **urls, bool parse)
{
    struct bare_loop loop = {.urls = urls,
                             .count = b->hosts * b->pages,
                             .parse = parse,
                             .insecure = true,
                             .hosts = b->hosts,
                             .delay_ns = b->delay_ms * NS_PER_MS};
    struct row r = {.pages = loop.count, .requests = loop.count};

    r.cost = bare_loop_measure(&loop, &r.connections);
    return r;
}

static void read_counters(const char *path, struct row *r)
{
    char line[65536];

    whole_crawl_last_line(path, line, sizeof line);
    r->pages = whole_crawl_counter(line, "fetched");
    r->requests = whole_crawl_counter(line, "requests");
    r->connections = whole_crawl_counter(line, "connections");
    r->handshakes = whole_crawl_counter(line, "handshakes");
    r->resumed = whole_crawl_counter(line, "handshakes_resumed");
}

static bool write_seeds(const char *path, char **urls, size_t hosts)
{
    FILE *f = fopen(path, "w");

    for (size_t i = 0; f != NULL && i < hosts; i++)
        fprintf(f, "%s\n", urls[i]);
    return f != NULL && fclose(f) == 0;
}

static struct row measure_crawl(const struct bench *b, char **urls)
{
    struct whole_crawl w;
    struct row r = {.cost = {.status = -1}};
    char seeds[64], progress[64], delay[16];
    const char *const args[] = {
        "urlweir",    "crawl",   "-o",         w.dir,  "-i",
        seeds,        "-q",      "--progress", "json", "--allow-private",
        "--insecure", "--delay", delay,        NULL};

    if (!whole_crawl_init(&w))
        return r;
    snprintf(seeds, sizeof seeds, "%s/seeds", b->site.dir);
    snprintf(progress, sizeof progress, "%s/progress", b->site.dir);
    snprintf(delay, sizeof delay, "%ums", b->delay_ms);
    if (write_seeds(seeds, urls, b->hosts)) {
        r.cost = whole_crawl_run(&w, args, progress);
        read_counters(progress, &r);
    }
    whole_crawl_fini(&w);
    return r;
}

/* ---- the table ---- */

static bool print_row(const struct bench *b, const char *what,
                      const struct row *r)
{
    bool ok = r->cost.status == 0 && r->pages == b->hosts * b->pages;
    double pages = r->pages > 0 ? (double)r->pages : 1;
    char full[24] = "-", resumed[24] = "-";

    if (r->handshakes > 0) {
        snprintf(full, sizeof full, "%" PRIu64, r->handshakes - r->resumed);
        snprintf(resumed, sizeof resumed, "%" PRIu64, r->resumed);
    }
    printf("%-8s %8" PRIu64 " %9" PRIu64 " %12" PRIu64
           " %6s %8s %8.1f %8.0f %11.0f%s\n",
           what, r->pages, r->requests, r->connections, full, resumed,
           r->cost.cpu_us / pages, pages / r->cost.seconds,
           (double)r->requests / r->cost.seconds, ok ? "" : "   FAILED");
    fflush(stdout);
    return ok;
}

static void print_ratios(const struct row *crawl, const char *name,
                         const struct row *bare, const char *aim)
{
    double ratio = crawl->cost.cpu_us / bare->cost.cpu_us;

    printf("crawl / %s: %.2f of the CPU a page, %.2f a request%s\n", name,
           ratio, ratio * (double)bare->requests / (double)crawl->requests,
           aim);
}

static bool compare(const struct bench *b, enum tls_protocol p,
                    const char *title)
{
    char **urls = known_urls(b, p);
    struct row fetch, parse, crawl;
    bool ok;

    printf("%-8s %8s %9s %12s %6s %8s %8s %8s %11s\n", title, "pages",
           "requests", "connections", "full", "resumed", "us/page", "pages/s",
           "requests/s");
    fetch = measure_bare(b, urls, false);
    ok = print_row(b, "fetch", &fetch);
    parse = measure_bare(b, urls, true);
    ok &= print_row(b, "parse", &parse);
    crawl = measure_crawl(b, urls);
    ok &= print_row(b, "crawl", &crawl);
    printf("crawl: %.2f connections a host (to reach: 1.05)\n",
           (double)crawl.connections / (double)b->hosts);
    print_ratios(&crawl, "fetch", &fetch, " (a page: to reach 1.50)");
    print_ratios(&crawl, "parse", &parse, "");
    putchar('\n');
    for (size_t i = 0; i < b->hosts * b->pages; i++)
        free(urls[i]);
    free(urls);
    return ok;
}

static size_t number(int argc, char **argv, int at, size_t otherwise,
                     size_t most)
{
    size_t n = argc > at ? strtoul(argv[at], NULL, 10) : otherwise;

    return n == 0 ? 1 : n > most ? most : n;
}

int main(int argc, char **argv)
{
    struct bench b = {.hosts = number(argc, argv, 1, 1500, TLS_HOSTS_MOST),
                      .pages = number(argc, argv, 2, 14, TLS_PAGES_MOST)};
    bool ok;

    b.delay_ms = (unsigned)number(argc, argv, 3, 500, 60000);
    if (!tls_site_installed()) {
        puts("hosts behind TLS: skipped, nginx is not installed");
        return 0;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    ok = tls_site_start(&b.site, b.hosts, b.pages);
    if (ok) {
        printf("%zu hosts behind TLS, %zu pages each, %u ms between requests: "
               "at most %.0f requests/s\n\n",
               b.hosts, b.pages, b.delay_ms,
               (double)b.hosts * 1000 / b.delay_ms);
        ok = compare(&b, TLS_HTTP1, "HTTP/1.1");
        ok &= compare(&b, TLS_HTTP2, "HTTP/2");
    } else {
        puts("nginx: FAILED");
    }
    tls_site_stop(&b.site);
    return ok ? 0 : 1;
}
