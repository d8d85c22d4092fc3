/* SPDX-License-Identifier: MIT */
/*
 * bench_near.c - what near-duplicates cost, and how well they are told.
 *
 * usage: bench_near [-n PRINTS] [FOLDER...]   1,000,000; sqlite3-doc's
 *
 *   cost     finding the links of the pages below the folders, with
 * fingerprints and without; the rounds of the two take turns index    PRINTS
 * random fingerprints, one in ten up to 3 bits from an earlier one, found and
 * added as a crawl does, committed by the thousand quality  the pages below the
 * folders, each with a copy in which some of its words are others; pairs called
 * near (3 bits) against the truth: the share of three-word shingles that two
 * pages have in common (A. Broder, On the resemblance and containment of
 * documents, 1997)
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "crawler/html/html_filter.h"
#include "crawler/html/links.h"
#include "crawler/html/text_digest.h"
#include "storage/db/db.h"
#include "storage/index/fetch_index.h"

#define ROUNDS     7
#define PAGES_MOST 4000
#define MIB        (UINT64_C(1) << 20)

struct page {
    char *at;
    size_t len;
    struct buf text; /* its words, single spaces between them */
    uint64_t print;
    uint64_t *shingles; /* sorted, each once */
    size_t count;
};

static struct page *pages;
static size_t page_count;
static uint64_t octets;
static uint64_t dice = 88172645463325252;

static uint64_t rnd(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice * UINT64_C(0x2545f4914f6cdd1d);
}

static int take_file(const char *path, const struct stat *st, int type,
                     struct FTW *ftw)
{
    size_t n = strlen(path);
    struct buf b;

    (void)st;
    (void)ftw;
    if (type != FTW_F || n < 5 || strcmp(path + n - 5, ".html") != 0 ||
        page_count == PAGES_MOST)
        return 0;
    buf_init(&b, (size_t)64 << 20);
    if (file_read(path, &b) == STATUS_OK) {
        pages[page_count].at = buf_take(&b, &pages[page_count].len);
        octets += pages[page_count++].len;
    }
    buf_fini(&b);
    return 0;
}

/* ---- cost ---------------------------------------------------------------- */

static void ignore_link(void *ctx, const struct found_link *link)
{
    (void)ctx;
    (void)link;
}

/* ns of CPU for all pages once. */
static int64_t read_pages(struct link_parser *parser, const struct url *base,
                          bool simhash, bool text_digest)
{
    struct link_options o = {.kinds = LINK_SET_BASIC,
                             .page_url = base,
                             .simhash = simhash,
                             .text_digest = text_digest};
    int64_t begin = clock_cpu();

    for (size_t i = 0; i < page_count; i++) {
        struct page_info info;

        if (link_parser_html(parser, bytes_of(pages[i].at, pages[i].len), &o,
                             ignore_link, NULL, &info) != STATUS_OK)
            exit(1);
        pages[i].print = simhash ? info.simhash : pages[i].print;
    }
    return clock_cpu() - begin;
}

static void measure_cost(void)
{
    struct link_parser *parser = link_parser_new("urlweir");
    int64_t without = INT64_MAX, with = INT64_MAX, both = INT64_MAX;
    double n = (double)page_count * 1e3;
    struct url base;

    url_init(&base);
    if (url_parse(&base, bytes_of_str("http://docs.example/sub/page.html"),
                  NULL, NULL) != URL_OK)
        exit(1);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t a = read_pages(parser, &base, false, false);
        int64_t c = read_pages(parser, &base, true, true);
        int64_t b = read_pages(parser, &base, true, false);

        without = a < without ? a : without;
        with = b < with ? b : with;
        both = c < both ? c : both;
    }
    printf("cost: %zu pages of %.1f KB; CPU, best of %d rounds\n", page_count,
           (double)octets / 1e3 / (double)page_count, ROUNDS);
    printf("  %-30s %8.1f us a page\n", "links", (double)without / n);
    printf("  %-30s %8.1f us a page, %.2f times that\n",
           "links and fingerprint", (double)with / n,
           (double)with / (double)without);
    printf("  %-30s %8.1f us a page, %.2f times that\n\n",
           "these and digest of the text", (double)both / n,
           (double)both / (double)without);
    url_fini(&base);
    link_parser_free(parser);
}

/* ---- index --------------------------------------------------------------- */

static void must(enum status st, const char *what)
{
    if (st != STATUS_OK) {
        fprintf(stderr, "bench_near: %s: %s\n", what, status_text(st));
        exit(1);
    }
}

static uint64_t next_print(uint64_t *some, size_t n)
{
    uint64_t print = rnd();

    if (rnd() % 10 == 0 && some[n - 1] != 0) {
        print = some[rnd() % n];
        for (uint64_t flips = rnd() % 4; flips > 0; flips--)
            print ^= UINT64_C(1) << (rnd() & 63);
    }
    some[rnd() % n] = print;
    return print;
}

