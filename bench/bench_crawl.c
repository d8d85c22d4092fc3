/* SPDX-License-Identifier: MIT */
/*
 * bench_crawl.c - what a crawled page costs, beside fetching and parsing alone.
 *
 * A generated web and real documentation (sqlite3-doc on sixteen addresses),
 * on loopback, each in all four ways in one run, in a process of its own whose
 * CPU time and memory the kernel counts:
 *
 *   fetch  a plain curl multi loop over the known URLs: curl_multi_perform, 64
 *          at once, bodies thrown away
 *   parse  the same, each body through libxml2's push SAX parser, its links
 *          counted: the least that can be called crawling, with no frontier, no
 *          seen check, no store, no robots.txt
 *   crawl  urlweir crawl from the seeds, one fetcher thread, everything on
 *   warc   the same with --warc, gzip level 1: what an archive costs more
 *
 * The server has the other core; only CPU time is compared. The bare loops ask
 * for the pages that the crawl counted, 404s of the documentation included; its
 * robots.txt and redirects are to the crawl's charge alone.
 *
 * With the word growth: crawls alone, of ever larger webs, up to PAGES.
 *
 * usage: bench_crawl [PAGES [HOSTS [OCTETS]]]
 *        bench_crawl growth [PAGES]
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <libxml/HTMLparser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/site.h"

#define AT_ONCE 64

/* ---- the bare loop ------------------------------------------------------- */

struct bare {
    char **urls;
    size_t count, next, done, failed;
    bool parse;
    uint64_t links;
};

struct slot {
    CURL *easy;
    struct bare *bare;
    htmlParserCtxtPtr parser;
};

static void count_links(void *ctx, const xmlChar *name, const xmlChar **atts)
{
    struct slot *s = ctx;

    (void)name;
    for (size_t i = 0; atts != NULL && atts[i] != NULL; i += 2) {
        if (strcmp((const char *)atts[i], "href") == 0 ||
            strcmp((const char *)atts[i], "src") == 0)
            s->bare->links++;
    }
}

static size_t take_body(char *at, size_t size, size_t n, void *ctx)
{
    static htmlSAXHandler sax = {.startElement = count_links};
    struct slot *s = ctx;

    if (!s->bare->parse)
        return size * n;
    if (s->parser == NULL) {
        s->parser = htmlCreatePushParserCtxt(&sax, s, NULL, 0, NULL,
                                             XML_CHAR_ENCODING_UTF8);
        htmlCtxtUseOptions(s->parser, HTML_PARSE_NOERROR |
                                          HTML_PARSE_NOWARNING |
                                          HTML_PARSE_NONET);
    }
    htmlParseChunk(s->parser, at, (int)(size * n), 0);
    return size * n;
}

static void begin_next(CURLM *multi, struct slot *s)
{
    struct bare *b = s->bare;

    if (b->next == b->count)
        return;
    curl_easy_setopt(s->easy, CURLOPT_URL, b->urls[b->next++]);
    curl_multi_add_handle(multi, s->easy);
}

static void finish(CURLM *multi, CURLMsg *msg)
{
    struct slot *s = NULL;

    curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&s);
    s->bare->done++;
    s->bare->failed += msg->data.result != CURLE_OK;
    if (s->parser != NULL) {
        htmlParseChunk(s->parser, "", 0, 1);
        htmlFreeParserCtxt(s->parser);
        s->parser = NULL;
    }
    curl_multi_remove_handle(multi, s->easy);
    begin_next(multi, s);
}

static CURL *new_easy(struct slot *s)
{
    CURL *e = curl_easy_init();

    curl_easy_setopt(e, CURLOPT_PRIVATE, s);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PROXY, "");
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, 20000L);
    return e;
}

