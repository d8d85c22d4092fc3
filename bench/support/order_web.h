/*
 * order_web.h - a crawl without sockets of a web whose in-links follow a power
 * law, and what an order makes of it. Header only; for bench_order and the
 * suite order_crawl.
 *
 * A link goes to the page of rank r with a probability proportional to r to the
 * power of -0.9: in-links then have an exponent of about 2.1, as the web's have
 * (Broder et al. 2000). Each page also links to two others of a tree, so that
 * all can be reached. Ranks are spread over hosts and paths by a mixing
 * function, so that no address tells one.
 *
 * On a web with index pages, as documentation, shops and archives have them,
 * each host has one more page, a seed, that lists all its pages in an order
 * that does not tell their ranks; and each page links to the index of a host.
 * On the other web one page is the seed.
 */
#ifndef URLWEIR_BENCH_ORDER_WEB_H
#define URLWEIR_BENCH_ORDER_WEB_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/order.h"

#define ORDER_WEB_LINKS  20
#define ORDER_WEB_WINDOW 64 /* requests in flight */

struct order_web {
    uint32_t pages, hosts, size; /* size: with the indexes */
    uint32_t *first;             /* [p]: place of its links in `links` */
    uint32_t *links;             /* of all pages, one behind the other */
    uint32_t *in;                /* how many pages link to each */
};

static inline uint32_t order_web_mix(uint64_t n)
{
    n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    n = (n ^ n >> 32) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(n >> 33);
}

/* Page `pages` + h is the index of host h. */
static inline uint32_t order_web_host(const struct order_web *w, uint32_t page)
{
    return page >= w->pages ? page - w->pages
                            : order_web_mix(page + UINT64_C(7919)) % w->hosts;
}

/* The k-th link of a page that is no index. */
static inline uint32_t order_web_link(const struct order_web *w, uint32_t page,
                                      uint32_t k)
{
    double u = order_web_mix((uint64_t)page * ORDER_WEB_LINKS + k) / 0x1p31;

    if (k < 2)
        return (page * 2 + 1 + k) % w->pages;
    if (k == 2 && w->size > w->pages)
        return w->pages + order_web_host(w, order_web_link(w, page, 3));
    return (uint32_t)((double)w->pages * pow(u, 10)) % w->pages;
}

static inline bool order_web_has(const uint32_t *links, uint32_t n, uint32_t to)
{
    for (uint32_t i = 0; i < n; i++)
        if (links[i] == to)
            return true;
    return false;
}

/* Writes the different links of a page, and returns their number. Ranks are
 * shuffled in an index: 7919 is a prime. */
static inline uint32_t order_web_list(const struct order_web *w, uint32_t page,
                                      uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; page >= w->pages && i < w->pages; i++) {
        uint32_t to = (uint32_t)((uint64_t)i * 7919 % w->pages);

        if (order_web_host(w, to) == order_web_host(w, page))
            out[n++] = to;
    }
    for (uint32_t k = 0; page < w->pages && k < ORDER_WEB_LINKS; k++) {
        uint32_t to = order_web_link(w, page, k);

        if (!order_web_has(out, n, to))
            out[n++] = to;
    }
    return n;
}

static inline void order_web_make(struct order_web *w, uint32_t pages,
                                  uint32_t hosts, bool indexed)
{
    *w = (struct order_web){.pages = pages,
                            .hosts = hosts,
                            .size = pages + (indexed ? hosts : 0)};
    w->first = xcalloc(w->size + 1, sizeof *w->first);
    w->links = xcalloc((size_t)pages * (ORDER_WEB_LINKS + 2), sizeof *w->links);
    w->in = xcalloc(w->size, sizeof *w->in);
    for (uint32_t p = 0; p < w->size; p++)
        w->first[p + 1] =
            w->first[p] + order_web_list(w, p, w->links + w->first[p]);
    for (uint32_t i = 0; i < w->first[w->size]; i++)
        w->in[w->links[i]]++;
}

static inline void order_web_free(struct order_web *w)
{
    free(w->first);
    free(w->links);
    free(w->in);
}

static inline int order_web_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* The in-links of the `n` pages that have most: no order can get more. */
static inline uint64_t order_web_most(const struct order_web *w, uint32_t n)
{
    uint32_t *in = xmalloc(w->size * sizeof *in);
    uint64_t sum = 0;

    memcpy(in, w->in, w->size * sizeof *in);
    qsort(in, w->size, sizeof *in, order_web_compare);
    for (uint32_t i = 0; i < n; i++)
        sum += in[i];
    free(in);
    return sum;
}

