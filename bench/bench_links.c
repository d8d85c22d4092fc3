/* SPDX-License-Identifier: MIT */
/*
 * bench_links.c - the cost of finding a page's links.
 *
 * usage: bench_links [FOLDER]    every .html under it (sqlite3-doc's)
 *
 * The peer is libxml2 as most programs use it: its push parser with SAX
 * callbacks, fed the whole page in 16 KiB pieces, reading the attributes that
 * hold links. Below it the same work by libgumbo, an HTML5 parser that builds a
 * tree, if its package (libgumbo-dev) was installed at build time; and by our
 * pass and libxml2 together, first without resolving URLs, as the peers do,
 * then with it.
 */
#include <ftw.h>
#if __has_include(<gumbo.h>)
#include <gumbo.h>
#define HAS_GUMBO 1
#endif
#include <libxml/HTMLparser.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "crawler/html/html_filter.h"
#include "crawler/html/html_tree.h"
#include "crawler/html/links.h"

#define ROUNDS     5
#define PAGES_MOST 4000
#define CHUNK      16384

static struct page {
    char *at;
    size_t len;
} * pages;
static size_t page_count;
static uint64_t octets;

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
    if (file_read(path, &b) != STATUS_OK) {
        buf_fini(&b);
        return 0;
    }
    pages[page_count].at = buf_take(&b, &pages[page_count].len);
    octets += pages[page_count++].len;
    return 0;
}

/* ---- the peer ------------------------------------------------------------ */

/* The attribute of an element that holds its link, or NULL. */
static const char *link_attr(const char *name)
{
    static const char *const table[][2] = {
        {"a", "href"},    {"area", "href"},   {"link", "href"},
        {"img", "src"},   {"script", "src"},  {"iframe", "src"},
        {"frame", "src"}, {"form", "action"},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(name, table[i][0]) == 0)
            return table[i][1];
    return NULL;
}

static void count_start(void *ctx, const xmlChar *name, const xmlChar **atts)
{
    const char *attr = link_attr((const char *)name);

    for (; attr != NULL && atts != NULL && atts[0] != NULL; atts += 2)
        if (strcmp((const char *)atts[0], attr) == 0 && atts[1] != NULL &&
            bytes_trim(bytes_of_str((const char *)atts[1])).len > 0)
            ++*(uint64_t *)ctx;
}

