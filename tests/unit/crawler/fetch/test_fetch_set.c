/* SPDX-License-Identifier: MIT */
/* test_fetch_set.c - the transfers of one fetcher, on real connections. */
#include "crawler/fetch/fetch_set.h"

#include "base/clock.h"
#include "crawler/fetcher.h"
#include "tests/unit/crawler/tiny_server.h"
#include "tests/unit/unit.h"

#define MEBIBYTE ((uint64_t)1 << 20)
#define OK(text) "HTTP/1.1 200 OK\r\nContent-Length: " text
#define KEPT     OK("2\r\n\r\nok")

struct set_rig {
    struct tiny_server server;
    struct fetcher_options o;
    struct fetcher_counters counters;
    struct fetch_set *set;
    char urls[8][64];
    unsigned turn;
};

static struct set_rig r;

static void set_up(struct route *routes, size_t count)
{
    memset(&r, 0, sizeof r);
    tiny_start(&r.server, routes, count);
    ck_ok(fetcher_global_init());
    r.o.user_agent = "test";
    r.o.bodies = body_pool_new(64 * MEBIBYTE);
    r.o.timeout_ms = r.o.connect_timeout_ms = 60000;
}

static void set_start(void)
{
    ck_ok(fetch_set_new(&r.set, &r.o, &r.counters, NULL));
}

static void set_down(void)
{
    ck_assert_uint_eq(atomic_load(&r.counters.active), 0);
    fetch_set_free(r.set);
    ck_assert_uint_eq(body_pool_used(r.o.bodies), 0);
    body_pool_free(r.o.bodies);
    rate_limit_free(r.o.rate);
    tiny_stop(&r.server);
}

static void start(const char *path, void *ctx)
{
    char *url = r.urls[r.turn++ % 8];
    struct fetch_order order = {.url = url, .body_most = 100 * MEBIBYTE};

    snprintf(url, sizeof r.urls[0], "http://127.0.0.1:%u%s", r.server.port,
             path);
    ck_assert(fetch_set_start(r.set, &order, ctx, clock_mono(), 0));
}

/* The next one that ends; the caller recycles it. */
static struct fetch *next(struct fetch_result *result)
{
    for (;;) {
        struct fetch *f = fetch_set_next_ended(r.set, clock_mono(), result);

        if (f != NULL)
            return f;
        fetch_set_turn(r.set, clock_mono() + 60 * NS_PER_S);
    }
}

static uint64_t active(void)
{
    return atomic_load(&r.counters.active);
}

