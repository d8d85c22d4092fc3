/* SPDX-License-Identifier: MIT */
/* The life of one URL: its tries, its host's delay, the limits that end it. */
#include "frontier/crawl/frontier_impl.h"
#include "tests/unit/frontier/crawl/crawl_sim.h"

static void ack(struct sim *s, struct url_done *d)
{
    ck_ok(frontier_ack(s->e, d, 1, s->now, wall(s)));
}

TIMEOUT(30);
FIXTURE(make_dir, remove_dir);

#define DAY (INT64_C(86400) * NS_PER_S)

/* A wall sets a cookie on the way: 1 leads to 2, and 2 back to it. */
TEST(a_way_back_with_other_cookies_is_another_request_and_ends)
{
    static struct sim s;
    char key[64], url[64];
    struct url_item to;
    struct url_done d;
    struct url_lease l;
    struct frontier_counts st;

    start(&s, NS_PER_MS);
    for (unsigned step = 0; step < 3; step++) {
        l = lease_one(&s);
        ck_assert_uint_eq(l.id, step + 1);
        ck_assert_uint_eq(l.hops, step);
        ck_assert(l.seed == (step != 1));
        to = item_of(&s, step == 1 ? 0 : 1, key, url, sizeof key, 0);
        to.seed = false;
        to.hops = (uint16_t)(step + 1);
        d = (struct url_done){.id = l.id,
                              .outcome = {OUTCOME_REDIRECT, REASON_NONE, 302},
                              .anew = step < 2,
                              .outlinks = &to,
                              .outlink_count = 1,
                              .host = {.ended = s.now, .retry_after_ms = -1}};
        ack(&s, &d);
        s.now += NS_PER_S;
    }
    frontier_get_counts(s.e, &st);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.redirects, 2); /* the first counts once */
    ck_assert_uint_eq(st.seeds_failed, 1);
    ck_assert_uint_eq(frontier_store_counter(s.e->store,
                                             "redirect.redirect_loop"),
                      1);
    frontier_close(s.e);
}

TEST(the_page_limit_is_never_overrun)
{
    static struct sim s;
    struct frontier_counts st;

    start(&s, 0);
    frontier_close(s.e);
    s.o.limit_pages = 100;
    reopen(&s);
    for (int i = 0; i < 5000; i++)
        step(&s);
    frontier_get_counts(s.e, &st);
    ck_assert_uint_eq(st.pages, 100);
    ck_assert_uint_gt(st.queued, 0);
    frontier_close(s.e);
}
