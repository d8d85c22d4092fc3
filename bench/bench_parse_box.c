/* SPDX-License-Identifier: MIT */
/*
 * bench_parse_box.c - the cost of parsing in a sandboxed process.
 *
 * usage: bench_parse_box [FOLDER]    real documentation (sqlite3-doc's)
 *
 * The pages of a small crawl are parsed again and again, by one fetcher thread
 * and by two: in the thread, as the crawler does, and in a process for each
 * thread (parse_box.h), which is woken for each page or for several. CPU time
 * is that of the threads and their processes together. Rounds take the ways in
 * turn; figures are medians, and the extra cost of a way is the median of the
 * differences within a round. First the links of all ways are compared.
 *
 * In the first table threads do nothing else, so that no process ever sleeps
 * for long. In the second, each page comes after as much other work as a page
 * of the crawl takes besides parsing; that work is not counted. The last
 * columns compare the extra cost of a way with two fetchers with the cost of
 * the whole page.
 */
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/support/crawl_pages.h"
#include "bench/support/crawl_web.h"
#include "bench/support/parse_box.h"
#include "bench/support/spread.h"

#define ROUNDS        15
#define PAGES_A_ROUND 300
#define FETCHERS_MOST 2
#define SLOTS         32
#define KINDS         (LINK_SET_FOLLOW | LINK_SET_BASIC)

struct way {
    const char *name;
    unsigned in_flight; /* 0: in the thread */
    unsigned batch;     /* pages put and waited for at a time */
    bool parse_url_again;
};

static const struct way ways[] = {
    {"in the fetcher thread", 0, 0, false},
    {"process, 1 page at a time", 1, 1, false},
    {"process, 8 in flight, 1 a wake", 8, 1, false},
    {"process, 16 in flight, 8 a wake", 16, 8, false},
    {"process, 32 in flight, 16 a wake", 32, 16, false},
    {"  each URL parsed again", 32, 16, true},
};
#define WAYS (sizeof ways / sizeof *ways)

/* ---- one fetcher --------------------------------------------------------- */

struct fetcher {
    const struct crawl_pages *pages;
    const struct way *way;
    struct link_parser *parser;
    struct parse_box *box;
    parse_box_visit *visit;
    void *ctx;
    size_t at; /* the current page, in the thread */
    size_t turns;
    int64_t work_ns; /* other work before each page */
    int64_t worked;  /* CPU time of that work so far, in ns */
    uint64_t links;
    enum status st;
};

static int64_t thread_cpu(void)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Simulates fetching a page and its other costs: uses `work_ns` of CPU time and
 * reads other memory, so that the caches fill with it. */
static void work(struct fetcher *f)
{
    static const char memory[256 * 1024] = "";
    int64_t begun = thread_cpu(), now = begun;
    volatile char sum = 0;

    for (size_t i = 0; now - begun < f->work_ns; now = thread_cpu())
        for (size_t end = i + 8192; i < end; i += 64)
            sum = (char)(sum + memory[i % sizeof memory]);
    f->worked += now - begun;
}

static void visit_in_thread(void *ctx, const struct found_link *l)
{
    struct fetcher *f = ctx;

    f->visit(f->ctx, f->at, l);
}

static void parse_in_thread(struct fetcher *f)
{
    for (size_t i = 0; i < f->turns; i++) {
        const struct crawl_page *p;
        struct link_options o = {.kinds = KINDS};
        struct page_info info;

        f->at = i % f->pages->count;
        p = &f->pages->list[f->at];
        work(f);
        o.page_url = &p->url;
        f->st = link_parser_html(f->parser, buf_bytes(&p->body), &o,
                                 visit_in_thread, f, &info);
        if (f->st != STATUS_OK)
            return;
    }
}

static enum status put_batch(struct fetcher *f, size_t *next)
{
    enum status st = STATUS_OK;

