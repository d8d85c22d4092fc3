/* SPDX-License-Identifier: MIT */
/*
 * The hub between other programs' calls, their own frontier, and two crawls
 * that this process runs; those are paused, so that nothing is ever asked.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/links.h"
#include "frontier/frontier.h"
#include "service/hub.h"
#include "service/lend.h"
#include "tests/unit/service/service_rig.h"

#define CRAWLS 2

struct crawls_member {
    struct scratch at;
    struct frontier_options o;
    struct fetcher_options fetch;
    struct engine *engine;
    struct crawl *crawl;
};

struct hub_rig {
    struct service_rig frontier;
    struct crawls_member own[CRAWLS];
    struct crawls *crawls;
    struct hub *hub;
};

static struct crawl *crawl_of(struct crawls_member *m)
{
    return m->crawl;
}

static void member_make(struct crawls_member *m)
{
    const struct scope_options so = {.mode = SCOPE_ANY,
                                     .depth = 9,
                                     .max_url_length = 200};
    struct crawl_options co = {.threads = 1, .concurrency = 8, .stay = true};
    struct buf error;

    *m = (struct crawls_member){.at = scratch_make()};
    m->o = (struct frontier_options){.crawl = bytes_of_str("DEFAULT"),
                                     .tries = 1,
                                     .conns_per_host = 1,
                                     .in_flight = 8,
                                     .use_filter = true,
                                     .fpr = 0.01,
                                     .memory = (uint64_t)16 << 20,
                                     .commit_interval = 200 * NS_PER_MS};
    ck_assert_int_eq(frontier_create(&m->engine, m->at.dir, &m->o, clock_mono(),
                                     clock_wall_ms()),
                     STATUS_OK);
    buf_init(&error, 200);
    m->fetch = (struct fetcher_options){
        .user_agent = "test",
        .product_token = "test",
        .timeout_ms = 1000,
        .connect_timeout_ms = 1000,
        .max_body = 1 << 20,
        .robots = ROBOTS_OFF,
        .kinds = LINK_SET_FOLLOW,
        .digest_key = frontier_digest_key(m->engine),
        .crawl = m->o.crawl,
        .bodies = body_pool_new(1 << 20),
    };
    ck_assert_int_eq(scope_new(&m->fetch.scope, &so, &error), STATUS_OK);
    ck_assert_int_eq(guard_new((struct guard **)(uintptr_t)&m->fetch.guard,
                               false, NULL, 0, NULL, 0, &error),
                     STATUS_OK);
    buf_fini(&error);
    co.dir = m->at.dir;
    co.fetch = &m->fetch;
    ck_assert_int_eq(crawl_start(&m->crawl, m->engine, &co), STATUS_OK);
    crawl_pause(m->crawl, true);
}

static void member_fini(struct crawls_member *m)
{
    struct crawl_result result;

    crawl_stop(m->crawl);
    while (!crawl_wait(m->crawl, NS_PER_S, &result))
        ;
    crawl_free(m->crawl);
    m->engine->ops->close(m->engine);
    scope_free(m->fetch.scope);
    guard_free((struct guard *)(uintptr_t)m->fetch.guard);
    body_pool_free(m->fetch.bodies);
    scratch_remove(&m->at);
}

/* Crawls of our own are "own0" and "own1". */
static void hub_make(struct hub_rig *r, bool with_frontier)
{
    static const struct crawls_maker maker = {.crawl = crawl_of};

    *r = (struct hub_rig){.crawls = NULL};
    ck_assert_int_eq(fetcher_global_init(), STATUS_OK);
    if (with_frontier)
        service_make(&r->frontier);
    else
        service_init(&r->frontier);
    ck_assert_int_eq(crawls_open(&r->crawls, NULL, &maker), STATUS_OK);
    for (int i = 0; i < CRAWLS; i++) {
        char name[8];

        member_make(&r->own[i]);
        snprintf(name, sizeof name, "own%d", i);
        crawls_adopt(r->crawls, name, r->own[i].at.dir, &r->own[i]);
    }
    r->hub = hub_new(with_frontier ? r->frontier.s : NULL, r->crawls);
}