static void report_index(uint64_t seq, uint64_t near, int64_t cpu, uint64_t n,
                         const struct fetch_index *x, const char *path)
{
    uint64_t size = 0;

    if (file_size(path, &size) != STATUS_OK)
        exit(1);
    printf("  %12llu %10.1f %10llu %14.0f %10.1f\n", (unsigned long long)seq,
           (double)cpu / 1e3 / (double)n, (unsigned long long)near,
           (double)size / (double)fetch_index_count(x),
           (double)fetch_index_memory(x) / (double)MIB);
    fflush(stdout);
}

static void measure_index(uint64_t prints)
{
    const struct db_options o = {.cache_bytes = 16 * MIB};
    char dir[] = "/tmp/bench-near-XXXXXX", path[64];
    static uint64_t some[100000];
    struct fetch_index *x = NULL;
    struct db *d = NULL;
    uint64_t near = 0, report = 100000, since = 0;
    int64_t begin;

    if (mkdtemp(dir) == NULL)
        exit(1);
    snprintf(path, sizeof path, "%s/frontier.db", dir);
    must(db_open(&d, path, DB_CREATE, &o), "open");
    must(fetch_index_open(&x, d, FETCH_TEXTS, 16 * MIB, NULL), "index");
    printf("index: a page of the crawl each, with 16 MiB and SQLite's 16\n");
    printf("  %12s %10s %10s %14s %10s\n", "fingerprints", "us each", "near",
           "octets on disk", "MiB held");
    begin = clock_cpu();
    must(db_begin(d), "begin");
    for (uint64_t seq = 1; seq <= prints; seq++) {
        uint64_t print = next_print(some, sizeof some / sizeof *some), found;

        must(near_index_find(x, print, &found), "find");
        must(near_index_add(x, print, seq), "add");
        near += found != 0;
        since++;
        if (seq % 1000 == 0) {
            must(fetch_index_step(x), "merge");
            must(db_commit(d), "commit");
            /* A crawl's other rows fill the log faster. */
            if (seq % 10000 == 0)
                must(db_checkpoint(d), "checkpoint");
            must(db_begin(d), "begin");
        }
        if (seq == report || seq == prints) {
            report_index(seq, near, clock_cpu() - begin, since, x, path);
            report = report * 10 == prints * 10 ? 0 : report * 10;
            begin = clock_cpu();
            since = 0;
        }
    }
    must(db_commit(d), "commit");
    fetch_index_close(x);
    db_close(d);
    must(file_remove_tree(dir), "remove");
    putchar('\n');
}

/* ---- quality ------------------------------------------------------------- */