/* Returns the child's exit status. */
static int run_bare(struct bare *b)
{
    struct slot slots[AT_ONCE];
    CURLM *multi = curl_multi_init();
    int running, left;

    for (size_t i = 0; i < AT_ONCE; i++) {
        slots[i] = (struct slot){.bare = b};
        slots[i].easy = new_easy(&slots[i]);
        begin_next(multi, &slots[i]);
    }
    while (b->done < b->count) {
        CURLMsg *msg;

        curl_multi_perform(multi, &running);
        while ((msg = curl_multi_info_read(multi, &left)) != NULL)
            finish(multi, msg);
        if (b->done < b->count)
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    for (size_t i = 0; i < AT_ONCE; i++)
        curl_easy_cleanup(slots[i].easy);
    curl_multi_cleanup(multi);
    return b->failed == 0 ? 0 : 1;
}

/* ---- measuring ----------------------------------------------------------- */

struct cost {
    double seconds, cpu_us;
    long rss_kb;
    int status;
};

static struct cost wait_for(pid_t pid, int64_t begun)
{
    struct rusage u = {0};
    struct cost c = {.status = -1};
    int status = 0;

    if (wait4(pid, &status, 0, &u) == pid && WIFEXITED(status))
        c.status = WEXITSTATUS(status);
    c.seconds = (double)(clock_mono() - begun) / NS_PER_S;
    c.cpu_us = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    c.rss_kb = u.ru_maxrss;
    return c;
}

static struct cost measure_bare(struct bare b)
{
    int64_t begun = clock_mono();
    pid_t pid = fork();

    if (pid == 0)
        _exit(run_bare(&b));
    return wait_for(pid, begun);
}

#define SEEDS_MOST 16

static struct cost measure_crawl(const char *program, char *scope,
                                 char *const *seeds, char *dir, bool warc)
{
    char *args[20 + SEEDS_MOST] = {
        "urlweir",   "crawl", "-o", dir,  "--scope",         scope,
        "--delay",   "0",     "-c", "64", "--allow-private", "-q",
        "--threads", "1"};
    size_t n = 14;
    int64_t begun;
    pid_t pid;

    if (warc)
        args[n++] = "--warc";
    for (; *seeds != NULL; seeds++)
        args[n++] = *seeds;
    begun = clock_mono();
    pid = fork();
    if (pid == 0) {
        execv(program, args);
        _exit(127);
    }
    return wait_for(pid, begun);
}

static void print_row(const char *what, struct cost c, size_t pages)
{
    printf("%-8s %8zu %9.0f %9.1f %9.1f", what, pages,
           (double)pages / c.seconds, c.cpu_us / (double)pages,
           (double)c.rss_kb / 1024);
    puts(c.status == 0 ? "" : "   FAILED");
}

/* ---- the run ------------------------------------------------------------- */

/* Splits in place; the list is the caller's. */
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

/* build/MODE/urlweir, of build/MODE/bench/bench_crawl. */
static void program_beside(const char *self, char *out, size_t size)
{
    const char *bench = strstr(self, "bench/bench_crawl");

    snprintf(out, size, "%.*surlweir", (int)(bench != NULL ? bench - self : 0),
             self);
}

struct run {
    char program[4096];
    char dir[32], warc_dir[32]; /* of the crawls */
};

static bool run_init(struct run *r, const char *self)
{
    program_beside(self, r->program, sizeof r->program);
    snprintf(r->dir, sizeof r->dir, "/tmp/bench_crawl.XXXXXX");
    memcpy(r->warc_dir, r->dir, sizeof r->dir);
    return mkdtemp(r->dir) != NULL && mkdtemp(r->warc_dir) != NULL;
}

static void run_fini(struct run *r)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf %s %s", r->dir, r->warc_dir);
    if (system(command) != 0)
        fprintf(stderr, "bench_crawl: cannot remove %s\n", r->dir);
}

/* The bare loop over `urls`, which is cut into lines, beside both crawls. */
static void compare(const char *title, struct buf *urls, struct cost crawl,
                    struct cost warc)
{
    struct bare b = {0};
    struct cost fetch, parse;

    b.urls = lines_of(urls, &b.count);
    fetch = measure_bare(b);
    b.parse = true;
    parse = measure_bare(b);
    printf("%-12s  pages   pages/s   us/page   RSS MiB\n", title);
    print_row("fetch", fetch, b.count);
    print_row("parse", parse, b.count);
    print_row("crawl", crawl, b.count);
    print_row("warc", warc, b.count);
    printf("crawl / parse: %.2f of the CPU a page (to reach: 1.00)\n",
           crawl.cpu_us / parse.cpu_us);
    printf("warc - crawl: %.0f us more a page (to reach: 100 at 9.7 KB)\n\n",
           (warc.cpu_us - crawl.cpu_us) / (double)b.count);
    fflush(stdout);
    free(b.urls);
}

