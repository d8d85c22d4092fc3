/* SPDX-License-Identifier: MIT */
/* test_crawl_balance.c - which fetcher gets a URL. */
/* Promise (Politeness): fetchers share the work evenly, and the connections
 * to a host, with one robots.txt. */
#include <stdlib.h>

#include "crawler/crawl_balance.h"
#include "tests/unit/frontier/url/soup.h"
#include "tests/unit/unit.h"

#define FETCHERS_MOST 8
#define QUEUES_MOST   16
#define SETTLED       2000 /* by then no fetcher has what it got alone */
#define STEPS         6000

static unsigned give(struct crawl_balance *b, uint32_t queue, bool first)
{
    bool fresh;

    return crawl_balance_give(b, queue, first, &fresh);
}

/* A queue that has no URLs left keeps its connection, and so its fetcher. */
TEST(one_connection_stays_with_one_fetcher)
{
    struct crawl_balance *b = crawl_balance_new(3, 1);
    unsigned of[6000];

    for (uint32_t q = 0; q < 6000; q++) {
        of[q] = give(b, q, true);
        if (q % 7 != 0)
            crawl_balance_ended(b, q, of[q], CRAWL_BALANCE_DONE);
    }
    for (uint32_t q = 0; q < 6000; q++)
        ck_assert_uint_eq(give(b, q, q % 5 == 0), of[q]);
    crawl_balance_free(b);
}

/* The numbers of queues say nothing: all of these are odd. */
TEST(a_new_queue_goes_to_the_fetcher_with_the_least_to_do)
{
    struct crawl_balance *b = crawl_balance_new(2, 1);
    unsigned count[2] = {0, 0};

    for (uint32_t q = 1; q < 13; q += 2)
        count[give(b, q, true)]++;
    ck_assert_uint_eq(count[0], 3);
    ck_assert_uint_eq(count[1], 3);
    crawl_balance_free(b);
    b = crawl_balance_new(2, 1);
    for (uint32_t q = 1; q < 13; q += 2) { /* without any URL in flight */
        unsigned at = give(b, q, true);

        crawl_balance_ended(b, q, at, CRAWL_BALANCE_DONE);
        count[at]++;
    }
    ck_assert_uint_eq(count[0], 6);
    ck_assert_uint_eq(count[1], 6);
    crawl_balance_free(b);
}

TEST(others_get_urls_once_the_first_is_done)
{
    struct crawl_balance *b = crawl_balance_new(2, 8);
    bool fresh;
    unsigned at = crawl_balance_give(b, 5, true, &fresh);

    ck_assert(fresh);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(crawl_balance_give(b, 5, false, &fresh), at);
        ck_assert(!fresh);
    }
    crawl_balance_ended(b, 5, at, CRAWL_BALANCE_RELEASED); /* for robots.txt */
    ck_assert_uint_eq(give(b, 5, false), at);
    crawl_balance_ended(b, 5, at, CRAWL_BALANCE_DONE);
    ck_assert_uint_eq(crawl_balance_give(b, 5, false, &fresh), !at);
    ck_assert_msg(fresh, "it must be told of robots.txt");
    ck_assert_uint_eq(crawl_balance_give(b, 5, false, &fresh), !at);
    ck_assert(!fresh);
    crawl_balance_free(b);
}

/* It may hold the redirect that robots.txt gave. */
TEST(the_fetcher_that_gives_back_gets_the_next)
{
    struct crawl_balance *b = crawl_balance_new(2, 8);
    unsigned at = give(b, 5, true), other = !at;

    crawl_balance_ended(b, 5, at, CRAWL_BALANCE_DONE);
    (void)give(b, 5, false);
    ck_assert_uint_eq(give(b, 5, false), other);
    crawl_balance_ended(b, 5, other, CRAWL_BALANCE_RELEASED);
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(give(b, 5, false), other);
    crawl_balance_ended(b, 5, at, CRAWL_BALANCE_DONE);
    ck_assert_uint_eq(give(b, 5, false), other);
    crawl_balance_ended(b, 5, other, CRAWL_BALANCE_DONE);
    ck_assert_uint_eq(give(b, 5, false), at);
    crawl_balance_free(b);
}

