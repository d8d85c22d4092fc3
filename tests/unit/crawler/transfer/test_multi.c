/* SPDX-License-Identifier: MIT */
/* test_multi.c - connections under curl: how many, whose, and when they end. */
#include "crawler/transfer/multi.h"

#include <dlfcn.h>

#include "base/clock.h"
#include "crawler/fetcher.h"
#include "tests/unit/crawler/tiny_server.h"
#include "tests/unit/unit.h"

#define KEPT "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

enum { HOSTS = 8 };

static struct tiny_server server;
static struct multi *multi;
static struct transfer transfers[HOSTS];
static struct curl_slist *names;

/* Handles that left libcurl, and those of them that knew a connection: for each
 * of these libcurl looks through all of its connections. It says so when it is
 * asked for the socket, since it finds that by the same number. */
static unsigned left, left_knowing;

CURLMcode curl_multi_remove_handle(CURLM *m, CURL *easy)
{
    static CURLMcode (*real)(CURLM *, CURL *);
    curl_socket_t fd = CURL_SOCKET_BAD;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "curl_multi_remove_handle");
    curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
    left++;
    left_knowing += fd != CURL_SOCKET_BAD;
    return real(m, easy);
}

static size_t ignore(char *at, size_t size, size_t n, void *ctx)
{
    (void)at, (void)ctx;
    return size * n;
}

/* Each transfer is to a host of its own, so that none shares a connection. */
static void set_up(struct route *routes, size_t count,
                   const struct multi_options *o)
{
    char text[128];

    tiny_start(&server, routes, count);
    ck_ok(fetcher_global_init());
    ck_ok(multi_new(&multi, o));
    memset(transfers, 0, sizeof transfers);
    snprintf(text, sizeof text, "*:%u:127.0.0.1", server.port);
    names = curl_slist_append(NULL, text);
    for (unsigned i = 0; i < HOSTS; i++) {
        struct transfer *t = &transfers[i];

        t->easy = curl_easy_init();
        t->id = 100 + i;
        multi_adopt(multi, t);
        curl_easy_setopt(t->easy, CURLOPT_RESOLVE, names);
        curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, ignore);
        curl_easy_setopt(t->easy, CURLOPT_PROXY, "");
    }
}

static void set_down(void)
{
    multi_free(multi);
    for (unsigned i = 0; i < HOSTS; i++)
        curl_easy_cleanup(transfers[i].easy);
    curl_slist_free_all(names);
    tiny_stop(&server);
}

static void begin_one(unsigned i, const char *path)
{
    char url[128];

    snprintf(url, sizeof url, "http://h%u.test:%u%s", i, server.port, path);
    curl_easy_setopt(transfers[i].easy, CURLOPT_URL, url);
    multi_start(multi, &transfers[i]);
}

/* Runs until a transfer has ended; its code. */
static CURLcode run_one(struct transfer **t)
{
    CURLcode code = CURLE_OK;

    while ((*t = multi_next_ended(multi, &code)) == NULL)
        multi_turn(multi, clock_mono() + NS_PER_S);
    return code;
}

static void fetch_one(unsigned i)
{
    struct transfer *t;

    begin_one(i, "/");
    ck_assert_int_eq(run_one(&t), CURLE_OK);
    ck_assert_ptr_eq(t, &transfers[i]);
    ck_assert(!t->busy);
}

/* Waits until the server sees so many open connections. */
static void wait_open(unsigned want)
{
    for (int64_t until = clock_mono() + 30 * NS_PER_S;;) {
        unsigned open;

        multi_turn(multi, clock_mono() + NS_PER_MS);
        pthread_mutex_lock(&server.mtx);
        open = tiny_count_open(&server);
        pthread_mutex_unlock(&server.mtx);
        if (open == want)
            return;
        ck_assert_msg(clock_mono() < until, "%u open, not %u", open, want);
    }
}

TEST(no_handle_that_leaves_has_libcurl_look_through_its_connections)
{
    struct route route = {"/", KEPT};
    struct connection_budget budget;
    const struct multi_options o = {.connections = &budget};

    connection_budget_init(&budget, 100 * CONNECTION_COST_PLAIN, 0, 1 << 20, 1);
    set_up(&route, 1, &o);
    left = left_knowing = 0;
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < HOSTS; i++)
            fetch_one(i);
    ck_assert_uint_eq(left, 2 * HOSTS);
    ck_assert_uint_eq(left_knowing, 0);
    ck_assert_uint_eq(server.connections, HOSTS); /* which are kept */
    set_down();
}