static int known_web(const char *self, int argc, char **argv)
{
    const char *const web[] = {"--pages", argc > 1 ? argv[1] : "20000",
                               "--hosts", argc > 2 ? argv[2] : "100",
                               "--size",  argc > 3 ? argv[3] : "9700",
                               NULL};
    char *seeds[] = {NULL, NULL};
    struct site *site = NULL;
    struct cost crawl, warc;
    struct buf urls;
    struct run r;
    int failed = 1;

    buf_init(&urls, (size_t)1 << 30);
    if (!run_init(&r, self) || site_start(&site, web, NULL) != STATUS_OK ||
        site_urls(site, &urls) != STATUS_OK)
        goto out;
    seeds[0] = xstrdup(site_seed(site));
    crawl = measure_crawl(r.program, "any", seeds, r.dir, false);
    warc = measure_crawl(r.program, "any", seeds, r.warc_dir, true);
    compare("known web", &urls, crawl, warc);
    free(seeds[0]);
    failed = 0;
out:
    site_stop(site);
    buf_fini(&urls);
    run_fini(&r);
    return failed;
}

/* ---- as it grows ---- */

static bool crawl_of(const char *self, const char *pages, struct cost *out)
{
    const char *const web[] = {"--pages", pages,  "--hosts", "1000",
                               "--size",  "2000", NULL};
    char *seeds[] = {NULL, NULL};
    struct site *site = NULL;
    struct run r;
    bool ok = run_init(&r, self) && site_start(&site, web, NULL) == STATUS_OK;

    if (ok) {
        seeds[0] = xstrdup(site_seed(site));
        *out = measure_crawl(r.program, "any", seeds, r.dir, false);
        free(seeds[0]);
    }
    site_stop(site);
    run_fini(&r);
    return ok;
}

static int growth(const char *self, size_t most)
{
    static const size_t sizes[] = {10000, 100000, 1000000, 10000000};
    double first = 0, last = 0;

    puts("one crawl     pages   pages/s   us/page   RSS MiB");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char pages[24];
        struct cost c;

        if (sizes[i] > most)
            break;
        snprintf(pages, sizeof pages, "%zu", sizes[i]);
        if (!crawl_of(self, pages, &c))
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

/* What the crawl fetched, first column of the export. */
static void fetched_urls(const struct run *r, struct buf *out)
{
    char command[sizeof r->program + 128], line[4096];
    FILE *f;

    snprintf(command, sizeof command,
             "%s export %s --what pages --format csv | tail -n +2 | cut -d, "
             "-f1",
             r->program, r->dir);
    f = popen(command, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        buf_add_str(out, line);
    if (f != NULL)
        pclose(f);
}

static int documentation(const char *self)
{
    static const char dir[] = "/usr/share/doc/sqlite3";
    char where[512], *seeds[SEEDS_MOST + 1] = {NULL};
    const char *const dirs[] = {where, NULL};
    size_t n = (size_t)snprintf(where, sizeof where, "%s=127.0.0.1", dir);
    struct site *site = NULL;
    struct buf urls;
    struct cost crawl, warc;
    struct run r;

    if (access("/usr/share/doc/sqlite3/index.html", R_OK) != 0) {
        printf("real documentation: skipped, sqlite3-doc is not installed\n");
        return 0;
    }
    for (int i = 2; i <= SEEDS_MOST; i++)
        n += (size_t)snprintf(where + n, sizeof where - n, ",127.0.0.%d", i);
    if (!run_init(&r, self) || site_start_files(&site, dirs) != STATUS_OK)
        return 1;
    for (int i = 0; i < SEEDS_MOST; i++) {
        char seed[64];

        snprintf(seed, sizeof seed, "http://127.0.0.%d:%u/", i + 1,
                 (unsigned)site_port(site));
        seeds[i] = xstrdup(seed);
    }
    buf_init(&urls, (size_t)1 << 30);
    crawl = measure_crawl(r.program, "host", seeds, r.dir, false);
    warc = measure_crawl(r.program, "host", seeds, r.warc_dir, true);
    fetched_urls(&r, &urls);
    compare("real docs", &urls, crawl, warc);
    for (int i = 0; i < SEEDS_MOST; i++)
        free(seeds[i]);
    buf_fini(&urls);
    site_stop(site);
    run_fini(&r);
    return 0;
}

int main(int argc, char **argv)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (argc > 1 && strcmp(argv[1], "growth") == 0)
        return growth(argv[0], argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000);
    return known_web(argv[0], argc, argv) | documentation(argv[0]);
}
