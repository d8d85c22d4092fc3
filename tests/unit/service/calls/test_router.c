/* SPDX-License-Identifier: MIT */
/* Calls between a frontier of other programs and our own crawls: putting,
 * leasing and settling URLs, what others may see and change. */
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

/* ---- control ----
 *
 * What other programs may see of our own crawls, and change in them.
 */

/* ---- read ---- */

TEST(crawls_of_both_kinds_are_listed_and_names_told_apart)
{
    struct router_rig r;
    struct frontier_call call = service_new(FRONTIER_LIST_CRAWLS);

    router_make(&r, true);
    put_hosts(&r, "theirs", 1);
    put_hosts(&r, "own1", 1);
    ck_assert_str_eq(names_of(&r, &call), "theirs own0 own1");
    ck_assert(router_is_served(r.router, text("theirs")));
    ck_assert(!router_is_served(r.router, text("own1")));
    ck_assert(!router_is_served(r.router, text("never")));
    router_fini(&r);
}

static uint64_t count(struct router_rig *r, const char *key, const char *filter)
{
    struct frontier_call call = service_new(FRONTIER_COUNT_URLS);
    uint64_t n;

    call.in.crawl = text("own0");
    call.in.key = text(key);
    call.in.list.filtered = filter != NULL;
    if (filter != NULL)
        call.in.list.filter = text(filter);
    ask(r, &call);
    ck_ok(call.status);
    n = call.number;
    frontier_call_fini(&call);
    return n;
}

static size_t list(struct router_rig *r, struct frontier_list in, size_t *parts)
{
    struct frontier_call call = service_new(FRONTIER_LIST_URLS);
    size_t n = 0;

    call.in.crawl = text("own0");
    call.in.list = in;
    *parts = 0;
    do {
        ask(r, &call);
        ck_ok(call.status);
        n += call.url_count;
        ++*parts;
    } while (call.more);
    frontier_call_fini(&call);
    return n;
}

TEST(lists_and_counts_walk_the_rows_of_a_crawl_in_slices)
{
    struct router_rig r;
    struct frontier_call call = service_new(FRONTIER_LIST_QUEUES);
    size_t parts;

    router_make(&r, true);
    put_hosts(&r, "own0", 2500);
    ck_assert_uint_eq(count(&r, "", NULL), 2500);
    ck_assert_uint_eq(count(&r, "h7.own0.test", NULL), 1);
    ck_assert_uint_eq(count(&r, "never.test", NULL), 0);
    ck_assert_uint_eq(count(&r, "", "h249"), 11);
    ck_assert_uint_eq(list(&r, (struct frontier_list){.size = 0}, &parts), 100);
    ck_assert_uint_eq(list(&r, (struct frontier_list){.size = 5000}, &parts),
                      2500);
    ck_assert_uint_ge(parts, 3);
    ck_assert_uint_eq(list(&r,
                           (struct frontier_list){.start = 2490, .size = 100},
                           &parts),
                      10);
    ck_assert_uint_eq(list(&r,
                           (struct frontier_list){.size = 100,
                                                  .filtered = true,
                                                  .ignore_case = true,
                                                  .filter = text("H249")},
                           &parts),
                      11);
    call.in.crawl = text("own0");
    call.in.queues = (struct frontier_list_queues){.size = 2};
    ck_assert_str_eq(names_of(&r, &call), "h0.own0.test h1.own0.test");
    router_fini(&r);
}

/* ---- control ---- */

/* Performs `verb` on the crawl own0; *number gets the number answered. */
static enum status tell(struct router_rig *r, enum frontier_verb verb,
                        const char *key, uint64_t value, uint64_t *number)
{
    struct frontier_call call = service_new(verb);
    enum status st;

    call.in.crawl = text("own0");
    call.in.key = text(key);
    if (verb == FRONTIER_PURGE_URLS)
        call.in.days = (uint32_t)value;
    else
        call.in.setting.value = value;
    ask(r, &call);
    st = call.status;
    *number = call.number;
    frontier_call_fini(&call);
    return st;
}

