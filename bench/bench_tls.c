/* SPDX-License-Identifier: MIT */
/*
 * bench_tls.c - hosts behind TLS at their pace: connections, handshakes, CPU.
 *
 * HOSTS hosts (tls_site.h), PAGES pages each, DELAY ms from a response to the
 * host's next request, with HTTP/1.1 and with HTTP/2, in three ways in turn,
 * ROUNDS times over, each in a process of its own, whose CPU time the kernel
 * counts:
 *
 *   fetch  a plain curl multi loop over the known pages at the same pace, which
 *          keeps its connections and throws bodies away: bare_loop.h
 *   parse  the same, each body through libxml2's push SAX parser
 *   crawl  urlweir crawl from page 0 of each host, everything on, with as many
 *          threads as there are cores
 *
 * The crawl asks each host for robots.txt and /sitemap.xml as well; their cost
 * is part of its pages' cost, and the bare loops do without. No client checks
 * the certificate. The server shares the cores; only CPU time is compared, and
 * ratios are those of one round, since a machine's speed changes from minute to
 * minute. A host asked without pause but for the delay is asked 1 / delay times
 * a second: all hosts together bound the requests a second.
 *
 * usage: bench_tls [HOSTS [PAGES [DELAY [ROUNDS]]]]   (1500 14 500 3)
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/support/bare_loop.h"
#include "bench/support/spread.h"
#include "bench/support/tls_site.h"
#include "bench/support/whole_crawl.h"

#define ROUNDS_MOST 9

struct bench {
    size_t hosts, pages, rounds;
    unsigned delay_ms;
    struct tls_site site;
};

enum way { FETCH, PARSE, CRAWL, WAYS };

static const char *const way_name[] = {"fetch", "parse", "crawl"};

struct row {
    struct crawl_cost cost;
    uint64_t pages, requests, connections;
    uint64_t handshakes, resumed; /* of the crawl; libcurl does not count */
};

/* Of one protocol. */
struct comparison {
    const struct bench *b;
    struct row rows[WAYS][ROUNDS_MOST];
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

static double us_a_page(const struct row *r)
{
    return r->cost.cpu_us / (double)(r->pages > 0 ? r->pages : 1);
}

static struct spread us_of(const struct comparison *c, enum way way)
{
    double v[ROUNDS_MOST];

    for (size_t i = 0; i < c->b->rounds; i++)
        v[i] = us_a_page(&c->rows[way][i]);
    return spread_of(v, c->b->rounds);
}

static struct spread rate_of(const struct comparison *c, enum way way)
{
    double v[ROUNDS_MOST];

    for (size_t i = 0; i < c->b->rounds; i++)
        v[i] = (double)c->rows[way][i].requests / c->rows[way][i].cost.seconds;
    return spread_of(v, c->b->rounds);
}

static bool is_whole(const struct comparison *c, enum way way)
{
    bool ok = true;

    for (size_t i = 0; i < c->b->rounds; i++)
        ok &= c->rows[way][i].cost.status == 0 &&
              c->rows[way][i].pages == c->b->hosts * c->b->pages;
    return ok;
}

/* The round with the most connections: an aim that is missed once is missed. */
static const struct row *worst(const struct comparison *c, enum way way)
{
    const struct row *r = &c->rows[way][0];

    for (size_t i = 1; i < c->b->rounds; i++)
        if (c->rows[way][i].connections > r->connections)
            r = &c->rows[way][i];
    return r;
}

static bool print_row(const struct comparison *c, enum way way)
{
    const struct row *r = worst(c, way);
    struct spread us = us_of(c, way), rate = rate_of(c, way);
    bool ok = is_whole(c, way);
    char full[24] = "-", resumed[24] = "-";

    if (r->handshakes > 0) {
        snprintf(full, sizeof full, "%" PRIu64, r->handshakes - r->resumed);
        snprintf(resumed, sizeof resumed, "%" PRIu64, r->resumed);
    }
    printf("%-8s %7" PRIu64 " %8" PRIu64 " %11" PRIu64
           " %5s %7s %7.1f %6.1f %6.1f %10.0f%s\n",
           way_name[way], r->pages, r->requests, r->connections, full, resumed,
           us.mid, us.least, us.most, rate.mid, ok ? "" : "   FAILED");
    return ok;
}

static void print_ratios(const struct comparison *c, enum way bare,
                         const char *aim)
{
    const struct row *crawl = c->rows[CRAWL], *other = c->rows[bare];
    double page[ROUNDS_MOST], request[ROUNDS_MOST];
    struct spread p, r;

    for (size_t i = 0; i < c->b->rounds; i++) {
        page[i] = us_a_page(&crawl[i]) / us_a_page(&other[i]);
        request[i] = crawl[i].cost.cpu_us / other[i].cost.cpu_us *
                     (double)other[i].requests / (double)crawl[i].requests;
    }
    p = spread_of(page, c->b->rounds);
    r = spread_of(request, c->b->rounds);
    printf("crawl / %s: %.2f of the CPU a page (%.2f to %.2f%s), %.2f a "
           "request (%.2f to %.2f)\n",
           way_name[bare], p.mid, p.least, p.most, aim, r.mid, r.least, r.most);
}

static bool print_comparison(const struct comparison *c, const char *title)
{
    bool ok = true;

    printf("%-8s %7s %8s %11s %5s %7s %7s %6s %6s %10s\n", title, "pages",
           "requests", "connections", "full", "resumed", "us/page", "least",
           "most", "requests/s");
    for (enum way way = FETCH; way < WAYS; way++)
        ok &= print_row(c, way);
    printf("crawl: %.2f connections a host (to reach: 1.05)\n",
           (double)worst(c, CRAWL)->connections / (double)c->b->hosts);
    print_ratios(c, FETCH, "; to reach: 1.50");
    print_ratios(c, PARSE, "");
    putchar('\n');
    fflush(stdout);
    return ok;
}

static bool compare(const struct bench *b, enum tls_protocol p,
                    const char *title)
{
    char **urls = known_urls(b, p);
    struct comparison c = {.b = b};

    for (size_t i = 0; i < b->rounds; i++) {
        c.rows[FETCH][i] = measure_bare(b, urls, false);
        c.rows[CRAWL][i] = measure_crawl(b, urls);
        c.rows[PARSE][i] = measure_bare(b, urls, true);
    }
    for (size_t i = 0; i < b->hosts * b->pages; i++)
        free(urls[i]);
    free(urls);
    return print_comparison(&c, title);
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
    b.rounds = number(argc, argv, 4, 3, ROUNDS_MOST);
    if (!tls_site_installed()) {
        puts("hosts behind TLS: skipped, nginx is not installed");
        return 0;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    ok = tls_site_start(&b.site, b.hosts, b.pages);
    if (ok) {
        printf("%zu hosts behind TLS, %zu pages each, %u ms between requests: "
               "at most %.0f requests/s; medians of %zu\n\n",
               b.hosts, b.pages, b.delay_ms,
               (double)b.hosts * 1000 / b.delay_ms, b.rounds);
        ok = compare(&b, TLS_HTTP1, "HTTP/1.1");
        ok &= compare(&b, TLS_HTTP2, "HTTP/2");
    } else {
        puts("nginx: FAILED");
    }
    tls_site_stop(&b.site);
    return ok ? 0 : 1;
}
