/*
 * refresh_web.h - pages that change at known rates, fetched again and again by
 * a frontier without sockets, and for how much of the time its copies of them
 * are up to date. Header only; for bench_refresh and the suite refresh_web.
 *
 * The pages are on one host. Their rates are spread evenly over orders of
 * magnitude, each page changes by a Poisson process of its own rate, and the
 * host's delay is such that there is one request for each page in `interval`.
 * So a fixed interval of that length and --refresh adaptive make the same
 * requests. Between two fetches of a page only its first change counts, whose
 * time has no memory, so each fetch draws one number.
 */
#ifndef URLWEIR_BENCH_REFRESH_WEB_H
#define URLWEIR_BENCH_REFRESH_WEB_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/html/link_values.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/crawl/refresh_rule.h"

#define REFRESH_WEB_HOUR 3600000.0 /* ms */
#define REFRESH_WEB_DAY  (24 * REFRESH_WEB_HOUR)

struct refresh_web {
    uint32_t pages;
    double slowest, fastest; /* changes a day */
    double interval;         /* days */
    uint32_t rounds; /* intervals in all; the second half of them is measured */
    uint64_t seed;
};

struct refresh_run {
    double freshness;           /* of all pages, over the second half */
    uint64_t requests, changed; /* in the second half */
};

struct refresh_page {
    uint64_t version;
    int64_t at_ms; /* last fetch */
};

/* Changes a millisecond. */
static inline double refresh_web_rate(const struct refresh_web *w, uint32_t i)
{
    double place = (i + 0.5) / w->pages;

    return w->slowest * pow(w->fastest / w->slowest, place) / REFRESH_WEB_DAY;
}

/* A number between 0 and 1, neither of them. */
static inline double refresh_web_draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53 + 0x1p-54;
}

/* The freshness of a schedule that asks each page after the same time, and of
 * the best one that knows all rates, with as many requests. */
static inline double refresh_web_fixed(const struct refresh_web *w)
{
    double sum = 0;

    for (uint32_t i = 0; i < w->pages; i++)
        sum += refresh_freshness(refresh_web_rate(w, i),
                                 w->interval * REFRESH_WEB_DAY);
    return sum / w->pages;
}

static inline double refresh_web_best(const struct refresh_web *w)
{
    double low = 1e-3, high = 1e13, asked, sum = 0;

    for (int k = 0; k < 120; k++) { /* the price that spends the requests */
        double price = sqrt(low * high);

        asked = sum = 0;
        for (uint32_t i = 0; i < w->pages; i++) {
            double rate = refresh_web_rate(w, i);
            double ms = refresh_worth(rate, price);

            if (isfinite(ms)) {
                asked += w->interval * REFRESH_WEB_DAY / ms;
                sum += refresh_freshness(rate, ms);
            }
        }
        *(asked > w->pages ? &low : &high) = price;
    }
    return sum / w->pages;
}

static inline enum status refresh_web_put(const struct refresh_web *w,
                                          struct frontier *e)
{
    enum status st = STATUS_OK;

    for (uint32_t i = 0; st == STATUS_OK && i < w->pages; i++) {
        char url[48];
        struct url_item item = {.seed = true,
                                .kind = LINK_SEED,
                                .key = bytes_of_str("w.test")};

        snprintf(url, sizeof url, "http://w.test/%u", i);
        item.url = bytes_of_str(url);
        item.digest = digest_url(frontier_get_digest_key(e),
                                 bytes_of_str("DEFAULT"), item.key, item.url);
        st = frontier_put(e, 0, &item, 1, 1, NULL);
    }
    return st;
}

/* A fetch of a page: has it changed, and how long was the copy up to date? */
static inline enum status refresh_web_ack(
    const struct refresh_web *w, struct frontier *e, const struct url_lease *l,
    int64_t now, struct refresh_page *pages, uint64_t *random,
    struct refresh_run *run)
{
    const int64_t at_ms = now / NS_PER_MS;
    const double half = w->interval * w->rounds / 2 * REFRESH_WEB_DAY;
    char url[48];
    struct url_done done = {
        .id = l->id,
        .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
        .row = {.at_ms = at_ms},
        .host = {.ended = now, .retry_after_ms = -1},
    };
    struct refresh_page *page;
    uint32_t i;

    snprintf(url, sizeof url, "%.*s", (int)l->url.len, l->url.at);
    i = (uint32_t)strtoul(strrchr(url, '/') + 1, NULL, 10);
    page = &pages[i];
    if (page->at_ms > 0) {
        double fresh = -log(refresh_web_draw(random)) / refresh_web_rate(w, i);
        double gap = (double)(at_ms - page->at_ms);
        double from = fmax((double)page->at_ms, half);

        page->version += fresh < gap;
        if ((double)at_ms > half) {
            run->requests++;
            run->changed += fresh < gap;
            run->freshness +=
                fmax(0, (double)page->at_ms + fmin(fresh, gap) - from) /
                (half * w->pages);
        }
    }
    page->at_ms = at_ms;
    done.row.body_print = page->version + 1;
    done.row.text_digest = (struct digest){page->version + 1, 1};
    return frontier_ack(e, &done, 1, now, at_ms);
}

/* Fetches the pages by these rules for all rounds, in the empty directory
 * `dir`. */
static inline enum status refresh_web_run(const struct refresh_web *w,
                                          const struct refresh_rules *rules,
                                          const char *dir,
                                          struct refresh_run *run)
{
    const int64_t delay =
        (int64_t)(w->interval * REFRESH_WEB_DAY * NS_PER_MS / w->pages);
    const int64_t end = delay * w->pages * w->rounds;
    const struct frontier_options o = {
        .crawl = bytes_of_str("DEFAULT"),
        .schedule = {.delay = delay, .max_delay = delay},
        .tries = 1,
        .conns_per_host = 1,
        .in_flight = 4096, /* half of it in a commit: what a run costs */
        .commit_least = 32,
        .store = {.use_filter = true,
                  .fpr = 0.001,
                  .memory = (uint64_t)64 << 20},
        .refresh = *rules,
        .changed_by = CHANGED_BY_TEXT,
        .commit_interval = end, /* is not measured */
        .random_seed = 7,
    };
    struct refresh_page *pages = xcalloc(w->pages, sizeof *pages);
    uint64_t random = w->seed;
    struct url_lease l;
    struct frontier *e = NULL;
    int64_t now = NS_PER_S;
    size_t n = 0;
    enum status st = frontier_create(&e, dir, &o, 1);

    *run = (struct refresh_run){.requests = 0};
    if (st == STATUS_OK)
        st = refresh_web_put(w, e);
    while (st == STATUS_OK && now < end) {
        st = frontier_lease(e, 1, now, now / NS_PER_MS, &l, &n);
        if (st == STATUS_OK && n > 0)
            st = refresh_web_ack(w, e, &l, now, pages, &random, run);
        if (st == STATUS_OK)
            st = frontier_turn(e, false, now, now / NS_PER_MS, NULL);
        if (n == 0)
            now = frontier_next_due(e, now, NULL);
    }
    if (e != NULL)
        frontier_close(e);
    free(pages);
    return st;
}

#endif
