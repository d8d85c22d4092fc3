/* SPDX-License-Identifier: MIT */
/* test_fetch_request.c - what goes over the wire in a request, and what is
 * known of its response. */

#include "base/clock.h"
#include "crawler/fetch/fetch_set.h"
#include "crawler/fetcher.h"
#include "tests/unit/crawler/tiny_server.h"
#include "tests/unit/unit.h"

#define MEBIBYTE ((uint64_t)1 << 20)
#define KEPT     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static struct route routes[] = {
    {.path = "/a", .response = KEPT},
    {.path = "/b?c", .response = KEPT},
    {.path = "/x/../y//./%7e", .response = KEPT},
    {.path = "/cookie",
     .response = "HTTP/1.1 200 OK\r\nSet-Cookie: k=jar\r\n"
                 "Content-Length: 0\r\n\r\n"},
    {.path = "/moved",
     .response = "HTTP/1.1 302 Go\r\nLocation: /a\r\n"
                 "Content-Length: 0\r\n\r\n"},
    {.path = "/html",
     .response = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                 "Content-Length: 10\r\n\r\n0123456789"},
    {.path = "http://h2.test:1/a", .response = KEPT},
};

static struct tiny_server server;
static struct fetcher_options o;
static struct fetcher_counters counters;
static struct fetch_set *set;
static struct fetch *last;
static struct fetch_result result;
static struct fetch_order order;
static char resolve[64];
static const char *resolve_list[] = {resolve};

static void begin(void)
{
    memset(&counters, 0, sizeof counters);
    tiny_start(&server, routes, sizeof routes / sizeof *routes);
    ck_ok(fetcher_global_init());
    snprintf(resolve, sizeof resolve, "*:%u:127.0.0.1", server.port);
    o = (struct fetcher_options){.user_agent = "agent/1 (+about)",
                                 .timeout_ms = 60000,
                                 .connect_timeout_ms = 60000,
                                 .bodies = body_pool_new(64 * MEBIBYTE),
                                 .resolve = resolve_list,
                                 .resolve_count = 1};
    order = (struct fetch_order){.body_most = MEBIBYTE};
    last = NULL;
    set = NULL;
}

static void end(void)
{
    if (last != NULL)
        fetch_set_recycle(set, last);
    fetch_set_free(set);
    body_pool_free(o.bodies);
    credentials_free(o.credentials);
    cookie_jar_free(o.jar);
    tiny_stop(&server);
}

/* Fetches from one of the server's names; returns the request's head. */
static const char *ask(const char *host, const char *path)
{
    static char url[256];

    if (set == NULL)
        ck_ok(fetch_set_new(&set, &o, &counters, NULL));
    if (last != NULL)
        fetch_set_recycle(set, last);
    snprintf(url, sizeof url, "http://%s:%u%s", host, server.port, path);
    order.url = url;
    ck_assert(fetch_set_start(set, &order, NULL, clock_mono(), 4711));
    while ((last = fetch_set_next_ended(set, clock_mono(), &result)) == NULL)
        fetch_set_turn(set, clock_mono() + 60 * NS_PER_S);
    return server.head;
}

static bool has(const char *head, const char *line)
{
    return strstr(head, line) != NULL;
}

FIXTURE(begin, end);

TEST(a_request_says_who_asks_and_what_is_understood)
{
    const char *head = ask("h1.test", "/b?c");
    char host[64];

    snprintf(host, sizeof host, "\r\nHost: h1.test:%u\r\n", server.port);
    ck_assert_int_eq(result.end, FETCH_ANSWERED);
    ck_assert(has(head, "GET /b?c HTTP/1.1\r\n"));
    ck_assert(has(head, "\r\nUser-Agent: agent/1 (+about)\r\n"));
    ck_assert(has(head, "\r\nAccept-Encoding: deflate, gzip, br, zstd\r\n"));
    ck_assert(has(head, host));
    ck_assert(!has(head, "Cookie") && !has(head, "Authorization"));
    ck_assert(!has(head, "Expect") && !has(head, "TE:"));
    /* A path is sent as it is; the canonical form is the caller's. */
    ck_assert(has(ask("h1.test", "/x/../y//./%7e"),
                  "GET /x/../y//./%7e HTTP/1.1\r\n"));
    ck_assert_uint_eq(result.response->status, 200);
}

/* On the same handles, one after the other. */
TEST(secrets_go_to_their_origin_and_not_to_the_next)
{
    static const char *const headers[] = {"X-Seed: 1"};
    char bound[64], seed[64];
    const char *const list[] = {bound, "*=X-All: 3"};
    struct credentials_options co = {.headers = headers,
                                     .header_count = 1,
                                     .cookie = "c=seed",
                                     .bound = list,
                                     .bound_count = 2};
    struct buf error;
    struct url u;
    const char *head;

    snprintf(bound, sizeof bound, "http://h2.test:%u=X-Two: 2", server.port);
    buf_init(&error, 1000);
    ck_ok(credentials_new(&o.credentials, &co, &error));
    buf_fini(&error);
    url_init(&u);
    snprintf(seed, sizeof seed, "http://h1.test:%u/", server.port);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str(seed), NULL, NULL), URL_OK);
    credentials_add_seed(o.credentials, &u);
    url_fini(&u);
    o.warc = true;

    for (int round = 0; round < 2; round++) {
        head = ask("h1.test", "/a");
        ck_assert(has(head, "\r\nX-Seed: 1\r\n"));
        ck_assert(has(head, "\r\nCookie: c=seed\r\n"));
        ck_assert(has(head, "\r\nX-All: 3\r\n") && !has(head, "X-Two"));
        ck_assert(bytes_starts_with(result.request, "GET /a HTTP/1.1\r\n"));
        ck_assert(bytes_ends_with(result.request, "\r\n\r\n"));
        ck_assert(memmem(result.request.at, result.request.len,
                         "X-Seed: redacted\r\n", 18) != NULL);
        ck_assert(memmem(result.request.at, result.request.len, "c=seed", 6) ==
                  NULL);
        ck_assert(memmem(result.request.at, result.request.len, "X-All: 3",
                         8) != NULL);
        head = ask("h2.test", "/a");
        ck_assert(has(head, "\r\nX-Two: 2\r\n") && has(head, "X-All: 3"));
        ck_assert(!has(head, "X-Seed") && !has(head, "Cookie"));
        head = ask("h3.test", "/a");
        ck_assert(has(head, "X-All: 3") && !has(head, "X-Two") &&
                  !has(head, "X-Seed") && !has(head, "Cookie"));
    }
}

/* The environment is ignored, and so is its list of exceptions. */
TEST(a_proxy_is_asked_for_whole_urls)
{
    char proxy[64];

    setenv("no_proxy", "*", 1);
    setenv("NO_PROXY", "*", 1);
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", server.port);
    o.proxy = proxy;
    ck_ok(fetch_set_new(&set, &o, &counters, NULL));
    order.url = "http://h2.test:1/a";
    ck_assert(fetch_set_start(set, &order, NULL, clock_mono(), 0));
    while ((last = fetch_set_next_ended(set, clock_mono(), &result)) == NULL)
        fetch_set_turn(set, clock_mono() + 60 * NS_PER_S);
    ck_assert_int_eq(result.end, FETCH_ANSWERED);
    ck_assert(has(server.head, "GET http://h2.test:1/a HTTP/1.1\r\n"));
    unsetenv("no_proxy");
    unsetenv("NO_PROXY");
}