struct order_run {
    uint64_t pages;  /* fetched */
    uint64_t weight; /* in-links of these, in the whole web */
    double cpu;      /* seconds */
};

struct order_text {
    char key[32], url[96];
};

static inline struct url_item order_web_item(const struct order_web *w,
                                             struct frontier *e, uint32_t page,
                                             uint32_t depth,
                                             struct order_text *t)
{
    struct url_item item = {.depth = depth, .seed = depth == 0};
    unsigned host = order_web_host(w, page);

    snprintf(t->key, sizeof t->key, "h%u.test", host);
    snprintf(t->url, sizeof t->url, "http://h%u.test/section/%u/page/%u", host,
             order_web_mix(page) % 97, page);
    item.key = bytes_of_str(t->key);
    item.url = bytes_of_str(t->url);
    item.digest = digest_url(frontier_get_digest_key(e),
                             bytes_of_str("DEFAULT"), item.key, item.url);
    return item;
}

static inline enum status order_web_ack(const struct order_web *w,
                                        struct frontier *e,
                                        const struct url_lease *l, int64_t now,
                                        struct order_run *run)
{
    char url[96];
    struct url_done done = {
        .id = l->id,
        .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
        .row = {.at_ms = now / NS_PER_MS},
        .host = {.ended = now, .retry_after_ms = -1},
    };
    struct url_item *found;
    struct order_text *texts;
    uint32_t page;
    enum status st;

    snprintf(url, sizeof url, "%.*s", (int)l->url.len, l->url.at);
    page = (uint32_t)strtoul(strrchr(url, '/') + 1, NULL, 10);
    done.outlink_count = w->first[page + 1] - w->first[page];
    found = xcalloc(done.outlink_count + 1, sizeof *found);
    texts = xcalloc(done.outlink_count + 1, sizeof *texts);
    for (size_t i = 0; i < done.outlink_count; i++)
        found[i] = order_web_item(w, e, w->links[w->first[page] + i],
                                  l->depth + 1, &texts[i]);
    done.outlinks = found;
    run->pages++;
    run->weight += w->in[page];
    st = frontier_ack(e, &done, 1, now, now / NS_PER_MS);
    free(found);
    free(texts);
    return st;
}

/* Crawls `limit` pages of the web into the empty directory `dir`. */
static inline enum status order_web_crawl(const struct order_web *w,
                                          const struct order *order,
                                          uint64_t limit, const char *dir,
                                          struct order_run *run)
{
    const struct frontier_options o = {
        .crawl = bytes_of_str("DEFAULT"),
        .schedule = {.delay = NS_PER_S, .max_delay = 30 * NS_PER_S},
        .tries = 1,
        .conns_per_host = 1,
        .in_flight = ORDER_WEB_WINDOW,
        .commit_least = 32,
        .limit_pages = limit,
        .store = {.use_filter = true,
                  .fpr = 0.001,
                  .memory = (uint64_t)128 << 20},
        .order = order,
        .commit_interval = 200 * NS_PER_MS,
        .random_seed = 7,
    };
    struct url_lease leases[ORDER_WEB_WINDOW];
    struct order_text text;
    struct frontier *e = NULL;
    clock_t began = clock();
    int64_t now = NS_PER_S;
    size_t n = 0;
    enum status st = frontier_create(&e, dir, &o, 1);

    *run = (struct order_run){.pages = 0};
    for (uint32_t p = w->size > w->pages ? w->pages : w->size - 1;
         st == STATUS_OK && p < w->size; p++) {
        struct url_item seed = order_web_item(w, e, p, 0, &text);

        st = frontier_put(e, 0, &seed, 1, 1, NULL);
    }
    while (st == STATUS_OK && now != INT64_MAX && run->pages < limit) {
        st = frontier_lease(e, ORDER_WEB_WINDOW, now, now / NS_PER_MS, leases,
                            &n);
        for (size_t i = 0; st == STATUS_OK && i < n; i++)
            st = order_web_ack(w, e, &leases[i], now, run);
        if (st == STATUS_OK)
            st = frontier_turn(e, false, now, now / NS_PER_MS, NULL);
        if (n == 0)
            now = frontier_next_due(e, now, NULL);
    }
    if (e != NULL)
        frontier_close(e);
    run->cpu = (double)(clock() - began) / CLOCKS_PER_SEC;
    return st;
}

#endif