/* With a space for each cut of text_digest.h. */
static void add_text(void *ctx, struct bytes piece)
{
    struct buf *text = ctx;

    for (size_t i = 0; i < piece.len; i++) {
        char c = piece.at[i];
        bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                    (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
        bool begins = (unsigned char)c >= 0xe3 && (unsigned char)c <= 0xe9 &&
                      i > 0 && piece.at[i - 1] & 1;

        if ((!word || begins) && text->len > 0 &&
            text->at[text->len - 1] != ' ')
            buf_add_char(text, ' ');
        if (word)
            buf_add_char(text, c);
    }
    if (text->len > 0 && text->at[text->len - 1] != ' ')
        buf_add_char(text, ' ');
}

static bool no_base(void *ctx, struct bytes href)
{
    (void)ctx;
    (void)href;
    return false;
}

static void read_text(struct page *p)
{
    struct html_wants wants = {.text = add_text, .text_ctx = &p->text};
    struct html_filter f;

    buf_init(&p->text, (size_t)64 << 20);
    html_filter_init(&f, (size_t)64 << 20);
    if (html_filter_page(&f, bytes_of(p->at, p->len), &wants, no_base, NULL) !=
        STATUS_OK)
        exit(1);
    html_filter_fini(&f);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t hash(const char *at, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)at[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 31;
}

/* Takes fingerprint and shingles of the page's text. */
static void take_shingles(struct page *p)
{
    const char *at = buf_str(&p->text), *begin[3] = {at, at, at};
    struct text_simhash s;
    size_t words = 0, n = 0;

    text_simhash_begin(&s);
    text_simhash_add(&s, buf_bytes(&p->text));
    p->print = text_simhash_end(&s);
    for (size_t i = 0; i < p->text.len; i++)
        words += at[i] == ' ';
    p->shingles = xcalloc(words + 1, sizeof *p->shingles);
    for (const char *end; (end = strchr(begin[2], ' ')) != NULL;) {
        if (begin[1] != begin[0] && begin[2] != begin[1])
            p->shingles[n++] = hash(begin[0], (size_t)(end - begin[0]));
        begin[0] = begin[1];
        begin[1] = begin[2];
        begin[2] = end + 1;
    }
    qsort(p->shingles, n, sizeof *p->shingles, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || p->shingles[i] != p->shingles[i - 1])
            p->shingles[p->count++] = p->shingles[i];
}

static double resemblance(const struct page *a, const struct page *b)
{
    size_t i = 0, k = 0, both = 0;

    while (i < a->count && k < b->count) {
        uint64_t x = a->shingles[i], y = b->shingles[k];

        both += x == y;
        i += x <= y;
        k += y <= x;
    }
    return (double)both / (double)(a->count + b->count - both);
}

#define STEPS 6
static const double at_least[STEPS] = {0.98, 0.95, 0.9, 0.8, 0.5, 0};

struct tally {
    uint64_t pairs[STEPS], near[STEPS];
};

static void count_pair(struct tally *t, const struct page *a,
                       const struct page *b)
{
    double r;
    unsigned i = 0;

    if (a->print == 0 || b->print == 0)
        return;
    /* No pair with so few shingles in one can be alike. */
    r = a->count * 2 < b->count || b->count * 2 < a->count ? 0
                                                           : resemblance(a, b);
    while (r < at_least[i])
        i++;
    t->pairs[i]++;
    t->near[i] += __builtin_popcountll(a->print ^ b->print) <= NEAR_INDEX_BITS;
}

static void print_tally(const char *what, const struct tally *t)
{
    uint64_t pairs = 0, near = 0, all_near = 0;

    for (unsigned i = 0; i < STEPS; i++)
        all_near += t->near[i];
    printf("quality: %s, %llu pairs called near\n", what,
           (unsigned long long)all_near);
    printf("  %-22s %12s %12s %8s %8s %10s\n", "resemblance", "pairs", "near",
           "share", "recall", "precision");
    for (unsigned i = 0; i < STEPS; i++) {
        pairs += t->pairs[i];
        near += t->near[i];
        printf("  from %.2f %27llu %12llu %8.3f %8.3f %10.3f\n", at_least[i],
               (unsigned long long)t->pairs[i], (unsigned long long)t->near[i],
               (double)t->near[i] / (double)(t->pairs[i] > 0 ? t->pairs[i] : 1),
               (double)near / (double)(pairs > 0 ? pairs : 1),
               (double)near / (double)(all_near > 0 ? all_near : 1));
    }
    putchar('\n');
}

/* A copy in which one in `every` words is another. */
static void make_copy(struct page *out, const struct page *of, unsigned every)
{
    const char *at = buf_str(&of->text), *end;

    *out = (struct page){.at = NULL};
    buf_init(&out->text, (size_t)64 << 20);
    for (; (end = strchr(at, ' ')) != NULL; at = end + 1) {
        if (rnd() % every == 0)
            buf_addf(&out->text, "other%llu ",
                     (unsigned long long)(rnd() % 10000));
        else
            buf_add(&out->text, at, (size_t)(end + 1 - at));
    }
    take_shingles(out);
}

static void measure_quality(void)
{
    static const unsigned every[] = {1000, 400, 200, 100, 50, 20, 10};
    struct tally found = {{0}, {0}}, made = {{0}, {0}};

    for (size_t i = 0; i < page_count; i++) {
        read_text(&pages[i]);
        take_shingles(&pages[i]);
    }
    for (size_t i = 0; i < page_count; i++)
        for (size_t k = 0; k < i; k++)
            count_pair(&found, &pages[i], &pages[k]);
    print_tally("all pairs of the pages as they are", &found);
    for (size_t i = 0; i < page_count; i++)
        for (size_t e = 0; e < sizeof every / sizeof *every; e++) {
            struct page copy;

            make_copy(&copy, &pages[i], every[e]);
            count_pair(&made, &pages[i], &copy);
            free(copy.shingles);
            buf_fini(&copy.text);
        }
    print_tally("each page and copies with one word in 1000 to 10 replaced",
                &made);
}

int main(int argc, char **argv)
{
    static char *fallback[] = {(char *)"/usr/share/doc/sqlite3", NULL};
    uint64_t prints = 1000000;
    char **folder = argv + 1;

    if (argc > 2 && strcmp(argv[1], "-n") == 0) {
        prints = strtoull(argv[2], NULL, 10);
        folder += 2;
    }
    pages = xcalloc(PAGES_MOST, sizeof *pages);
    for (folder = *folder != NULL ? folder : fallback; *folder != NULL;
         folder++)
        (void)nftw(*folder, take_file, 16, FTW_PHYS);
    if (page_count > 0)
        measure_cost();
    else
        printf("pages: skipped, no .html there (sqlite3-doc?)\n\n");
    if (prints > 0)
        measure_index(prints);
    if (page_count > 0)
        measure_quality();
    return 0;
}