static void close_crawls(struct hub_rig *r)
{
    ck_assert_int_eq(crawls_close(r->crawls), STATUS_OK);
    for (int i = 0; i < CRAWLS; i++)
        member_fini(&r->own[i]);
    r->crawls = NULL;
}

static void hub_fini(struct hub_rig *r)
{
    if (r->crawls != NULL)
        close_crawls(r);
    hub_free(r->hub);
    ck_assert_int_eq(frontier_service_close(r->frontier.s), STATUS_OK);
    scratch_remove(&r->frontier.at);
}

/* Submits and waits. */
static void ask(struct hub_rig *r, struct frontier_call *call)
{
    struct service_wait w = {.r = &r->frontier};

    call->done = service_told;
    call->ctx = &w;
    ck_assert_int_eq(hub_submit(r->hub, call), STATUS_OK);
    service_wait_for(&w);
}

static struct frontier_item item_of(const char *crawl, const char *url,
                                    enum frontier_item_kind kind)
{
    return (struct frontier_item){.kind = kind,
                                  .crawl = text(crawl),
                                  .url = text(url)};
}

static enum frontier_ack put_one(struct hub_rig *r, const char *crawl,
                                 const char *url, enum frontier_item_kind kind)
{
    struct frontier_item item = item_of(crawl, url, kind);
    struct frontier_call call = service_new(FRONTIER_PUT);

    call.in.put = (struct frontier_put){&item, 1};
    ask(r, &call);
    frontier_call_fini(&call);
    return item.ack;
}

/* n URLs, each of a host of its own. */
static void put_hosts(struct hub_rig *r, const char *crawl, int n)
{
    struct frontier_item *items = xcalloc((size_t)n, sizeof *items);
    struct frontier_call call = service_new(FRONTIER_PUT);

    for (int i = 0; i < n; i++) {
        char *url = xmalloc(64);

        snprintf(url, 64, "http://h%d.%s.test/", i, crawl);
        items[i] = item_of(crawl, url, FRONTIER_ITEM_DISCOVERED);
    }
    call.in.put = (struct frontier_put){items, (size_t)n};
    ask(r, &call);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(items[i].ack, FRONTIER_ACK_OK);
        free((void *)(uintptr_t)items[i].url.at);
    }
    frontier_call_fini(&call);
    free(items);
}

struct got {
    size_t all, theirs, own[CRAWLS], parts;
};

static struct got get_any(struct hub_rig *r, uint32_t queues)
{
    struct frontier_call call = service_new(FRONTIER_GET);
    struct got n = {0};

    call.in.get = (struct frontier_get){.any_crawl = true,
                                        .max_urls_per_queue = 1,
                                        .max_queues = queues,
                                        .delay_requestable_s = 3600};
    do {
        ask(r, &call);
        ck_assert_int_eq(call.status, STATUS_OK);
        n.parts++;
        for (size_t i = 0; i < call.url_count; i++) {
            struct bytes crawl = call.urls[i].crawl;
            bool ours = lend_is_lease(call.urls[i].lease);

            n.all++;
            n.theirs += bytes_is(crawl, "theirs");
            n.own[0] += bytes_is(crawl, "own0");
            n.own[1] += bytes_is(crawl, "own1");
            ck_assert(ours == !bytes_is(crawl, "theirs"));
            ck_assert(!ours || lend_may_be_of(call.urls[i].lease, crawl));
        }
    } while (call.more);
    frontier_call_fini(&call);
    return n;
}

/* ---- put ---- */

START_TEST(a_batch_for_several_crawls_is_split_and_acknowledged_in_its_order)
{
    static const char *const names[] = {"theirs", "own0", "own1", "others"};
    struct hub_rig r;
    struct frontier_call call = service_new(FRONTIER_PUT);
    struct frontier_item items[400];
    char urls[400][40];
    bool seen[4][50] = {{false}};
    enum frontier_ack want[400];

    hub_make(&r, true);
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
            items[i].kind = FRONTIER_ITEM_DISCOVERED; /* no URL of a crawl */
        want[i] =
            bad || seen[crawl][url] ? FRONTIER_ACK_SKIPPED : FRONTIER_ACK_OK;
        seen[crawl][url] |= !bad;
    }
    call.in.put = (struct frontier_put){items, 400};
    ask(&r, &call);
    ck_assert_int_eq(call.status, STATUS_OK);
    for (int i = 0; i < 400; i++)
        ck_assert_msg(items[i].ack == want[i], "item %d: %d, not %d", i,
                      (int)items[i].ack, (int)want[i]);
    frontier_call_fini(&call);
    hub_fini(&r);
}
END_TEST

