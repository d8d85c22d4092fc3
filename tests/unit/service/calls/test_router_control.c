/* SPDX-License-Identifier: MIT */
/* What other programs may see of our own crawls, and change in them. */
#include "tests/unit/service/calls/router_rig.h"

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

/* Promise (The service): a queue of a crawl that is deleted, or purged by
 * age: what waits is skipped for good, what is out is finished and not tried
 * again, nothing else goes; from the first commit on, over kills at each of
 * them too. See also `removal`, `tests/cli/external.sh`. */
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

/* Promise (The service): a limit of one queue: no more of it are ever done
 * than that, whoever fetches, over kills; the rest goes on when it is
 * lifted, and no run waits for that. See also `frontier_limit`,
 * `tests/cli/external.sh`. */
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