/* When memory becomes scarce, idle connections are closed, and no others. */
TEST(idle_connections_are_closed_when_the_budget_shrinks)
{
    struct route routes[] = {{"/", KEPT}, {"/held", KEPT, .held = true}};
    struct connection_budget budget;
    const struct multi_options o = {.connections = &budget};
    struct transfer *t;

    connection_budget_init(&budget, 100 * CONNECTION_COST_PLAIN, 0, 1 << 20, 1);
    set_up(routes, 2, &o);
    for (unsigned i = 0; i < 7; i++)
        fetch_one(i);
    begin_one(7, "/held");
    while (routes[1].asked == 0)
        multi_turn(multi, clock_mono() + NS_PER_MS);
    wait_open(8);
    connection_budget_update(&budget, 95 * CONNECTION_COST_PLAIN);
    wait_open(5);
    tiny_let_go(&server, &routes[1]); /* the one in use was left alone */
    ck_assert_int_eq(run_one(&t), CURLE_OK);
    ck_assert_ptr_eq(t, &transfers[7]);
    ck_assert_uint_eq(server.connections, 8);
    fetch_one(7);
    ck_assert_uint_eq(server.connections, 8);
    set_down();
}

/* Room for four of eight connections. */
static void set_up_for_four(struct route *route,
                            struct connection_budget *budget)
{
    const struct multi_options o = {.connections = budget};

    connection_budget_init(budget, 1 << 30, 0, 8, 1);
    set_up(route, 1, &o);
}

/* In turn, each host is the one whose connection was used longest ago. */
TEST(of_hosts_asked_in_turn_as_many_as_have_room_keep_their_connections)
{
    struct route routes[] = {{"/", KEPT}};
    struct connection_budget budget;

    set_up_for_four(routes, &budget);
    for (unsigned round = 0; round < 5; round++)
        for (unsigned i = 0; i < HOSTS; i++)
            fetch_one(i);
    ck_assert_uint_eq(server.connections, HOSTS + 4 * (HOSTS - 4));
    ck_assert_uint_le(server.open_most, 5);
    set_down();
}

/* The first four have room; then the one that is needed last makes way. */
TEST(the_connection_that_is_needed_last_is_closed_first)
{
    struct route routes[] = {{"/", KEPT}};
    struct connection_budget budget;

    set_up_for_four(routes, &budget);
    transfers[0].pause = 60 * NS_PER_S;
    transfers[1].pause = INT64_MAX;
    for (unsigned i = 0; i < 6; i++)
        fetch_one(i); /* 4 in place of 1, 5 in place of 0 */
    ck_assert_uint_eq(server.connections, 6);
    for (unsigned i = 2; i < 6; i++)
        fetch_one(i);
    ck_assert_uint_eq(server.connections, 6);
    fetch_one(0); /* and does not stay this time */
    fetch_one(2);
    fetch_one(0);
    ck_assert_uint_eq(server.connections, 8);
    set_down();
}

/* One connection per address: it is in use, then idle, then needed. */
TEST(an_idle_connection_makes_way_for_another_host)
{
    struct route routes[] = {{"/", KEPT}, {"/held", KEPT, .held = true}};
    struct multi_options o = {.ip_limit = ip_limit_new(1)};
    struct transfer *t;

    set_up(routes, 2, &o);
    begin_one(0, "/held");
    while (server.requests == 0)
        multi_turn(multi, clock_mono() + NS_PER_MS);
    begin_one(1, "/");
    ck_assert_int_eq(run_one(&t), CURLE_COULDNT_CONNECT);
    ck_assert_ptr_eq(t, &transfers[1]);
    ck_assert(t->crowded && t->permitted && !t->refused);
    tiny_let_go(&server, &routes[1]);
    ck_assert_int_eq(run_one(&t), CURLE_OK);
    ck_assert_ptr_eq(t, &transfers[0]);
    for (unsigned i = 1; i < 4; i++)
        fetch_one(i); /* each closes the one before */
    ck_assert_uint_eq(server.connections, 4);
    ck_assert_uint_le(server.open_most, 1);
    set_down();
    ip_limit_free(o.ip_limit);
}