START_TEST(a_url_is_what_it_is_in_a_crawl_of_ours_however_it_is_spelt)
{
    struct hub_rig r;

    hub_make(&r, true);
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
    hub_fini(&r);
}
END_TEST

/* ---- get ---- */

START_TEST(queues_are_shared_equally_and_what_one_leaves_goes_to_the_others)
{
    struct hub_rig r;
    struct got n;

    hub_make(&r, true);
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
    hub_fini(&r);
}
END_TEST

START_TEST(one_queue_at_a_time_comes_from_each_crawl_in_turn)
{
    struct hub_rig r;
    struct got sum = {0};

    hub_make(&r, true);
    put_hosts(&r, "theirs", 5);
    put_hosts(&r, "own0", 5);
    put_hosts(&r, "own1", 5);
    for (int i = 0; i < 9; i++) {
        struct got n = get_any(&r, 1);

        ck_assert_uint_eq(n.all, 1);
        sum.theirs += n.theirs;
        sum.own[0] += n.own[0];
        sum.own[1] += n.own[1];
    }
    ck_assert_uint_eq(sum.theirs, 3);
    ck_assert_uint_eq(sum.own[0], 3);
    ck_assert_uint_eq(sum.own[1], 3);
    hub_fini(&r);
}
END_TEST

START_TEST(an_answer_of_many_urls_comes_in_parts_and_none_is_lost)
{
    struct hub_rig r;
    struct got n;

    hub_make(&r, true);
    put_hosts(&r, "theirs", 2300);
    put_hosts(&r, "own0", 700);
    put_hosts(&r, "own1", 30);
    n = get_any(&r, 0);
    ck_assert_uint_eq(n.all, 3030);
    ck_assert_uint_ge(n.parts, 2);
    ck_assert_uint_eq(get_any(&r, 0).all, 0);
    hub_fini(&r);
}
END_TEST

START_TEST(nothing_is_handed_out_from_anywhere_while_it_is_not_active)
{
    struct hub_rig r;
    struct frontier_call call = service_new(FRONTIER_SET_ACTIVE);

    hub_make(&r, true);
    put_hosts(&r, "theirs", 1);
    put_hosts(&r, "own0", 1);
    ask(&r, &call);
    ck_assert_uint_eq(get_any(&r, 0).all, 0);
    call.in.active = true;
    ask(&r, &call);
    ck_assert_uint_eq(get_any(&r, 0).all, 2);
    frontier_call_fini(&call);
    hub_fini(&r);
}
END_TEST

/* ---- settle ---- */

START_TEST(a_lease_is_settled_where_it_came_from)
{
    struct hub_rig r;
    struct frontier_call get = service_new(FRONTIER_GET);

    hub_make(&r, true);
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

        call.in.queue.crawl = text(names[i]);
        ask(&r, &call);
        ck_assert_uint_eq(call.counts.completed, 1);
        ck_assert_uint_eq(call.counts.size, 0);
        frontier_call_fini(&call);
    }
    frontier_call_fini(&get);
    hub_fini(&r);
}
END_TEST

/* ---- read ---- */

/* Names of an answer, joined by blanks. */
static const char *names_of(struct hub_rig *r, struct frontier_call *call)
{
    static char out[500];

    ask(r, call);
    ck_assert_int_eq(call->status, STATUS_OK);
    out[0] = '\0';
    for (size_t i = 0; i < call->name_count; i++) {
        size_t len = strlen(out);

        snprintf(out + len, sizeof out - len, "%s%.*s", i > 0 ? " " : "",
                 (int)call->names[i].len, call->names[i].at);
    }
    frontier_call_fini(call);
    return out;
}

