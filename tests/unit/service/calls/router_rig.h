/*
 * router_rig.h - a router between calls, a frontier of other programs and two
 * crawls of this process, which are paused so that they send no requests.
 * Header only.
 */
#ifndef URLWEIR_TESTS_SERVICE_CALLS_ROUTER_RIG_H
#define URLWEIR_TESTS_SERVICE_CALLS_ROUTER_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/fetcher.h"
#include "crawler/html/links.h"
#include "frontier/crawl/frontier_open.h"
#include "service/calls/call_crawl.h"
#include "service/calls/router.h"
#include "tests/unit/service/service_rig.h"
#include "tests/unit/unit.h"

#define CRAWLS 2

struct crawl_job {
    struct scratch at;
    struct frontier_options o;
    struct fetcher_options fetch;
    struct frontier *frontier;
    struct crawl *crawl;
};

struct router_rig {
    struct service_rig frontier;
    struct crawl_job own[CRAWLS];
    struct crawls *crawls;
    struct router *router;
};

static inline struct crawl *crawl_of(struct crawl_job *m)
{
    return m->crawl;
}

static inline void member_make(struct crawl_job *m)
{
    const struct scope_options so = {.mode = SCOPE_ANY,
                                     .depth = 9,
                                     .max_url_length = 200};
    struct crawl_options co = {.threads = 1, .concurrency = 8, .stay = true};
    struct buf error;

    *m = (struct crawl_job){.at = scratch_make()};
    m->o = (struct frontier_options){.crawl = bytes_of_str("DEFAULT"),
                                     .tries = 1,
                                     .conns_per_host = 1,
                                     .in_flight = 8,
                                     .commit_least = 32,
                                     .store = {.use_filter = true,
                                               .fpr = 0.01,
                                               .memory = (uint64_t)16 << 20},
                                     .commit_interval = 200 * NS_PER_MS};
    ck_ok(frontier_create(&m->frontier, m->at.dir, &m->o, clock_wall_ms()));
    buf_init(&error, 200);
    m->fetch = (struct fetcher_options){
        .user_agent = "test",
        .product_token = "test",
        .timeout_ms = 1000,
        .connect_timeout_ms = 1000,
        .max_body = 1 << 20,
        .robots = ROBOTS_OFF,
        .kinds = LINK_SET_FOLLOW,
        .rules = {.digest_key = frontier_get_digest_key(m->frontier),
                  .crawl = m->o.crawl},
        .bodies = body_pool_new(1 << 20),
    };
    ck_ok(scope_new(&m->fetch.rules.scope, &so, &error));
    ck_ok(guard_new((struct guard **)(uintptr_t)&m->fetch.guard,
                    &(struct guard_options){0}, &error));
    buf_fini(&error);
    co.dir = m->at.dir;
    co.fetch = &m->fetch;
    ck_ok(crawl_start(&m->crawl, m->frontier, &co));
    crawl_pause(m->crawl, true);
}

static inline void member_fini(struct crawl_job *m)
{
    struct crawl_result result;

    crawl_stop(m->crawl);
    while (!crawl_wait(m->crawl, NS_PER_S, &result))
        ;
    crawl_free(m->crawl);
    frontier_close(m->frontier);
    scope_free(m->fetch.rules.scope);
    guard_free((struct guard *)(uintptr_t)m->fetch.guard);
    body_pool_free(m->fetch.bodies);
    scratch_remove(&m->at);
}

/* Crawls of our own are "own0" and "own1". */
static inline void router_make(struct router_rig *r, bool with_frontier)
{
    static const struct crawl_factory factory = {.crawl = crawl_of};

    *r = (struct router_rig){.crawls = NULL};
    ck_ok(fetcher_global_init());
    if (with_frontier)
        service_make(&r->frontier);
    else
        service_init(&r->frontier);
    ck_ok(crawls_open(&r->crawls, NULL, &factory));
    for (int i = 0; i < CRAWLS; i++) {
        char name[8];

        member_make(&r->own[i]);
        snprintf(name, sizeof name, "own%d", i);
        crawls_attach(r->crawls, name, r->own[i].at.dir, &r->own[i]);
    }
    r->router = router_new(with_frontier ? r->frontier.s : NULL, r->crawls);
}

static inline void close_crawls(struct router_rig *r)
{
    ck_ok(crawls_close(r->crawls));
    for (int i = 0; i < CRAWLS; i++)
        member_fini(&r->own[i]);
    r->crawls = NULL;
}

static inline void router_fini(struct router_rig *r)
{
    if (r->crawls != NULL)
        close_crawls(r);
    router_free(r->router);
    ck_ok(frontier_service_close(r->frontier.s));
    scratch_remove(&r->frontier.at);
}

/* Submits the call and waits for its answer. */
static inline void ask(struct router_rig *r, struct frontier_call *call)
{
    struct service_wait w = {.r = &r->frontier};

    call->done = service_told;
    call->ctx = &w;
    ck_ok(router_submit(r->router, call));
    service_wait_for(&w);
}

static inline struct frontier_item item_of(const char *crawl, const char *url,
                                           enum frontier_item_kind kind)
{
    return (struct frontier_item){.kind = kind,
                                  .crawl = text(crawl),
                                  .url = text(url)};
}

static inline enum frontier_ack put_one(struct router_rig *r, const char *crawl,
                                        const char *url,
                                        enum frontier_item_kind kind)
{
    struct frontier_item item = item_of(crawl, url, kind);
    struct frontier_call call = service_new(FRONTIER_PUT);

    call.in.put = (struct frontier_put){&item, 1};
    ask(r, &call);
    frontier_call_fini(&call);
    return item.ack;
}

/* Puts n URLs, each of a different host. */
static inline void put_hosts(struct router_rig *r, const char *crawl, int n)
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

static inline struct got get_any(struct router_rig *r, uint32_t queues)
{
    struct frontier_call call = service_new(FRONTIER_GET);
    struct got n = {0};

    call.in.get = (struct frontier_get){.any_crawl = true,
                                        .max_urls_per_queue = 1,
                                        .max_queues = queues,
                                        .delay_requestable_s = 3600};
    do {
        ask(r, &call);
        ck_ok(call.status);
        n.parts++;
        for (size_t i = 0; i < call.url_count; i++) {
            struct bytes crawl = call.urls[i].crawl;
            bool ours = call_crawl_is_lease(call.urls[i].lease);

            n.all++;
            n.theirs += bytes_is(crawl, "theirs");
            n.own[0] += bytes_is(crawl, "own0");
            n.own[1] += bytes_is(crawl, "own1");
            ck_assert(ours == bytes_starts_with(crawl, "own"));
            ck_assert(!ours || call_crawl_may_have(call.urls[i].lease, crawl));
        }
    } while (call.more);
    frontier_call_fini(&call);
    return n;
}

/* Returns the names in an answer, separated by blanks. */
static inline const char *names_of(struct router_rig *r,
                                   struct frontier_call *call)
{
    static char out[500];

    ask(r, call);
    ck_ok(call->status);
    out[0] = '\0';
    for (size_t i = 0; i < call->name_count; i++) {
        size_t len = strlen(out);

        snprintf(out + len, sizeof out - len, "%s%.*s", i > 0 ? " " : "",
                 (int)call->names[i].len, call->names[i].at);
    }
    frontier_call_fini(call);
    return out;
}

#endif
