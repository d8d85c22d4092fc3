/* SPDX-License-Identifier: MIT */
/* Putting, leasing and settling URLs, between a frontier of other programs and
 * our own crawls. test_router_control.c has the other calls. */
#include "tests/unit/service/calls/router_rig.h"

/* ---- put ---- */

TEST(a_batch_for_several_crawls_is_split_and_acknowledged_in_its_order)
{
    static const char *const names[] = {"theirs", "own0", "own1", "others"};
    struct router_rig r;
    struct frontier_call call = service_new(FRONTIER_PUT);
    struct frontier_item items[400];
    char urls[400][40];
    bool seen[4][50] = {{false}};
    enum frontier_ack want[400];

    router_make(&r, true);
    srand(7);
    for (int i = 0; i < 400; i++) {
        int crawl = rand() % 4, url = rand() % 50;
        bool ours = crawl == 1 || crawl == 2;
        bool bad = rand() % 10 == 0;

        snprintf(urls[i], sizeof urls[i], bad ? "ftp:x%d" : "http://a.test/%d",
                 url);
        items[i] =
            item_of(names[crawl], urls[i],
                    bad ? FRONTIER_ITEM_NEITHER : FRONTIER_ITEM_DISCOVERED);
        if (bad && ours)
            items[i].kind = FRONTIER_ITEM_DISCOVERED; /* not a URL of a crawl */
        want[i] =
            bad || seen[crawl][url] ? FRONTIER_ACK_SKIPPED : FRONTIER_ACK_OK;
        seen[crawl][url] |= !bad;
    }
    call.in.put = (struct frontier_put){items, 400};
    ask(&r, &call);
    ck_ok(call.status);
    for (int i = 0; i < 400; i++)
        ck_assert_msg(items[i].ack == want[i], "item %d: %d, not %d", i,
                      (int)items[i].ack, (int)want[i]);
    frontier_call_fini(&call);
    router_fini(&r);
}

TEST(a_url_is_what_it_is_in_a_crawl_of_ours_however_it_is_spelt)
{
    struct router_rig r;

    router_make(&r, true);
    ck_assert_int_eq(put_one(&r, "own0", "http://a.test/%7Ex", 1),
                     FRONTIER_ACK_OK);
    ck_assert_int_eq(put_one(&r, "own0", "HTTP://A.test:80/./~x#there", 1),
                     FRONTIER_ACK_SKIPPED);
    ck_assert_int_eq(put_one(&r, "own1", "http://a.test/~x", 1),
                     FRONTIER_ACK_OK);
    ck_assert_int_eq(put_one(&r, "own0", "http://a.test/~x",
                             FRONTIER_ITEM_KNOWN),
                     FRONTIER_ACK_OK);
    ck_assert_uint_eq(get_any(&r, 0).own[0], 0);
    router_fini(&r);
}

/* ---- get ---- */

TEST(queues_are_shared_equally_and_what_one_leaves_goes_to_the_others)
{
    struct router_rig r;
    struct got n;

    router_make(&r, true);
    put_hosts(&r, "theirs", 10);
    put_hosts(&r, "own0", 10);
    put_hosts(&r, "own1", 2);
    n = get_any(&r, 3);
    ck_assert_uint_eq(n.theirs, 1);
    ck_assert_uint_eq(n.own[0], 1);
    ck_assert_uint_eq(n.own[1], 1);
    n = get_any(&r, 9);
    ck_assert_uint_eq(n.own[1], 1); /* it has no more */
    ck_assert_uint_eq(n.all, 9);
    ck_assert_uint_ge(n.theirs, 3);
    ck_assert_uint_ge(n.own[0], 3);
    n = get_any(&r, 7);
    ck_assert_uint_eq(n.all, 7);
    n = get_any(&r, 100);
    ck_assert_uint_eq(n.all, 3);
    ck_assert_uint_eq(get_any(&r, 100).all, 0);
    router_fini(&r);
}