START_TEST(crawls_of_both_kinds_are_listed_and_names_told_apart)
{
    struct hub_rig r;
    struct frontier_call call = service_new(FRONTIER_LIST_CRAWLS);

    hub_make(&r, true);
    put_hosts(&r, "theirs", 1);
    put_hosts(&r, "own1", 1);
    ck_assert_str_eq(names_of(&r, &call), "theirs own0 own1");
    ck_assert(hub_is_put(r.hub, text("theirs")));
    ck_assert(!hub_is_put(r.hub, text("own1")));
    ck_assert(!hub_is_put(r.hub, text("never")));
    hub_fini(&r);
}
END_TEST

static uint64_t count(struct hub_rig *r, const char *key, const char *filter)
{
    struct frontier_call call = service_new(FRONTIER_COUNT_URLS);
    uint64_t n;

    call.in.count = (struct frontier_count_urls){.crawl = text("own0"),
                                                 .key = text(key),
                                                 .filtered = filter != NULL};
    if (filter != NULL)
        call.in.count.filter = text(filter);
    ask(r, &call);
    ck_assert_int_eq(call.status, STATUS_OK);
    n = call.number;
    frontier_call_fini(&call);
    return n;
}

static size_t list(struct hub_rig *r, struct frontier_list_urls in,
                   size_t *parts)
{
    struct frontier_call call = service_new(FRONTIER_LIST_URLS);
    size_t n = 0;

    in.crawl = text("own0");
    call.in.list = in;
    *parts = 0;
    do {
        ask(r, &call);
        ck_assert_int_eq(call.status, STATUS_OK);
        n += call.url_count;
        ++*parts;
    } while (call.more);
    frontier_call_fini(&call);
    return n;
}

START_TEST(lists_and_counts_walk_the_rows_of_a_crawl_in_slices)
{
    struct hub_rig r;
    struct frontier_call call = service_new(FRONTIER_LIST_QUEUES);
    size_t parts;

    hub_make(&r, true);
    put_hosts(&r, "own0", 2500);
    ck_assert_uint_eq(count(&r, "", NULL), 2500);
    ck_assert_uint_eq(count(&r, "h7.own0.test", NULL), 1);
    ck_assert_uint_eq(count(&r, "never.test", NULL), 0);
    ck_assert_uint_eq(count(&r, "", "h249"), 11);
    ck_assert_uint_eq(list(&r, (struct frontier_list_urls){.size = 0}, &parts),
                      100);
    ck_assert_uint_eq(list(&r, (struct frontier_list_urls){.size = 5000},
                           &parts),
                      2500);
    ck_assert_uint_ge(parts, 3);
    ck_assert_uint_eq(
        list(&r, (struct frontier_list_urls){.start = 2490, .size = 100},
             &parts),
        10);
    ck_assert_uint_eq(list(&r,
                           (struct frontier_list_urls){.size = 100,
                                                       .filtered = true,
                                                       .ignore_case = true,
                                                       .filter = text("H249")},
                           &parts),
                      11);
    call.in.queues =
        (struct frontier_list_queues){.crawl = text("own0"), .size = 2};
    ck_assert_str_eq(names_of(&r, &call), "h0.own0.test h1.own0.test");
    hub_fini(&r);
}
END_TEST

/* ---- control ---- */

/* Of `crawl`; the number that was answered. */
static enum status tell(struct hub_rig *r, enum frontier_verb verb,
                        const char *key, uint64_t value, uint64_t *number)
{
    struct frontier_call call = service_new(verb);
    enum status st;

    if (verb == FRONTIER_PURGE_URLS)
        call.in.purge = (struct frontier_purge){.crawl = text("own0"),
                                                .key = text(key),
                                                .days = (uint32_t)value};
    else if (verb == FRONTIER_DELETE_CRAWL)
        call.in.crawl = text("own0");
    else
        call.in.queue = (struct frontier_queue_call){.crawl = text("own0"),
                                                     .key = text(key),
                                                     .value = value};
    ask(r, &call);
    st = call.status;
    *number = call.number;
    frontier_call_fini(&call);
    return st;
}