static uint64_t peer(const struct page *p)
{
    htmlSAXHandler sax = {.startElement = count_start};
    uint64_t found = 0;
    htmlParserCtxtPtr c = htmlCreatePushParserCtxt(&sax, &found, NULL, 0, NULL,
                                                   XML_CHAR_ENCODING_UTF8);

    htmlCtxtUseOptions(c, HTML_PARSE_IGNORE_ENC | HTML_PARSE_NOERROR |
                              HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    for (size_t i = 0; i < p->len; i += CHUNK)
        htmlParseChunk(c, p->at + i,
                       (int)(p->len - i < CHUNK ? p->len - i : CHUNK), 0);
    htmlParseChunk(c, "", 0, 1);
    htmlFreeParserCtxt(c);
    return found;
}

#ifdef HAS_GUMBO
static uint64_t count_tree(const GumboNode *node)
{
    const GumboElement *e = &node->v.element;
    const char *attr;
    const GumboAttribute *a;
    uint64_t found = 0;

    if (node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE)
        return 0;
    attr = link_attr(gumbo_normalized_tagname(e->tag));
    a = attr != NULL ? gumbo_get_attribute(&e->attributes, attr) : NULL;
    if (a != NULL && bytes_trim(bytes_of_str(a->value)).len > 0)
        found++;
    for (unsigned i = 0; i < e->children.length; i++)
        found += count_tree(e->children.data[i]);
    return found;
}

static uint64_t gumbo(const struct page *p)
{
    GumboOutput *tree =
        gumbo_parse_with_options(&kGumboDefaultOptions, p->at, p->len);
    uint64_t found = count_tree(tree->root);

    gumbo_destroy_output(&kGumboDefaultOptions, tree);
    return found;
}
#endif

/* ---- ours ---------------------------------------------------------------- */

static struct html_filter filter;
static struct html_wants wants;
static struct link_parser *parser;
static struct url base;
static struct buf scratch;

static bool no_base(void *ctx, struct bytes href)
{
    (void)ctx;
    (void)href;
    return false;
}

static void make_wants(void)
{
    wants.of[WORD_A] = wants.of[WORD_AREA] = ATTR_HREF;
    wants.of[WORD_LINK] = ATTR_HREF;
    wants.of[WORD_IMG] = wants.of[WORD_SCRIPT] = ATTR_SRC;
    wants.of[WORD_IFRAME] = wants.of[WORD_FRAME] = ATTR_SRC;
    wants.of[WORD_FORM] = ATTR_ACTION;
}

static uint64_t pass_alone(const struct page *p)
{
    struct bytes text, body = bytes_of(p->at, p->len);
    const struct charset *c = html_charset(body, bytes_of("", 0));

    if (charset_decode(c, body, &scratch, &text) != STATUS_OK ||
        html_filter_page(&filter, text, &wants, no_base, NULL) != STATUS_OK)
        return 0;
    return 0;
}

static void count_start_ns(void *ctx, const xmlChar *name,
                           const xmlChar *prefix, const xmlChar *space,
                           int space_count, const xmlChar **spaces, int count,
                           int defaulted, const xmlChar **atts)
{
    const char *attr = link_attr((const char *)name);

    (void)prefix, (void)space, (void)space_count, (void)spaces, (void)defaulted;
    for (; attr != NULL && count > 0; count--, atts += 5)
        if (strcmp((const char *)atts[0], attr) == 0 &&
            bytes_trim(bytes_of(atts[3], (size_t)(atts[4] - atts[3]))).len > 0)
            ++*(uint64_t *)ctx;
}

static uint64_t pass_and_libxml2(const struct page *p)
{
    uint64_t found = pass_alone(p);
    xmlParserCtxtPtr c = xmlNewParserCtxt();

    *c->sax = (xmlSAXHandler){.initialized = XML_SAX2_MAGIC,
                              .startElementNs = count_start_ns};
    c->userData = &found;
    xmlCtxtReadMemory(c, filter.markup.at, (int)filter.markup.len, NULL, NULL,
                      XML_PARSE_NONET);
    xmlFreeParserCtxt(c);
    return found;
}

static void ignore_link(void *ctx, const struct found_link *link)
{
    (void)ctx;
    (void)link;
}

static uint64_t whole(const struct page *p, uint32_t kinds)
{
    struct link_options o = {.kinds = kinds, .page_url = &base};
    struct page_info info;

    if (link_parser_html(parser, bytes_of(p->at, p->len), &o, ignore_link, NULL,
                         &info) != STATUS_OK)
        return 0;
    return info.found;
}

static uint64_t whole_basic(const struct page *p)
{
    return whole(p, LINK_SET_BASIC);
}

static uint64_t whole_follow(const struct page *p)
{
    return whole(p, LINK_SET_FOLLOW);
}

static uint64_t whole_all(const struct page *p)
{
    return whole(p, LINK_SET_ALL);
}

/* ---- the table ----------------------------------------------------------- */

static double row(const char *name, uint64_t (*run)(const struct page *),
                  double peer_us)
{
    uint64_t found = 0;
    int64_t best = INT64_MAX;
    double us;

    for (int round = 0; round < ROUNDS; round++) {
        int64_t begin = clock_cpu(), spent;

        found = 0;
        for (size_t i = 0; i < page_count; i++)
            found += run(&pages[i]);
        spent = clock_cpu() - begin;
        best = spent < best ? spent : best;
    }
    us = (double)best / 1e3 / (double)page_count;
    printf("%-34s %10.1f %8.2f %12llu\n", name, us,
           peer_us > 0 ? us / peer_us : 1.0, (unsigned long long)found);
    return us;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "/usr/share/doc/sqlite3";
    double us;

    pages = xcalloc(PAGES_MOST, sizeof *pages);
    if (nftw(folder, take_file, 16, FTW_PHYS) != 0 || page_count == 0) {
        printf("bench_links: skipped, no .html under %s (sqlite3-doc?)\n",
               folder);
        return 0;
    }
    html_filter_init(&filter, (size_t)64 << 20);
    buf_init(&scratch, (size_t)64 << 20);
    make_wants();
    parser = link_parser_new("urlweir");
    url_init(&base);
    if (url_parse(&base, bytes_of_str("http://docs.example/sub/page.html"),
                  NULL, NULL) != URL_OK)
        return 1;
    printf("%zu pages of %.1f KB under %s; CPU, best of %d rounds\n\n",
           page_count, (double)octets / 1e3 / (double)page_count, folder,
           ROUNDS);
    printf("%-34s %10s %8s %12s\n", "", "us a page", "of peer", "links");
    us = row("libxml2 SAX push, whole page", peer, 0);
#ifdef HAS_GUMBO
    row("libgumbo, tree and walk", gumbo, us);
#endif
    row("pass alone", pass_alone, us);
    row("pass and libxml2", pass_and_libxml2, us);
    row("all of it, URLs resolved: basic", whole_basic, us);
    row("  what a crawl follows", whole_follow, us);
    row("  --all", whole_all, us);
    return 0;
}