TEST(an_answer_of_many_urls_comes_in_parts_and_none_is_lost)
{
    struct router_rig r;
    struct got n;

    router_make(&r, true);
    put_hosts(&r, "theirs", 2300);
    put_hosts(&r, "own0", 700);
    put_hosts(&r, "own1", 30);
    n = get_any(&r, 0);
    ck_assert_uint_eq(n.all, 3030);
    ck_assert_uint_ge(n.parts, 2);
    ck_assert_uint_eq(get_any(&r, 0).all, 0);
    router_fini(&r);
}

/* ---- settle ---- */

TEST(a_lease_is_settled_where_it_came_from)
{
    struct router_rig r;
    struct frontier_call get = service_new(FRONTIER_GET);

    router_make(&r, true);
    put_hosts(&r, "theirs", 1);
    put_hosts(&r, "own0", 1);
    put_hosts(&r, "own1", 1);
    get.in.get =
        (struct frontier_get){.any_crawl = true, .delay_requestable_s = 3600};
    ask(&r, &get);
    ck_assert_uint_eq(get.url_count, 3);
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < 3; i++) {
            struct frontier_call call = service_new(FRONTIER_SETTLE);

            call.in.settle =
                (struct frontier_settle){.lease = get.urls[i].lease,
                                         .keep_metadata = true};
            ask(&r, &call);
            ck_assert_int_eq(call.status,
                             again == 0 ? STATUS_OK : STATUS_NOT_FOUND);
            frontier_call_fini(&call);
        }
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"theirs", "own0", "own1"};
        struct frontier_call call = service_new(FRONTIER_STATS);

        call.in.crawl = text(names[i]);
        ask(&r, &call);
        ck_assert_uint_eq(call.counts.completed, 1);
        ck_assert_uint_eq(call.counts.active, 0);
        frontier_call_fini(&call);
    }
    frontier_call_fini(&get);
    router_fini(&r);
}

/* ---- alone ---- */

TEST(without_a_frontier_of_other_programs_our_crawls_are_served_alone)
{
    struct router_rig r;
    struct frontier_call call = service_new(FRONTIER_LIST_CRAWLS);
    struct frontier_call status = service_new(FRONTIER_URL_STATUS);

    router_make(&r, false);
    ck_assert_str_eq(names_of(&r, &call), "own0 own1");
    put_hosts(&r, "own0", 3);
    ck_assert_uint_eq(get_any(&r, 2).own[0], 2);
    ck_assert_int_eq(put_one(&r, "theirs", "http://a.test/", 1),
                     FRONTIER_ACK_FAIL);
    status.in.crawl = text("theirs");
    status.in.url = text("http://a.test");
    ask(&r, &status);
    ck_assert_int_eq(status.status, STATUS_NOT_FOUND);
    frontier_call_fini(&status);
    router_fini(&r);
}

/* ---- the end ---- */

static void submit(struct router_rig *r, struct frontier_call *call,
                   struct service_wait *w)
{
    *w = (struct service_wait){.r = &r->frontier};
    call->done = service_told;
    call->ctx = w;
    ck_ok(router_submit(r->router, call));
}

/* The frontier closes after the crawls, and its thread still passes on what it
 * has: nobody is there to take it. */
TEST(calls_that_come_to_our_crawls_when_those_are_gone_end)
{
    struct router_rig r;
    struct frontier_call any = service_new(FRONTIER_GET);
    struct frontier_call names = service_new(FRONTIER_LIST_CRAWLS);
    struct service_wait any_wait, names_wait;

    router_make(&r, true);
    put_hosts(&r, "theirs", 1);
    put_hosts(&r, "own0", 1);
    any.in.get = (struct frontier_get){.any_crawl = true};
    atomic_store(&r.frontier.held, true);
    submit(&r, &any, &any_wait);
    submit(&r, &names, &names_wait);
    router_end_crawls(r.router);
    close_crawls(&r);
    atomic_store(&r.frontier.held, false);
    service_wait_for(&any_wait);
    service_wait_for(&names_wait);
    ck_ok(any.status);
    ck_assert_uint_eq(any.url_count, 1);
    ck_assert(bytes_is(any.urls[0].crawl, "theirs"));
    ck_assert_int_eq(names.status, STATUS_CLOSED);
    frontier_call_fini(&any);
    frontier_call_fini(&names);
    ck_assert_int_eq(router_submit(r.router, &any), STATUS_CLOSED);
    router_fini(&r);
}