static struct frontier_counts counts(struct hub_rig *r, const char *key)
{
    struct frontier_call call = service_new(FRONTIER_STATS);
    struct frontier_counts n;

    call.in.queue =
        (struct frontier_queue_call){.crawl = text("own0"), .key = text(key)};
    ask(r, &call);
    ck_assert_int_eq(call.status, STATUS_OK);
    n = call.counts;
    frontier_call_fini(&call);
    return n;
}

/* n more URLs of one host. */
static void put_pages(struct hub_rig *r, const char *host, int n)
{
    static int page;

    for (int i = 0; i < n; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://%s/%d", host, page++);
        ck_assert_int_eq(put_one(r, "own0", url, FRONTIER_ITEM_DISCOVERED),
                         FRONTIER_ACK_OK);
    }
}

START_TEST(a_queue_of_a_crawl_of_ours_is_deleted_in_slices)
{
    struct hub_rig r;
    uint64_t n;

    hub_make(&r, true);
    put_hosts(&r, "own0", 20);
    put_pages(&r, "big.test", 2500);
    ck_assert_int_eq(tell(&r, FRONTIER_DELETE_QUEUE, "", 0, &n), STATUS_OK);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(tell(&r, FRONTIER_DELETE_QUEUE, "never.test", 0, &n),
                     STATUS_OK);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(tell(&r, FRONTIER_DELETE_QUEUE, "big.test", 0, &n),
                     STATUS_OK);
    ck_assert_uint_eq(n, 2500);
    ck_assert_uint_eq(counts(&r, "big.test").size, 0);
    ck_assert_uint_eq(counts(&r, "big.test").completed, 0);
    ck_assert_uint_eq(counts(&r, "").size, 20);
    ck_assert_uint_eq(counts(&r, "").completed, 0);
    hub_fini(&r);
}
END_TEST

START_TEST(of_a_crawl_of_ours_what_is_older_than_this_second_is_purged)
{
    struct hub_rig r;
    uint64_t n;

    hub_make(&r, true);
    put_hosts(&r, "own0", 1500);
    put_pages(&r, "a.test", 3);
    ck_assert_int_eq(tell(&r, FRONTIER_PURGE_URLS, "", 1, &n), STATUS_OK);
    ck_assert_uint_eq(n, 0);
    usleep(1100000); /* into another second */
    ck_assert_int_eq(tell(&r, FRONTIER_PURGE_URLS, "a.test", 0, &n), STATUS_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(tell(&r, FRONTIER_PURGE_URLS, "", 0, &n), STATUS_OK);
    ck_assert_uint_eq(n, 1500);
    ck_assert_uint_eq(counts(&r, "").size, 0);
    hub_fini(&r);
}
END_TEST

START_TEST(a_limit_of_one_queue_counts_what_is_done_of_it_already)
{
    struct hub_rig r;
    struct frontier_call call = service_new(FRONTIER_GET);
    uint64_t n;

    hub_make(&r, true);
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
        ck_assert_int_eq(tell(&r, FRONTIER_SET_LIMIT, "a.test", limit, &n),
                         STATUS_OK);
        call.in.get = (struct frontier_get){.crawl = text("own0"),
                                            .max_urls_per_queue = 9,
                                            .max_queues = 9};
        ask(&r, &call);
        ck_assert_uint_eq(call.url_count, limit - 3);
    }
    frontier_call_fini(&call);
    hub_fini(&r);
}
END_TEST

START_TEST(a_crawl_that_a_process_was_started_for_is_not_deleted_by_others)
{
    struct hub_rig r;
    uint64_t n;

    hub_make(&r, true);
    ck_assert_int_eq(tell(&r, FRONTIER_DELETE_CRAWL, "", 0, &n),
                     STATUS_REFUSED);
    ck_assert(crawls_has(r.crawls, text("own0")));
    hub_fini(&r);
}
END_TEST

/* ---- alone ---- */