    for (unsigned i = 0;
         st == STATUS_OK && i < f->way->batch && *next < f->turns; i++) {
        size_t n = (*next)++ % f->pages->count;
        const struct crawl_page *p = &f->pages->list[n];

        work(f);
        st = parse_box_put(f->box, n, &p->url, buf_bytes(&p->body), KINDS);
    }
    parse_box_wake(f->box);
    return st;
}

static void parse_in_box(struct fetcher *f)
{
    size_t next = 0;

    while (f->st == STATUS_OK &&
           (next < f->turns || parse_box_in_flight(f->box) > 0)) {
        unsigned flying = parse_box_in_flight(f->box), least = 0;

        if (next < f->turns && flying + f->way->batch <= f->way->in_flight)
            f->st = put_batch(f, &next);
        else
            least = flying < f->way->batch ? flying : f->way->batch;
        if (f->st == STATUS_OK)
            f->st = parse_box_take(f->box, least, f->visit, f->ctx);
    }
}

static void *run_fetcher(void *arg)
{
    struct fetcher *f = arg;

    f->st = STATUS_OK;
    if (f->way->in_flight == 0)
        parse_in_thread(f);
    else
        parse_in_box(f);
    return NULL;
}

static bool fetcher_begin(struct fetcher *f)
{
    const struct parse_box_options o = {
        .slots = SLOTS,
        .body_most = f->pages->body_most,
        .parse_url_again = f->way->parse_url_again,
    };

    if (f->way->in_flight == 0)
        f->parser = link_parser_new("urlweir");
    else if (parse_box_start(&f->box, &o) != STATUS_OK)
        return false;
    f->turns = f->pages->count; /* warm */
    run_fetcher(f);
    return f->st == STATUS_OK;
}

static void fetcher_end(struct fetcher *f)
{
    link_parser_free(f->parser);
    parse_box_stop(f->box);
}

/* ---- measuring ----------------------------------------------------------- */

/* Does what reporter.c does first with each link. */
static void count_link(void *ctx, size_t page, const struct found_link *l)
{
    (void)page;
    url_canonicalise(l->url);
    ++*(uint64_t *)ctx;
}

/* CPU time of the threads and their processes, without the other work. */
static int64_t cpu_of_all(const struct fetcher *f, unsigned n)
{
    int64_t cpu = clock_cpu();

    for (unsigned i = 0; i < n; i++)
        cpu += (f[i].box != NULL ? parse_box_cpu(f[i].box) : 0) - f[i].worked;
    return cpu;
}

static bool run_together(struct fetcher *f, unsigned n)
{
    pthread_t threads[FETCHERS_MOST];
    bool ok = true;

    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, run_fetcher, &f[i]) != 0)
            abort();
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        ok = ok && f[i].st == STATUS_OK;
    }
    return ok;
}

/* The fetchers of one way; their processes live as long as it. */
struct team {
    struct fetcher fetchers[FETCHERS_MOST];
    double us[FETCHERS_MOST][ROUNDS], speed[FETCHERS_MOST][ROUNDS];
};

static bool team_begin(struct team *t, const struct crawl_pages *pages,
                       const struct way *way)
{
    bool ok = true;

    for (unsigned i = 0; ok && i < FETCHERS_MOST; i++) {
        struct fetcher *f = &t->fetchers[i];

        *f = (struct fetcher){.pages = pages, .way = way, .visit = count_link};
        f->ctx = &f->links;
        ok = fetcher_begin(f);
    }
    return ok;
}

static void team_end(struct team *t)
{
    for (unsigned i = 0; i < FETCHERS_MOST; i++)
        fetcher_end(&t->fetchers[i]);
}

/* Runs one round of the first `n` fetchers. */
static bool team_run(struct team *t, unsigned n, int64_t work_ns, int round)
{
    double all = (double)PAGES_A_ROUND * n;
    int64_t cpu, begun;
    bool ok;

    for (unsigned i = 0; i < n; i++) {
        t->fetchers[i].turns = PAGES_A_ROUND;
        t->fetchers[i].work_ns = work_ns;
    }
    cpu = cpu_of_all(t->fetchers, n);
    begun = clock_mono();
    ok = run_together(t->fetchers, n);
    t->speed[n - 1][round] = all / ((double)(clock_mono() - begun) / NS_PER_S);
    t->us[n - 1][round] =
        (double)(cpu_of_all(t->fetchers, n) - cpu) / NS_PER_US / all;
    return ok;
}