static struct url_counts counts(struct router_rig *r, const char *key)
{
    struct frontier_call call = service_new(FRONTIER_STATS);
    struct url_counts n;

    call.in.crawl = text("own0");
    call.in.key = text(key);
    ask(r, &call);
    ck_ok(call.status);
    n = call.counts;
    frontier_call_fini(&call);
    return n;
}

/* Puts n more URLs of one host. */
static void put_pages(struct router_rig *r, const char *host, int n)
{
    static int page;

    for (int i = 0; i < n; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://%s/%d", host, page++);
        ck_assert_int_eq(put_one(r, "own0", url, FRONTIER_ITEM_DISCOVERED),
                         FRONTIER_ACK_OK);
    }
}

/* Promise (The service): when a queue of a crawl is deleted, or purged by age,
 * waiting URLs are skipped for good, leased ones are finished and not tried
 * again, and no others are affected; this holds from the first commit on, also
 * after a kill at each of them. See also `removal`, `tests/cli/external.sh`. */
TEST(a_queue_of_a_crawl_of_ours_is_deleted_in_slices)
{
    struct router_rig r;
    uint64_t n;

    router_make(&r, true);
    put_hosts(&r, "own0", 20);
    put_pages(&r, "big.test", 2500);
    ck_ok(tell(&r, FRONTIER_DELETE_QUEUE, "", 0, &n));
    ck_assert_uint_eq(n, 0);
    ck_ok(tell(&r, FRONTIER_DELETE_QUEUE, "never.test", 0, &n));
    ck_assert_uint_eq(n, 0);
    ck_ok(tell(&r, FRONTIER_DELETE_QUEUE, "big.test", 0, &n));
    ck_assert_uint_eq(n, 2500);
    ck_assert_uint_eq(counts(&r, "big.test").active, 0);
    ck_assert_uint_eq(counts(&r, "big.test").completed, 0);
    ck_assert_uint_eq(counts(&r, "").active, 20);
    ck_assert_uint_eq(counts(&r, "").completed, 0);
    router_fini(&r);
}

/* Promise (The service): a limit of one queue: never more of its URLs are done,
 * whoever fetches, also after kills; the rest goes on when it is lifted, and no
 * run waits for that. See also `frontier_limit`, `tests/cli/external.sh`. */
TEST(a_limit_of_one_queue_counts_what_is_done_of_it_already)
{
    struct router_rig r;
    struct frontier_call call = service_new(FRONTIER_GET);
    uint64_t n;

    router_make(&r, true);
    put_pages(&r, "a.test", 600);
    for (int i = 0; i < 3; i++)
        put_one(&r, "own0",
                i == 0   ? "http://a.test/x"
                : i == 1 ? "http://a.test/y"
                         : "http://a.test/z",
                FRONTIER_ITEM_KNOWN);
    ck_assert_int_eq(tell(&r, FRONTIER_SET_LIMIT, "never.test", 4, &n),
                     STATUS_NOT_FOUND);
    for (uint64_t limit = 3; limit <= 4; limit++) {
        ck_ok(tell(&r, FRONTIER_SET_LIMIT, "a.test", limit, &n));
        call.in.crawl = text("own0");
        call.in.get =
            (struct frontier_get){.max_urls_per_queue = 9, .max_queues = 9};
        ask(&r, &call);
        ck_assert_uint_eq(call.url_count, limit - 3);
    }
    frontier_call_fini(&call);
    router_fini(&r);
}

TEST(a_crawl_that_a_process_was_started_for_is_not_deleted_by_others)
{
    struct router_rig r;
    uint64_t n;

    router_make(&r, true);
    ck_assert_int_eq(tell(&r, FRONTIER_DELETE_CRAWL, "", 0, &n),
                     STATUS_REFUSED);
    ck_assert(crawls_has(r.crawls, text("own0")));
    router_fini(&r);
}