START_TEST(without_a_frontier_of_other_programs_our_crawls_are_served_alone)
{
    struct hub_rig r;
    struct frontier_call call = service_new(FRONTIER_LIST_CRAWLS);
    struct frontier_call status = service_new(FRONTIER_URL_STATUS);

    hub_make(&r, false);
    ck_assert_str_eq(names_of(&r, &call), "own0 own1");
    put_hosts(&r, "own0", 3);
    ck_assert_uint_eq(get_any(&r, 2).own[0], 2);
    ck_assert_int_eq(put_one(&r, "theirs", "http://a.test/", 1),
                     FRONTIER_ACK_FAIL);
    status.in.url = (struct frontier_url_status){.crawl = text("theirs"),
                                                 .url = text("http://a.test")};
    ask(&r, &status);
    ck_assert_int_eq(status.status, STATUS_NOT_FOUND);
    frontier_call_fini(&status);
    hub_fini(&r);
}
END_TEST

/* ---- the end ---- */

static void submit(struct hub_rig *r, struct frontier_call *call,
                   struct service_wait *w)
{
    *w = (struct service_wait){.r = &r->frontier};
    call->done = service_told;
    call->ctx = w;
    ck_assert_int_eq(hub_submit(r->hub, call), STATUS_OK);
}

/* The frontier is closed after the crawls, and its thread passes on what it
 * still has: to nobody. */
START_TEST(calls_that_come_to_our_crawls_when_those_are_gone_end)
{
    struct hub_rig r;
    struct frontier_call any = service_new(FRONTIER_GET);
    struct frontier_call names = service_new(FRONTIER_LIST_CRAWLS);
    struct service_wait any_wait, names_wait;

    hub_make(&r, true);
    put_hosts(&r, "theirs", 1);
    put_hosts(&r, "own0", 1);
    any.in.get = (struct frontier_get){.any_crawl = true};
    atomic_store(&r.frontier.held, true);
    submit(&r, &any, &any_wait);
    submit(&r, &names, &names_wait);
    hub_end_crawls(r.hub);
    close_crawls(&r);
    atomic_store(&r.frontier.held, false);
    service_wait_for(&any_wait);
    service_wait_for(&names_wait);
    ck_assert_int_eq(any.status, STATUS_OK);
    ck_assert_uint_eq(any.url_count, 1);
    ck_assert(bytes_is(any.urls[0].crawl, "theirs"));
    ck_assert_int_eq(names.status, STATUS_CLOSED);
    frontier_call_fini(&any);
    frontier_call_fini(&names);
    ck_assert_int_eq(hub_submit(r.hub, &any), STATUS_CLOSED);
    hub_fini(&r);
}
END_TEST

Suite *suite_hub(void)
{
    Suite *s = suite_create("hub");
    TCase *t = tcase_create("hub");

    tcase_set_timeout(t, 60);
    tcase_add_test(
        t, a_batch_for_several_crawls_is_split_and_acknowledged_in_its_order);
    tcase_add_test(t,
                   a_url_is_what_it_is_in_a_crawl_of_ours_however_it_is_spelt);
    tcase_add_test(
        t, queues_are_shared_equally_and_what_one_leaves_goes_to_the_others);
    tcase_add_test(t, one_queue_at_a_time_comes_from_each_crawl_in_turn);
    tcase_add_test(t, an_answer_of_many_urls_comes_in_parts_and_none_is_lost);
    tcase_add_test(t,
                   nothing_is_handed_out_from_anywhere_while_it_is_not_active);
    tcase_add_test(t, a_lease_is_settled_where_it_came_from);
    tcase_add_test(t, crawls_of_both_kinds_are_listed_and_names_told_apart);
    tcase_add_test(t, lists_and_counts_walk_the_rows_of_a_crawl_in_slices);
    tcase_add_test(t, a_queue_of_a_crawl_of_ours_is_deleted_in_slices);
    tcase_add_test(t,
                   of_a_crawl_of_ours_what_is_older_than_this_second_is_purged);
    tcase_add_test(t, a_limit_of_one_queue_counts_what_is_done_of_it_already);
    tcase_add_test(
        t, a_crawl_that_a_process_was_started_for_is_not_deleted_by_others);
    tcase_add_test(
        t, without_a_frontier_of_other_programs_our_crawls_are_served_alone);
    tcase_add_test(t, calls_that_come_to_our_crawls_when_those_are_gone_end);
    suite_add_tcase(s, t);
    return s;
}
