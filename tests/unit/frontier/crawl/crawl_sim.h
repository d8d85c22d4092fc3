/*
 * crawl_sim.h - a whole crawl without sockets and without sleeping: a small web
 * computed from page numbers, an array of fetchers, a clock that the test
 * advances, and a store on a real disk. Header only.
 */
#ifndef URLWEIR_TESTS_FRONTIER_CRAWL_CRAWL_SIM_H
#define URLWEIR_TESTS_FRONTIER_CRAWL_CRAWL_SIM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_open.h"
#include "tests/unit/unit.h"

#define PAGES     3000
#define HOSTS     37
#define LINKS     12
#define IN_FLIGHT 16
#define WALL      INT64_C(1700000000000)

static char dir[64];

static inline void make_dir(void)
{
    strcpy(dir, "/tmp/urlweir-frontier-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static inline void remove_dir(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}

/* ---- the web ---- */

static inline unsigned host_of_page(unsigned page)
{
    return page * 7919U % HOSTS;
}

static inline void url_of_page(unsigned page, char *out, size_t size)
{
    snprintf(out, size, "http://h%u.test/page/%u", host_of_page(page), page);
}

static inline unsigned nth_link(unsigned page, unsigned k)
{
    if (k < 3) /* a tree, so that every page can be reached */
        return page * 3 + 1 + k < PAGES ? page * 3 + 1 + k : 0;
    return (page * 2654435761U + k * 40503U) % PAGES;
}

/* ---- the crawl ---- */

struct flight {
    bool used;
    struct url_lease lease;
    unsigned page;
    int64_t ends;
};

struct sim {
    struct frontier *e;
    struct frontier_options o;
    int64_t now;
    uint32_t random;
    struct flight flights[IN_FLIGHT];
    unsigned fetched[PAGES]; /* responses sent, as the server counts them */
    int64_t ended[HOSTS];    /* end of a host's last response; -1: none */
    bool busy[HOSTS];
    unsigned crashes;
    int64_t delay;
};

static inline uint32_t rnd(struct sim *s)
{
    s->random = s->random * 1664525U + 1013904223U;
    return s->random >> 8;
}

static inline int64_t wall(const struct sim *s)
{
    return WALL + s->now / NS_PER_MS;
}

static inline void options(struct sim *s, int64_t delay)
{
    s->delay = delay;
    s->o = (struct frontier_options){
        .crawl = bytes_of_str("DEFAULT"),
        .schedule = {.delay = delay,
                     .max_delay = 30 * NS_PER_S,
                     .max_crawl_delay = 300 * NS_PER_S,
                     .retry_delay = NS_PER_S},
        .tries = 3,
        .conns_per_host = 1,
        .in_flight = IN_FLIGHT,
        .commit_least = 32,
        .store = {.use_filter = true,
                  .fpr = 0.01,
                  .memory = (uint64_t)64 << 20},
        .commit_interval = 200 * NS_PER_MS,
        .random_seed = 7,
    };
}

static inline struct url_item item_of(struct sim *s, unsigned page, char *key,
                                      char *url, size_t size, uint32_t depth)
{
    struct url_item item = {.depth = depth, .seed = depth == 0};

    snprintf(key, size, "h%u.test", host_of_page(page));
    url_of_page(page, url, size);
    item.key = bytes_of_str(key);
    item.url = bytes_of_str(url);
    item.digest = digest_url(frontier_get_digest_key(s->e), s->o.crawl,
                             item.key, item.url);
    return item;
}

static inline void start(struct sim *s, int64_t delay)
{
    char key[64], url[64];
    struct url_item seed;
    enum put_answer answer;

    memset(s, 0, sizeof *s);
    s->random = 4711;
    s->now = NS_PER_S;
    for (int i = 0; i < HOSTS; i++)
        s->ended[i] = -1;
    options(s, delay);
    ck_ok(frontier_create(&s->e, dir, &s->o, wall(s)));
    seed = item_of(s, 0, key, url, sizeof key, 0);
    ck_ok(frontier_put(s->e, 0, &seed, 1, wall(s), &answer));
    ck_assert_int_eq(answer, PUT_NEW);
    ck_ok(frontier_turn(s->e, true, s->now, wall(s), NULL));
}

static inline void reopen(struct sim *s)
{
    ck_ok(frontier_open(&s->e, dir, &s->o, s->now, wall(s)));
}

/* A crawl in which every host rests that may. */
static inline void start_resting(struct sim *s, int64_t delay)
{
    start(s, delay);
    s->o.host_memory = 1;
    frontier_close(s->e);
    reopen(s);
}

/* The process ends with requests in flight: the server did see them. */
static inline void cut_flights(struct sim *s)
{
    for (int i = 0; i < IN_FLIGHT; i++) {
        struct flight *f = &s->flights[i];

        if (f->used) {
            s->fetched[f->page]++;
            s->busy[host_of_page(f->page)] = false;
            s->ended[host_of_page(f->page)] = s->now;
            f->used = false;
        }
    }
}

/* Ends the crawl as kill -9 would: nothing is committed or reported. */
static inline void crash(struct sim *s)
{
    frontier_close(s->e);
    s->crashes++;
    cut_flights(s);
    reopen(s);
}

static inline void take_off(struct sim *s, const struct url_lease *l)
{
    for (int i = 0; i < IN_FLIGHT; i++) {
        struct flight *f = &s->flights[i];
        char url[128];
        unsigned h;

        if (f->used)
            continue;
        snprintf(url, sizeof url, "%.*s", (int)l->url.len, l->url.at);
        ck_assert_int_eq(sscanf(url, "http://h%u.test/page/%u", &h, &f->page),
                         2);
        ck_assert_msg(!s->busy[h], "host %u asked twice at once", h);
        ck_assert_msg(s->ended[h] < 0 || s->now >= s->ended[h] + s->delay,
                      "host %u asked too soon", h);
        s->busy[h] = true;
        f->used = true;
        f->lease = *l;
        f->ends = s->now + NS_PER_MS * (1 + rnd(s) % 80);
        return;
    }
    ck_abort_msg("more leases than may be in flight");
}

static inline void land(struct sim *s, struct flight *f)
{
    char keys[LINKS][64], urls[LINKS][64];
    struct url_item found[LINKS];
    struct url_done done = {
        .id = f->lease.id,
        .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
        .row = {.at_ms = wall(s), .links = LINKS, .wire_bytes = 1000},
        .outlinks = found,
        .outlink_count = LINKS,
        .host = {.ended = s->now, .retry_after_ms = -1},
    };

    for (unsigned k = 0; k < LINKS; k++)
        found[k] = item_of(s, nth_link(f->page, k), keys[k], urls[k],
                           sizeof keys[k], f->lease.depth + 1);
    s->fetched[f->page]++;
    s->busy[host_of_page(f->page)] = false;
    s->ended[host_of_page(f->page)] = s->now;
    f->used = false;
    ck_ok(frontier_ack(s->e, &done, 1, s->now, wall(s)));
}

static inline bool step(struct sim *s)
{
    struct url_lease leases[IN_FLIGHT];
    struct frontier_counts st;
    size_t n;

    s->now += NS_PER_MS * (1 + rnd(s) % 20);
    for (int i = 0; i < IN_FLIGHT; i++)
        if (s->flights[i].used && s->flights[i].ends <= s->now)
            land(s, &s->flights[i]);
    ck_ok(frontier_turn(s->e, false, s->now, wall(s), NULL));
    ck_ok(frontier_lease(s->e, IN_FLIGHT, s->now, wall(s), leases, &n));
    for (size_t i = 0; i < n; i++)
        take_off(s, &leases[i]);
    frontier_get_counts(s->e, &st);
    return st.queued > 0;
}

static inline void check_all_fetched(const struct sim *s)
{
    unsigned again = 0;

    for (unsigned i = 0; i < PAGES; i++) {
        ck_assert_msg(s->fetched[i] > 0, "page %u was lost", i);
        again += s->fetched[i] - 1;
    }
    ck_assert_uint_le(again, IN_FLIGHT * s->crashes);
}

static inline void finish(struct sim *s)
{
    struct frontier_counts st;

    frontier_get_counts(s->e, &st);
    ck_assert_uint_eq(st.urls, PAGES);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.leased, 0);
    ck_assert_uint_eq(st.queues, HOSTS);
    ck_assert_uint_eq(st.queues_active, 0);
    frontier_close(s->e);
}

static inline struct url_lease lease_one(struct sim *s)
{
    struct url_lease l = {0};
    size_t n = 0;

    ck_ok(frontier_lease(s->e, 1, s->now, wall(s), &l, &n));
    if (n == 0)
        l.id = 0;
    return l;
}

#endif