TEST(a_fetcher_that_hangs_gets_nothing)
{
    for (uint32_t conns = 1; conns < 9; conns += 7) {
        struct crawl_balance *b = crawl_balance_new(3, conns);
        unsigned at = give(b, 7, true), next;

        crawl_balance_hangs(b, at, true);
        next = give(b, 7, false);
        ck_assert_uint_ne(next, at);
        crawl_balance_ended(b, 7, next, CRAWL_BALANCE_DONE);
        for (uint32_t q = 20; q < 40; q++)
            ck_assert_uint_ne(give(b, q, true), at);
        for (unsigned f = 0; f < 3; f++)
            crawl_balance_hangs(b, f, true);
        ck_assert_uint_lt(give(b, 7, false), 3);
        crawl_balance_free(b);
    }
}

/* ---- any order of things ------------------------------------------------- */

/* What the frontier thread knows: who has which URLs. */
struct model {
    struct crawl_balance *b;
    unsigned fetchers;
    uint32_t conns, queues;
    uint32_t out[QUEUES_MOST][FETCHERS_MOST];
    bool begun[QUEUES_MOST];
    uint64_t given[FETCHERS_MOST];
};

static uint32_t out_of(const struct model *m, uint32_t q)
{
    uint32_t n = 0;

    for (unsigned f = 0; f < m->fetchers; f++)
        n += m->out[q][f];
    return n;
}

static void model_give(struct model *m, uint32_t q)
{
    unsigned f = give(m->b, q, !m->begun[q]);

    ck_assert_uint_lt(f, m->fetchers);
    m->begun[q] = true;
    m->out[q][f]++;
    m->given[f]++;
}

static void model_end(struct model *m, uint32_t q, bool release)
{
    unsigned f = (unsigned)(soup_random() % m->fetchers);

    while (m->out[q][f] == 0)
        f = (f + 1) % m->fetchers;
    m->out[q][f]--;
    crawl_balance_ended(m->b, q, f,
                        release ? CRAWL_BALANCE_RELEASED : CRAWL_BALANCE_DONE);
}

static void model_run(struct model *m, unsigned fetchers, uint32_t conns,
                      uint32_t queues, bool releases)
{
    uint32_t most = crawl_balance_share(fetchers, conns);

    memset(m, 0, sizeof *m);
    m->fetchers = fetchers;
    m->conns = conns;
    m->queues = queues;
    m->b = crawl_balance_new(fetchers, conns);
    for (unsigned i = 0; i < STEPS; i++) {
        uint32_t q = (uint32_t)(soup_random() % queues);

        while (out_of(m, q) < conns)
            model_give(m, q);
        for (unsigned f = 0; i > SETTLED && !releases && f < fetchers; f++)
            ck_assert_uint_le(m->out[q][f], most);
        model_end(m, q, releases && soup_random() % 10 == 0);
    }
    crawl_balance_free(m->b);
}

/* As many transfers as there are connections, and none over a fetcher's share:
 * so a host never sees more connections than it is promised. */
TEST(no_fetcher_exceeds_its_share)
{
    struct model m;

    for (unsigned fetchers = 1; fetchers <= FETCHERS_MOST; fetchers++)
        for (uint32_t conns = 2; conns <= 20; conns += 3) {
            model_run(&m, fetchers, conns, 1, false);
            model_run(&m, fetchers, conns, 5, false);
            model_run(&m, fetchers, conns, 5, true);
        }
}

/* Two fetchers have 45 to 55 % of the work each, also on one host. */
TEST(the_work_is_even)
{
    struct model m;

    for (uint32_t queues = 1; queues <= 5; queues += 2) {
        model_run(&m, 2, 8, queues, false);
        ck_assert_uint_lt(m.given[0] * 9, m.given[1] * 11);
        ck_assert_uint_lt(m.given[1] * 9, m.given[0] * 11);
    }
}
