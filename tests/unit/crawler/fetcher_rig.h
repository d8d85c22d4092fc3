/* SPDX-License-Identifier: MIT */
/* fetcher_rig.h - a fetcher, everything it needs, and a tiny server. */
#ifndef URLWEIR_TESTS_CRAWLER_FETCHER_RIG_H
#define URLWEIR_TESTS_CRAWLER_FETCHER_RIG_H

#include <stdio.h>

#include "base/clock.h"
#include "crawler/fetcher.h"
#include "crawler/html/links.h"
#include "frontier/url/host.h"
#include "tests/unit/crawler/tiny_server.h"
#include "tests/unit/unit.h"

#define RIG_CAPACITY  64

#define OK_HTML       "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
#define MOVED         "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n"
#define EMPTY         "Content-Length: 0\r\n\r\n"
#define COUNT(routes) (sizeof(routes) / sizeof *(routes))

struct rig {
    struct tiny_server server;
    struct fetcher_options o;
    struct scope_options so;
    bool allow_private;
    struct digest_key key;
    struct queue *reports;
    struct fetcher *fetcher;
    uint64_t next_id;
    char resolve[64];
    const char *resolve_list;
};

/* The caller may change options between rig_init and rig_start. The time limits
 * here only catch a hang; a test that needs one to expire sets its own. */
static void rig_init(struct rig *r, struct route *routes, size_t count)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = {1};

    memset(r, 0, sizeof *r);
    tiny_start(&r->server, routes, count);
    digest_key_init(&r->key, seed);
    r->allow_private = true;
    r->so = (struct scope_options){.mode = SCOPE_ANY,
                                   .depth = -1,
                                   .max_url_length = 2048};
    r->o = (struct fetcher_options){
        .user_agent = "urlweir/0 (test)",
        .product_token = "urlweir",
        .timeout_ms = 60000,
        .connect_timeout_ms = 60000,
        .max_body = 1 << 20,
        .max_redirects = 5,
        .retry_delay_ms = 100,
        .robots = ROBOTS_OFF,
        .kinds = LINK_SET_FOLLOW,
        .rules = {.digest_key = &r->key, .crawl = bytes_of_str("test")},
    };
    r->reports = queue_new(1000, 0);
}

/* Makes every name resolve to this server. */
static inline void rig_resolve_all(struct rig *r)
{
    snprintf(r->resolve, sizeof r->resolve, "*:%u:127.0.0.1", r->server.port);
    r->resolve_list = r->resolve;
    r->o.resolve = &r->resolve_list;
    r->o.resolve_count = 1;
}

static void rig_start(struct rig *r)
{
    const struct guard_options go = {.allow_private = r->allow_private,
                                     .by_proxy = r->o.proxy != NULL};
    struct guard *guard = NULL;
    struct buf error;

    buf_init(&error, 200);
    ck_ok(fetcher_global_init());
    if (r->o.guard == NULL) {
        ck_ok(guard_new(&guard, &go, &error));
        r->o.guard = guard;
    }
    ck_ok(scope_new(&r->o.rules.scope, &r->so, &error));
    if (r->o.bodies == NULL)
        r->o.bodies = body_pool_new(64 << 20);
    ck_ok(fetcher_start(&r->fetcher, 0, &r->o, RIG_CAPACITY, r->reports, NULL));
    buf_fini(&error);
}

static struct report *rig_receive(struct rig *r)
{
    void *item = NULL;

    ck_assert_uint_eq(queue_gather(r->reports, &item, 1, 60 * NS_PER_S, 1, 0),
                      1);
    return item;
}

/* Ends the fetcher, whose only remaining report must be REPORT_GONE. */
static void rig_fini(struct rig *r)
{
    struct report *gone;

    fetcher_drain(r->fetcher);
    gone = rig_receive(r);
    ck_assert_int_eq(gone->kind, REPORT_GONE);
    report_free(gone);
    fetcher_free(r->fetcher);
    ck_assert_uint_eq(queue_count(r->reports), 0);
    ck_assert_uint_eq(body_pool_used(r->o.bodies), 0);
    queue_free(r->reports);
    scope_free(r->o.rules.scope);
    guard_free((struct guard *)r->o.guard);
    body_pool_free(r->o.bodies);
    ip_limit_free(r->o.ip_limit);
    rate_limit_free(r->o.rate);
    tiny_stop(&r->server);
}

/* Returns "http://HOST:PORT/path" of the rig's server. */
static const char *rig_url(struct rig *r, const char *host, const char *path)
{
    static char url[8][400];
    static unsigned turn;
    char *at = url[turn++ % 8];

    snprintf(at, sizeof url[0], "http://%s:%u%s", host, r->server.port, path);
    return at;
}

static uint64_t rig_give_lease(struct rig *r, struct url_lease l,
                               const char *url)
{
    struct url u;

    url_init(&u);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str(url), NULL, NULL), URL_OK);
    l.id = ++r->next_id;
    l.url = url_text(&u);
    l.key = url_host(&u);
    for (size_t i = 0; i < l.key.len; i++)
        l.queue = l.queue * 31 + (unsigned char)l.key.at[i];
    fetcher_give(r->fetcher, assignment_new(&l));
    url_fini(&u);
    return l.id;
}

static uint64_t rig_give(struct rig *r, const char *url)
{
    return rig_give_lease(r, (struct url_lease){.depth = 1}, url);
}

/* Asks for one URL alone and returns its report. */
static struct report *rig_ask_url(struct rig *r, const char *url)
{
    uint64_t id = rig_give(r, url);
    struct report *report = rig_receive(r);

    ck_assert_uint_eq(report->id, id);
    return report;
}

static inline struct report *rig_ask(struct rig *r, const char *path)
{
    return rig_ask_url(r, rig_url(r, "127.0.0.1", path));
}

/* Asks for one route with the default options. */
static inline struct report *ask_route(struct rig *r, struct route *route)
{
    rig_init(r, route, 1);
    rig_start(r);
    return rig_ask(r, route->path);
}

#define assert_outcome(report, st, re)                                         \
    do {                                                                       \
        ck_assert_int_eq((report)->kind, REPORT_DONE);                         \
        ck_assert_str_eq(outcome_status_name((report)->done.outcome.status),   \
                         outcome_status_name(st));                             \
        ck_assert_str_eq(outcome_reason_name((report)->done.outcome.reason),   \
                         outcome_reason_name(re));                             \
        ck_assert_int_eq((report)->done.row.status, st);                       \
        ck_assert_int_eq((report)->done.row.reason, re);                       \
    } while (0)

#define assert_bytes(bytes_value, text)                                        \
    do {                                                                       \
        struct bytes bytes_ = (bytes_value);                                   \
        ck_assert_msg(bytes_is(bytes_, text), "\"%.*s\" is not \"%s\"",        \
                      (int)bytes_.len, bytes_.at, text);                       \
    } while (0)

#endif
