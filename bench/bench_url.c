/* SPDX-License-Identifier: MIT */
/*
 * bench_url.c - the cost of one URL, compared with libcurl's CURLU.
 *
 * Each list is generated from a fixed seed and has enough URLs not to fit in
 * the caches nearest to the core. Ours parses and brings to the canonical form
 * into a reused struct url; CURLU parses, resolves and writes the URL into a
 * handle that is reused too. They do not do the same work: CURLU has no
 * canonical form, and here it neither maps nor checks an IDNA host.
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "frontier/url/surt.h"
#include "frontier/url/url.h"

enum { URLS = 20000, ROUNDS = 15 };

struct list {
    const char *name;
    void (*make)(struct buf *b, uint64_t n);
    bool relative;
    char *urls[URLS];
    size_t len[URLS];
};

static const char base_text[] =
    "http://www.example.com/library/reference/section-7/page.html?v=3";

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t next_random(void) /* xorshift64* */
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1d;
}

static void make_plain(struct buf *b, uint64_t n)
{
    buf_addf(b,
             "https://www.host%03u.example.com/library/%u/item-%06u.html?id=%u",
             (unsigned)(n % 1000), (unsigned)(n % 97),
             (unsigned)(next_random() % 1000000), (unsigned)(n % 10000));
}

static void make_relative(struct buf *b, uint64_t n)
{
    static const char *const before[] = {"chapter-", "../up/",
                                         "/root/of/the/site/",
                                         "?page=", "item"};
    static const char *const behind[] = {"/figure.html", ".html", "", "",
                                         ".html#top"};

    buf_add_str(b, before[n % 5]);
    buf_add_uint(b, next_random() % 100000);
    buf_add_str(b, behind[n % 5]);
}

static void make_unclean(struct buf *b, uint64_t n)
{
    buf_addf(b,
             "HTTP://user@WWW.Example.COM.:80/a/./b/../%%7euser%u/caf\xc3\xa9 "
             "%%41%%2f?q=%%e9&r='%u'#top",
             (unsigned)(n % 1000), (unsigned)(next_random() % 1000));
}

static void make_idna(struct buf *b, uint64_t n)
{
    static const char *const names[] = {
        "m\xc3\xbcnchen",
        "\xe4\xbe\x8b\xe3\x81\x88",
        "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xbc\xd0\xb5\xd1\x80",
    };

    buf_addf(b, "http://%s%u.example/a/%u", names[n % 3], (unsigned)(n % 1000),
             (unsigned)(next_random() % 1000));
}

static struct list lists[] = {
    {.name = "absolute, nothing to change", .make = make_plain},
    {.name = "relative", .make = make_relative, .relative = true},
    {.name = "absolute, much to change", .make = make_unclean},
    {.name = "absolute, IDNA host", .make = make_idna},
};

static double fill(struct list *l)
{
    size_t octets = 0;
    struct buf b;

    for (size_t i = 0; i < URLS; i++) {
        buf_init(&b, 1000);
        l->make(&b, i);
        octets += b.len;
        l->urls[i] = buf_take(&b, &l->len[i]);
    }
    return (double)octets / URLS;
}

static size_t run_ours(const struct list *l, const struct url *base)
{
    static struct url u;
    size_t good = 0;

    url_init(&u);
    for (size_t i = 0; i < URLS; i++)
        good += url_canonical(&u, bytes_of(l->urls[i], l->len[i]),
                              l->relative ? base : NULL, NULL) == URL_OK;
    url_fini(&u);
    return good;
}

static size_t run_surt(const struct list *l, const struct url *base)
{
    struct url u;
    struct buf key;
    size_t good = 0;

    url_init(&u);
    buf_init(&key, SURT_CEILING);
    for (size_t i = 0; i < URLS; i++) {
        buf_clear(&key);
        if (url_canonical(&u, bytes_of(l->urls[i], l->len[i]),
                          l->relative ? base : NULL, NULL) != URL_OK)
            continue;
        surt_of(&u, &key);
        good++;
    }
    buf_fini(&key);
    url_fini(&u);
    return good;
}

static size_t run_curl(const struct list *l, const struct url *base)
{
    CURLU *h = curl_url();
    size_t good = 0;

    (void)base;
    for (size_t i = 0; i < URLS; i++) {
        char *text = NULL;

        if (l->relative && curl_url_set(h, CURLUPART_URL, base_text, 0) != 0)
            continue;
        if (curl_url_set(h, CURLUPART_URL, l->urls[i], CURLU_URLENCODE) == 0 &&
            curl_url_get(h, CURLUPART_URL, &text, 0) == 0)
            good++;
        curl_free(text);
        if (!l->relative)
            curl_url_set(h, CURLUPART_URL, NULL, 0);
    }
    curl_url_cleanup(h);
    return good;
}

/* CPU nanoseconds a URL, the best round of several; 0 if some did not parse. */
static double measure(size_t (*run)(const struct list *, const struct url *),
                      const struct list *l, const struct url *base)
{
    double best = 0;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t from = clock_cpu();
        size_t good = run(l, base);
        double ns = (double)(clock_cpu() - from) / URLS;

        if (good != URLS)
            return 0;
        if (best == 0 || ns < best)
            best = ns;
    }
    return best;
}

int main(void)
{
    struct url base;

    url_init(&base);
    if (url_parse(&base, bytes_of_str(base_text), NULL, NULL) != URL_OK)
        return EXIT_FAILURE;
    printf(
        "CPU ns a URL, best of %d rounds over %d; 0: not all of them parse\n\n",
        ROUNDS, URLS);
    printf("%-30s %8s %10s %10s %10s\n", "", "octets", "canonical", "with surt",
           "CURLU");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct list *l = &lists[i];
        double octets = fill(l);

        printf("%-30s %8.1f %10.0f %10.0f %10.0f\n", l->name, octets,
               measure(run_ours, l, &base), measure(run_surt, l, &base),
               measure(run_curl, l, &base));
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t j = 0; j < URLS; j++)
            free(lists[i].urls[j]);
    url_fini(&base);
    return EXIT_SUCCESS;
}
