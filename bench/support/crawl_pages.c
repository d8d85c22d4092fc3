/* SPDX-License-Identifier: MIT */
/* crawl_pages.c - the HTML pages of a web as a crawl finds them, in memory. */
#include "bench/support/crawl_pages.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/support/whole_crawl.h"

#define CRAWLS     3
#define PAGES_MOST 500

static size_t keep_body(char *at, size_t size, size_t n, void *ctx)
{
    buf_add(ctx, at, size * n);
    return size * n;
}

static void fetch_page(struct crawl_pages *pages, CURL *easy, const char *url)
{
    struct crawl_page *p = &pages->list[pages->count];
    const char *type = NULL;

    url_init(&p->url);
    buf_init(&p->body, (size_t)16 << 20);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &p->body);
    if (curl_easy_perform(easy) == CURLE_OK)
        curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    if (type == NULL || !bytes_starts_with(bytes_of_str(type), "text/html") ||
        url_parse(&p->url, bytes_of_str(url), NULL, NULL) != URL_OK) {
        url_fini(&p->url);
        buf_fini(&p->body);
        return;
    }
    pages->count++;
    pages->octets += p->body.len;
    if (p->body.len > pages->body_most)
        pages->body_most = p->body.len;
}

/* Cuts `urls` into lines. */
static void fetch_pages(struct crawl_pages *pages, struct buf *urls,
                        size_t lines)
{
    CURL *easy = curl_easy_init();
    size_t step = lines / PAGES_MOST + 1, n = 0;
    char *rest = NULL;

    pages->list = xcalloc(PAGES_MOST, sizeof *pages->list);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_body);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    for (char *line = strtok_r(urls->at, "\n", &rest);
         line != NULL && pages->count < PAGES_MOST;
         line = strtok_r(NULL, "\n", &rest))
        if (n++ % step == 0)
            fetch_page(pages, easy, line);
    curl_easy_cleanup(easy);
}

void crawl_pages_fini(struct crawl_pages *pages)
{
    for (size_t i = 0; i < pages->count; i++) {
        url_fini(&pages->list[i].url);
        buf_fini(&pages->list[i].body);
    }
    free(pages->list);
}

static size_t count_lines(const struct buf *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->len; i++)
        n += b->at[i] == '\n';
    return n;
}

bool crawl_pages_get(struct crawl_pages *pages, const char *scope,
                     char *const *seeds)
{
    struct buf urls;
    size_t lines = 0;

    buf_init(&urls, (size_t)1 << 30);
    for (int i = 0; i < CRAWLS; i++) {
        struct whole_crawl r;
        struct crawl_cost c = {.status = -1};

        buf_clear(&urls);
        if (whole_crawl_init(&r)) {
            c = whole_crawl_measure(&r, scope, seeds, false);
            whole_crawl_fetched(&r, &urls);
        }
        whole_crawl_fini(&r);
        lines = count_lines(&urls);
        if (c.status != 0 || lines == 0) {
            puts("crawl: FAILED");
            return false;
        }
        c.cpu_us /= (double)lines;
        if (i == 0 || c.cpu_us < pages->crawl_us)
            pages->crawl_us = c.cpu_us;
    }
    fetch_pages(pages, &urls, lines);
    buf_fini(&urls);
    return pages->count > 0;
}