static bool measure(struct team *teams, int64_t work_ns)
{
    for (int round = 0; round < ROUNDS; round++)
        for (size_t w = 0; w < WAYS; w++)
            for (unsigned n = 1; n <= FETCHERS_MOST; n++)
                if (!team_run(&teams[w], n, work_ns, round)) {
                    printf("%s: FAILED\n", ways[w].name);
                    return false;
                }
    return true;
}

/* ---- the tables ---------------------------------------------------------- */

/* The median of `a`, or of its difference from `base` in each round. */
static double median(const double a[ROUNDS], const double *base)
{
    double sorted[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        sorted[i] = a[i] - (base != NULL ? base[i] : 0);
    return spread_of(sorted, ROUNDS).mid;
}

static void print_table(const char *title, const struct crawl_pages *pages,
                        const struct team *teams)
{
    printf("%-34s %7s %8s %7s %8s %8s %9s\n", title, "1: us", "pages/s",
           "2: us", "pages/s", "more us", "of a page");
    for (size_t w = 0; w < WAYS; w++) {
        const struct team *t = &teams[w];
        double more = median(t->us[1], teams[0].us[1]);

        printf("%-34s %7.1f %8.0f %7.1f %8.0f %8.1f %7.1f %%\n", ways[w].name,
               median(t->us[0], NULL), median(t->speed[0], NULL),
               median(t->us[1], NULL), median(t->speed[1], NULL), more,
               100 * more / pages->crawl_us);
    }
    puts("");
    fflush(stdout);
}

static bool print_tables(const struct crawl_pages *pages)
{
    struct team *teams = xcalloc(WAYS, sizeof *teams);
    bool ok = true;

    for (size_t w = 0; w < WAYS; w++)
        ok = ok && team_begin(&teams[w], pages, &ways[w]);
    ok = ok && measure(teams, 0);
    if (ok) {
        double rest = pages->crawl_us - median(teams[0].us[0], NULL);

        print_table("nothing but parsing", pages, teams);
        ok = measure(teams, rest > 0 ? (int64_t)(rest * NS_PER_US) : 0);
    }
    if (ok)
        print_table("with the rest of a page's work", pages, teams);
    for (size_t w = 0; w < WAYS; w++)
        team_end(&teams[w]);
    free(teams);
    return ok;
}

/* ---- the same links ------------------------------------------------------ */

static void note_link(void *ctx, size_t page, const struct found_link *l)
{
    struct buf *notes = (struct buf *)ctx + page;
    struct bytes text = url_text(l->url);

    buf_addf(notes, "%d %d %u %zu %zu %zu %zu %zu ", (int)l->kind, l->nofollow,
             l->url->port, l->url->userinfo_at, l->url->host_at,
             l->url->host_len, l->url->path_at, l->url->query_at);
    buf_add_bytes(notes, text);
    buf_add_char(notes, '\n');
}

static struct buf *links_by(const struct crawl_pages *pages,
                            const struct way *way)
{
    struct buf *notes = xcalloc(pages->count, sizeof *notes);
    struct fetcher f = {.pages = pages, .way = way, .visit = note_link};

    for (size_t i = 0; i < pages->count; i++)
        buf_init(&notes[i], (size_t)64 << 20);
    f.ctx = notes;
    if (!fetcher_begin(&f))
        printf("%s: FAILED, %s\n", way->name, status_text(f.st));
    fetcher_end(&f);
    return notes;
}

static void free_notes(struct buf *notes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_fini(&notes[i]);
    free(notes);
}

static bool same_links(const struct crawl_pages *pages)
{
    struct buf *ours = links_by(pages, &ways[0]);
    bool same = true;

    for (size_t w = 1; w < WAYS; w++) {
        struct buf *other = links_by(pages, &ways[w]);

        for (size_t i = 0; i < pages->count; i++)
            same =
                same && bytes_equal(buf_bytes(&ours[i]), buf_bytes(&other[i]));
        free_notes(other, pages->count);
    }
    free_notes(ours, pages->count);
    printf("links of all ways: %s\n", same ? "the same" : "NOT THE SAME");
    return same;
}

/* ---- the sandbox, and restarting --------------------------------------- */

/* A process that makes a forbidden system call is killed; its owner notices and
 * starts a new one. */
static bool walls_hold(size_t body_most)
{
    const struct parse_box_options o = {.slots = SLOTS, .body_most = body_most};
    struct parse_box *b = NULL;
    enum status st = STATUS_IO;
    int64_t begun;
    struct url url;

    if (parse_box_start(&b, &o) == STATUS_OK) {
        parse_box_put_break_out(b);
        parse_box_wake(b);
        st = parse_box_take(b, 1, NULL, NULL);
    }
    printf("open() in the process: %s\n",
           st == STATUS_CLOSED ? "killed" : "NOT KILLED");
    parse_box_stop(b);
    b = NULL;
    url_init(&url);
    begun = clock_mono();
    if (st != STATUS_CLOSED || parse_box_start(&b, &o) != STATUS_OK ||
        url_parse(&url, bytes_of_str("http://a.example/"), NULL, NULL) !=
            URL_OK ||
        parse_box_put(b, 0, &url, bytes_of_str("<p>"), KINDS) != STATUS_OK ||
        parse_box_take(b, 1, NULL, NULL) != STATUS_OK)
        st = STATUS_IO;
    printf("a new process has read its first page after %.1f ms\n\n",
           (double)(clock_mono() - begun) / NS_PER_MS);
    parse_box_stop(b);
    url_fini(&url);
    return st == STATUS_CLOSED;
}

/* ---- the webs ------------------------------------------------------------ */

static int compare(const char *title, struct site *site, const char *scope,
                   char *const *seeds)
{
    struct crawl_pages pages = {0};
    int failed = 1;

    if (crawl_pages_get(&pages, scope, seeds)) {
        printf("%s: %zu pages of %.1f KB; a crawled page takes %.0f us\n",
               title, pages.count,
               (double)pages.octets / 1e3 / (double)pages.count,
               pages.crawl_us);
        failed = !same_links(&pages) || !walls_hold(pages.body_most) ||
                 !print_tables(&pages);
    }
    crawl_pages_fini(&pages);
    site_stop(site);
    return failed;
}

static int known_web(void)
{
    static const char *const web[] = {"--pages", "5000", "--hosts", "100",
                                      "--size",  "9700", NULL};
    struct site *site = NULL;
    char *seeds[2] = {NULL, NULL};
    int failed;

    if (site_start(&site, web, NULL) != STATUS_OK)
        return 1;
    seeds[0] = xstrdup(site_seed(site));
    failed = compare("known web", site, "any", seeds);
    free(seeds[0]);
    return failed;
}

static int documentation(const char *folder)
{
    struct site *site = NULL;
    char index[PATH_MAX], where[PATH_MAX + 32], seed[64];
    const char *const dirs[] = {where, NULL};
    char *seeds[] = {seed, NULL};

    snprintf(index, sizeof index, "%s/index.html", folder);
    if (access(index, R_OK) != 0) {
        printf("real docs: skipped, no index.html in %s (sqlite3-doc?)\n",
               folder);
        return 0;
    }
    snprintf(where, sizeof where, "%s=127.0.0.1", folder);
    if (site_start_files(&site, dirs) != STATUS_OK)
        return 1;
    snprintf(seed, sizeof seed, "http://127.0.0.1:%u/",
             (unsigned)site_port(site));
    return compare("real docs", site, "host", seeds);
}

int main(int argc, char **argv)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    return known_web() |
           documentation(argc > 1 ? argv[1] : "/usr/share/doc/sqlite3");
}