TEST(transfers_end_each_with_its_own_result)
{
    struct route routes[] = {
        {"/a", OK("1\r\n\r\na")},
        {"/b", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"},
        {"/c", OK("3\r\n\r\nccc")},
    };
    int ctx[3];
    unsigned seen = 0;

    set_up(routes, 3);
    set_start();
    for (int round = 0; round < 3; round++) {
        start("/a", &ctx[0]);
        start("/b", &ctx[1]);
        start("/c", &ctx[2]);
        ck_assert_uint_eq(active(), 3);
        seen = 0;
        for (uint64_t left = 3; left > 0; left--) {
            struct fetch_result result;
            struct fetch *f = next(&result);
            unsigned i = (unsigned)((int *)f->ctx - ctx);

            ck_assert_uint_eq(active(), left - 1);
            ck_assert_int_eq(result.end, FETCH_ANSWERED);
            ck_assert_uint_eq(result.response->status, i == 1 ? 404 : 200);
            ck_assert_uint_eq(result.body.len, i == 0 ? 1 : i == 1 ? 0 : 3);
            ck_assert_uint_gt(result.wire_bytes, 30);
            ck_assert_str_eq(result.ip, "127.0.0.1");
            ck_assert_int_ge(result.ended, result.started);
            seen |= 1u << i;
            fetch_set_recycle(r.set, f);
        }
        ck_assert_uint_eq(seen, 7);
    }
    ck_assert_uint_eq(atomic_load(&r.counters.requests), 9);
    ck_assert_uint_ge(atomic_load(&r.counters.connections.opened), 3);
    ck_assert_uint_eq(atomic_load(&r.counters.connections.opened),
                      r.server.connections);
    set_down();
    fetch_set_free(NULL);
}

/* The one that stalls is late; the one that is answered is not. */
TEST(each_transfer_has_its_own_deadline)
{
    struct route routes[] = {{"/slow", OK("9\r\n\r\nx"), .after = STALL},
                             {"/ok", KEPT}};
    int64_t before;
    struct fetch_result result;
    struct fetch *f;
    int slow, ok;

    set_up(routes, 2);
    r.o.timeout_ms = 300;
    set_start();
    before = clock_mono();
    start("/slow", &slow);
    f = next(&result);
    ck_assert_ptr_eq(f->ctx, &slow);
    ck_assert(result.end == FETCH_CUT_TIME || result.end == FETCH_TIMEOUT);
    ck_assert_int_ge(clock_mono() - before, 300 * NS_PER_MS);
    ck_assert_int_lt(clock_mono() - before, 30 * NS_PER_S);
    ck_assert(result.transient == (result.end == FETCH_TIMEOUT));
    fetch_set_recycle(r.set, f);
    for (int i = 0; i < 100; i++) { /* a busy machine may be late itself */
        start("/ok", &ok);
        f = next(&result);
        fetch_set_recycle(r.set, f);
        if (result.end == FETCH_ANSWERED)
            break;
    }
    ck_assert_int_eq(result.end, FETCH_ANSWERED);
    set_down();
}

/* The whole process was stopped, say; what begins later is due in its own
 * time. */
TEST(an_absence_gives_no_time_to_what_begins_after_it)
{
    struct route slow = {"/slow", OK("9\r\n\r\nx"), .after = STALL};
    int64_t took = INT64_MAX;
    int ctx;

    set_up(&slow, 1);
    r.o.timeout_ms = 200;
    set_start();
    fetch_set_turn(r.set, clock_mono());
    usleep(1500000); /* of libcurl's own clock */
    fetch_set_turn(r.set, clock_mono());
    for (int i = 0; i < 20 && took > 1500 * NS_PER_MS; i++) {
        int64_t before = clock_mono();
        struct fetch_result result;

        start("/slow", &ctx);
        fetch_set_recycle(r.set, next(&result));
        took = clock_mono() - before;
        ck_assert_int_ge(took, 200 * NS_PER_MS);
    }
    ck_assert_int_lt(took, 1500 * NS_PER_MS);
    set_down();
}

TEST(what_the_guard_refuses_ends_at_once_without_a_request)
{
    const struct guard_options none = {.allow_private = false};
    struct guard *guard = NULL;
    struct fetch_result result;
    struct route route = {"/", KEPT};
    struct fetch *f;
    struct buf error;
    int ctx;

    set_up(&route, 1);
    buf_init(&error, 100);
    ck_ok(guard_new(&guard, &none, &error));
    r.o.guard = guard;
    set_start();
    for (int i = 0; i < 2; i++) {
        start("/", &ctx);
        ck_assert_uint_eq(active(), 1);
        f = fetch_set_next_ended(r.set, clock_mono(), &result);
        ck_assert_ptr_nonnull(f);
        ck_assert_int_eq(result.end, FETCH_ADDRESS);
        ck_assert_uint_eq(result.response->status, 0);
        ck_assert_int_eq(result.connect_ns, -1);
        ck_assert_uint_gt(strlen(result.error), 0);
        fetch_set_recycle(r.set, f);
    }
    ck_assert_uint_eq(atomic_load(&r.counters.requests), 0);
    ck_assert_uint_eq(r.server.connections, 0);
    set_down();
    guard_free(guard);
    buf_fini(&error);
}

static void *wake_it(void *set)
{
    fetch_set_wake(set);
    return NULL;
}

TEST(a_turn_ends_when_it_is_woken_or_its_time_has_come)
{
    int64_t before;
    pthread_t t;

    set_up(NULL, 0);
    set_start();
    before = clock_mono();
    fetch_set_turn(r.set, before + 30 * NS_PER_MS);
    ck_assert_int_ge(clock_mono(), before + 30 * NS_PER_MS);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_create(&t, NULL, wake_it, r.set), 0);
        fetch_set_turn(r.set, clock_mono() + 3600 * NS_PER_S);
        pthread_join(t, NULL);
    }
    before = clock_mono(); /* that wake-up is over */
    fetch_set_turn(r.set, before + 30 * NS_PER_MS);
    ck_assert_int_ge(clock_mono(), before + 30 * NS_PER_MS);
    set_down();
}

/* As the streams of an HTTP/2 connection do; here one after the other. */
TEST(transfers_of_one_connection_are_told_from_others)
{
    struct route routes[] = {{"/a", KEPT}, {"/held", KEPT, .held = true}};
    struct fetch_result result;
    struct fetch *a, *b, *c, *unused;
    struct multi *m;
    int ctx;

    set_up(routes, 2);
    set_start();
    start("/a", &ctx);
    a = next(&result);
    ck_assert_int_ge(result.connect_ns, 0);
    start("/held", &ctx); /* on the kept connection */
    while (r.server.requests < 2)
        fetch_set_turn(r.set, clock_mono() + NS_PER_MS);
    start("/a", &ctx); /* on another one */
    c = next(&result);
    ck_assert_int_ge(result.connect_ns, 0);
    tiny_let_go(&r.server, &routes[1]);
    b = next(&result);
    ck_assert_int_eq(result.connect_ns, -1);
    ck_assert_uint_eq(r.server.connections, 2);
    ck_assert(fetch_share_connection(a, b));
    ck_assert(fetch_share_connection(b, a));
    ck_assert(!fetch_share_connection(a, c));
    ck_assert(!fetch_share_connection(c, b));
    ck_assert(!fetch_is_stream(a));
    ck_assert(!result.http2);
    ck_ok(multi_new(&m, &(struct multi_options){.guard = NULL}));
    unused = fetch_new(&r.o, &r.counters, m);
    ck_assert(!fetch_share_connection(unused, unused));
    ck_assert(!fetch_share_connection(a, unused));
    ck_assert(!fetch_is_stream(unused));
    fetch_free(unused);
    multi_free(m);
    fetch_set_recycle(r.set, a);
    fetch_set_recycle(r.set, b);
    fetch_set_recycle(r.set, c);
    set_down();
    fetch_free(NULL);
}
