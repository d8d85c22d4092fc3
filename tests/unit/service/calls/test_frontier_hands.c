/* SPDX-License-Identifier: MIT */
/* test_frontier_hands.c - a service whose URLs are in a Redis server. */
#include <inttypes.h>

#include "base/clock.h"
#include "frontier/shared/shared.h"
#include "tests/unit/filter/redis/redis_rig.h"
#include "tests/unit/service/service_rig.h"
#include "tests/unit/unit.h"

static struct shared *connect(int64_t call_ns)
{
    struct redis_address a = redis_server_place(&server, "").at;
    const struct shared_options o = {.servers = &a,
                                     .server_count = 1,
                                     .name = "front",
                                     .shards = 4,
                                     .call_ns = call_ns,
                                     .patience_ns = NS_PER_S / 2};
    struct shared *s = NULL;
    struct buf error;

    buf_init(&error, 4096);
    ck_ok(shared_open(&s, &o, &error));
    buf_fini(&error);
    return s;
}

static void service_begin(struct service_rig *r, int64_t call_ns)
{
    service_init(r);
    atomic_store(&r->now, clock_wall_ms());
    r->o.shared = connect(call_ns);
    service_open(r);
}

static void service_end_of(struct service_rig *r)
{
    service_fini(r);
    shared_close(r->o.shared);
}

static struct url_counts counts_of(struct service_rig *r, const char *crawl)
{
    struct frontier_call call = service_new(FRONTIER_STATS);

    call.in.crawl = text(crawl);
    service_call(r, &call);
    ck_ok(call.status);
    frontier_call_fini(&call);
    return call.counts;
}

TIMEOUT(120);
FIXTURE(rig_begin, rig_end);

TEST(two_services_are_one_frontier)
{
    struct service_rig a, b;

    NEEDS_SERVER;
    service_begin(&a, 0);
    service_begin(&b, 0);
    ck_assert_int_eq(discover(&a, "c", "k", "u1"), FRONTIER_ACK_OK);
    ck_assert_int_eq(discover(&b, "c", "k", "u1"), FRONTIER_ACK_SKIPPED);
    ck_assert_int_eq(discover(&b, "", "", "http://"), FRONTIER_ACK_SKIPPED);
    ck_assert_int_eq(discover(&b, " ", "k", "u2"), FRONTIER_ACK_OK);
    ck_assert_str_eq(get_urls(&b, "c", "", 0, 0, 600), "u1");
    ck_assert_str_eq(get_urls(&a, NULL, "", 0, 0, 600), "u2");
    ck_assert_int_eq(know(&a, "c", "k", "u1", 0), FRONTIER_ACK_OK);
    ck_assert_uint_eq(counts_of(&b, "c").completed, 1);
    ck_assert_uint_eq(counts_of(&b, "DEFAULT").leased, 1);
    service_end_of(&a);
    ck_assert_uint_eq(counts_of(&b, "c").queues, 1);
    service_end_of(&b);
}

TEST(a_get_whose_deadline_has_passed_leases_nothing)
{
    struct frontier_call get = service_new(FRONTIER_GET);
    struct service_rig r;

    NEEDS_SERVER;
    service_begin(&r, 0);
    ck_assert_int_eq(discover(&r, "c", "k", "u"), FRONTIER_ACK_OK);
    get.in.get.any_crawl = true;
    get.deadline = clock_mono();
    service_call(&r, &get);
    ck_assert_int_eq(get.status, STATUS_CLOSED);
    ck_assert_uint_eq(get.url_count, 0);
    frontier_call_fini(&get);
    ck_assert_uint_eq(counts_of(&r, "c").leased, 0);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 600), "u");
    service_end_of(&r);
}

/* What a restarted server has lost is not the point: it does not answer. */
TEST(calls_fail_while_the_server_is_away_and_work_again_after)
{
    struct frontier_call stats = service_new(FRONTIER_STATS),
                         get = service_new(FRONTIER_GET);
    struct service_rig r;

    NEEDS_SERVER;
    service_begin(&r, NS_PER_S);
    ck_assert_int_eq(discover(&r, "c", "k", "u"), FRONTIER_ACK_OK);
    redis_server_kill(&server);
    ck_assert_int_eq(discover(&r, "c", "k", "v"), FRONTIER_ACK_FAIL);
    service_call(&r, &stats);
    ck_assert_int_eq(stats.status, STATUS_CLOSED);
    ck_assert_ptr_nonnull(stats.why);
    get.in.get.any_crawl = true;
    service_call(&r, &get);
    ck_assert_int_eq(get.status, STATUS_CLOSED);
    frontier_call_fini(&stats);
    frontier_call_fini(&get);
    redis_server_run(&server);
    while (discover(&r, "c", "k", "w") == FRONTIER_ACK_FAIL)
        usleep(10000);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 600), "w");
    service_end_of(&r);
}

struct wave {
    _Atomic unsigned left;
    unsigned ok;
};

static void wave_told(struct frontier_call *call)
{
    atomic_fetch_sub(&((struct wave *)call->ctx)->left, 1);
}

