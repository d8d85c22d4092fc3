/*
 * crawl_pages.h - the HTML pages of a web as a crawl finds them, in memory.
 */
#ifndef URLWEIR_BENCH_CRAWL_PAGES_H
#define URLWEIR_BENCH_CRAWL_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "frontier/url/url.h"

struct crawl_page {
    struct url url;
    struct buf body;
};

struct crawl_pages {
    struct crawl_page *list;
    size_t count, octets, body_most;
    double crawl_us; /* CPU of a page of the crawl */
};

/* Crawls from `seeds` a few times, then fetches at most 500 of the pages,
 * evenly chosen; crawl_us is that of the cheapest crawl. False: it failed, and
 * stderr or stdout says why. */
bool crawl_pages_get(struct crawl_pages *pages, const char *scope,
                     char *const *seeds);
void crawl_pages_fini(struct crawl_pages *pages);

#endif