/* Puts of one URL that are under way together end as the last of them says. */
TEST(puts_keep_their_order)
{
    enum { CALLS = 200 };
    struct frontier_call *calls = calloc(CALLS, sizeof *calls);
    struct frontier_item *items = calloc(CALLS, sizeof *items);
    struct wave wave = {.left = CALLS};
    struct frontier_call find = service_new(FRONTIER_URL_STATUS);
    struct service_rig r;

    NEEDS_SERVER;
    service_begin(&r, 0);
    for (unsigned i = 0; i < CALLS; i++) {
        items[i] = (struct frontier_item){.kind = FRONTIER_ITEM_KNOWN,
                                          .crawl = text("c"),
                                          .key = text("k"),
                                          .url = text("u"),
                                          .refetch_s = 4000000000 + i};
        frontier_call_init(&calls[i], FRONTIER_PUT, wave_told, &wave);
        calls[i].in.put = (struct frontier_put){&items[i], 1};
        ck_ok(frontier_service_submit(r.s, &calls[i]));
    }
    while (atomic_load(&wave.left) > 0)
        usleep(1000);
    find.in.crawl = text("c");
    find.in.key = text("k");
    find.in.url = text("u");
    service_call(&r, &find);
    ck_ok(find.status);
    ck_assert_uint_eq(find.urls[0].refetch_s, 4000000000 + CALLS - 1);
    frontier_call_fini(&find);
    service_end_of(&r);
    free(calls);
    free(items);
}

/* Such names cannot have been put. */
TEST(names_that_are_too_long_are_unknown)
{
    static const enum frontier_verb verbs[] = {
        FRONTIER_GET,         FRONTIER_LIST_URLS,    FRONTIER_COUNT_URLS,
        FRONTIER_PURGE_URLS,  FRONTIER_LIST_QUEUES,  FRONTIER_DELETE_QUEUE,
        FRONTIER_BLOCK_QUEUE, FRONTIER_DELETE_CRAWL, FRONTIER_STATS,
        FRONTIER_URL_STATUS,  FRONTIER_SET_LIMIT,    FRONTIER_SET_DELAY};
    const size_t most = (size_t)20 << 20;
    char *name = malloc(most);
    struct service_rig r;

    NEEDS_SERVER;
    memset(name, 'x', most);
    service_begin(&r, 0);
    ck_assert_int_eq(discover(&r, "c", "k", "u"), FRONTIER_ACK_OK);
    for (size_t i = 0; i < 2 * sizeof verbs / sizeof *verbs; i++) {
        struct frontier_call call = service_new(verbs[i / 2]);
        bool unknown =
            call.verb == FRONTIER_URL_STATUS || call.verb == FRONTIER_SET_LIMIT;

        call.in.crawl = i % 2 == 0 ? bytes_of(name, most) : text("c");
        call.in.key = i % 2 == 0 ? text("k") : bytes_of(name, most);
        if (call.verb == FRONTIER_DELETE_CRAWL ||
            call.verb == FRONTIER_LIST_QUEUES)
            call.in.crawl = bytes_of(name, most);
        service_call(&r, &call);
        ck_assert_int_eq(call.status, unknown ? STATUS_NOT_FOUND : STATUS_OK);
        ck_assert_uint_eq(call.url_count + call.name_count + call.number, 0);
        frontier_call_fini(&call);
    }
    ck_assert_uint_eq(counts_of(&r, "c").active, 1);
    service_end_of(&r);
    free(name);
}

TEST(what_waits_is_bounded)
{
    struct frontier_call *calls = calloc(100, sizeof *calls);
    struct frontier_item *items = calloc(100, sizeof *items);
    struct wave wave = {.left = 0};
    enum status st = STATUS_OK;
    struct service_rig r;
    unsigned n = 0;

    NEEDS_SERVER;
    service_init(&r);
    r.o.shared = connect(5 * NS_PER_S);
    r.o.most_waiting = 4;
    service_open(&r);
    kill(server.pid, SIGSTOP);
    for (; n < 100 && st == STATUS_OK; n += st == STATUS_OK) {
        frontier_call_init(&calls[n], FRONTIER_PUT, wave_told, &wave);
        items[n] = (struct frontier_item){.kind = FRONTIER_ITEM_DISCOVERED,
                                          .url = text("http://h/")};
        calls[n].in.put = (struct frontier_put){&items[n], 1};
        atomic_fetch_add(&wave.left, 1);
        st = frontier_service_submit(r.s, &calls[n]);
        if (st != STATUS_OK)
            atomic_fetch_sub(&wave.left, 1);
        usleep(1000);
    }
    ck_assert_int_eq(st, STATUS_AGAIN);
    kill(server.pid, SIGCONT);
    while (atomic_load(&wave.left) > 0 || service_rooms(&r) == 0)
        usleep(1000);
    service_end_of(&r);
    free(calls);
    free(items);
}

/* Each of the calls would be tried for an hour. */
TEST(a_service_stops_although_no_server_answers)
{
    struct frontier_call calls[40];
    struct frontier_item items[20];
    struct wave wave = {.left = 40};
    struct service_rig r;

    NEEDS_SERVER;
    service_begin(&r, 3600 * NS_PER_S);
    kill(server.pid, SIGSTOP);
    for (unsigned i = 0; i < 40; i++) {
        frontier_call_init(&calls[i],
                           i < 20 ? FRONTIER_PUT : FRONTIER_LIST_CRAWLS,
                           wave_told, &wave);
        if (i < 20) {
            items[i] = (struct frontier_item){.kind = FRONTIER_ITEM_DISCOVERED,
                                              .url = text("http://h/")};
            calls[i].in.put = (struct frontier_put){&items[i], 1};
        }
        ck_ok(frontier_service_submit(r.s, &calls[i]));
    }
    service_end_of(&r);
    ck_assert_uint_eq(atomic_load(&wave.left), 0);
    for (unsigned i = 0; i < 40; i++) {
        ck_assert(i < 20 ? items[i].ack == FRONTIER_ACK_FAIL
                         : calls[i].status == STATUS_CLOSED);
        frontier_call_fini(&calls[i]);
    }
    kill(server.pid, SIGCONT);
}
