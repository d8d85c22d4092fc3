/* SPDX-License-Identifier: MIT */
/* What a fetcher may ask for and how much it takes: guard, memory, rate. */

#include "base/mem.h"
#include "tests/unit/crawler/fetch/coded_bodies.h"
#include "tests/unit/crawler/fetcher_rig.h"
#include "tests/unit/unit.h"

TIMEOUT(120);

TEST(no_address_the_guard_refuses_is_asked_whatever_its_spelling)
{
    static const char *const hosts[] = {"127.0.0.1",       "localhost",
                                        "2130706433",      "0x7f.1",
                                        "[::ffff:7f00:1]", "127.0.0.1.",
                                        "x.localhost"};
    struct route route = {"/", "HTTP/1.1 200 OK\r\n" EMPTY};
    struct rig r;

    rig_init(&r, &route, 1);
    r.allow_private = false;
    rig_start(&r);
    for (size_t i = 0; i < COUNT(hosts); i++) {
        struct report *p = rig_ask_url(&r, rig_url(&r, hosts[i], "/"));

        assert_outcome(p, OUTCOME_SKIPPED, REASON_ADDRESS);
        ck_assert_int_eq(p->done.host.ended, 0);
        ck_assert(!p->done.transient && !p->done.host.unreachable);
        report_free(p);
    }
    ck_assert_uint_eq(r.server.connections, 0);
    rig_fini(&r);
}

TEST(a_name_that_resolves_to_a_refused_address_is_not_asked)
{
    struct route route = {"/", "HTTP/1.1 200 OK\r\n" EMPTY};
    char resolve[64];
    const char *list = resolve;
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    snprintf(resolve, sizeof resolve, "public.test:%u:127.0.0.1",
             r.server.port);
    r.o.resolve = &list;
    r.o.resolve_count = 1;
    r.allow_private = false;
    rig_start(&r);
    p = rig_ask_url(&r, rig_url(&r, "public.test", "/"));
    assert_outcome(p, OUTCOME_SKIPPED, REASON_ADDRESS);
    report_free(p);
    ck_assert_uint_eq(r.server.connections, 0);
    rig_fini(&r);
}

TEST(behind_a_proxy_addresses_in_urls_are_still_refused)
{
    static const char *const refused[] = {
        "http://[::1]/",      "http://169.254.169.254/",
        "http://localhost/",  "http://metadata.google.internal/",
        "http://x.internal/", "https://intranet/",
    };
    struct route route = {"http://public.test/", "HTTP/1.1 200 OK\r\n" EMPTY};
    char proxy[64];
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", r.server.port);
    r.o.proxy = proxy;
    r.allow_private = false;
    rig_start(&r);
    p = rig_ask_url(&r, "http://public.test/");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    for (size_t i = 0; i < COUNT(refused); i++) {
        p = rig_ask_url(&r, refused[i]);
        assert_outcome(p, OUTCOME_SKIPPED, REASON_ADDRESS);
        ck_assert_int_eq(p->done.host.ended, 0);
        ck_assert(bytes_starts_with(p->done.row.detail, "nothing was sent: "));
        report_free(p);
    }
    ck_assert_uint_eq(r.server.requests, 1);
    ck_assert_uint_eq(atomic_load(&fetcher_counters(r.fetcher)->requests), 1);
    rig_fini(&r);
}

TEST(a_port_that_browsers_block_is_asked_neither_for_page_nor_robots_txt)
{
    struct route route = {"/", "HTTP/1.1 200 OK\r\n" EMPTY};
    struct rig r;
    struct report *p;

    for (int i = 0; i < 2; i++) {
        rig_init(&r, &route, 1);
        r.o.robots = i == 0 ? ROBOTS_OFF : ROBOTS_OBEY;
        rig_start(&r);
        p = rig_ask_url(&r, "http://127.0.0.1:25/");
        assert_outcome(p, OUTCOME_SKIPPED, REASON_PORT);
        ck_assert_int_eq(p->done.host.ended, 0);
        ck_assert(!p->done.transient && !p->done.host.unreachable);
        ck_assert(bytes_starts_with(p->done.row.detail, "nothing was sent: "));
        report_free(p);
        ck_assert_uint_eq(atomic_load(&fetcher_counters(r.fetcher)->requests),
                          0);
        rig_fini(&r);
    }
}

TEST(the_environment_sends_no_request_elsewhere)
{
    struct route route = {"/", "HTTP/1.1 200 OK\r\n" EMPTY};
    struct rig r;
    struct report *p;

    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    p = ask_route(&r, &route);
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    rig_fini(&r);
}

/* 64 MiB of white space in a few KB: the limit applies after decoding. */
TEST(a_gzip_bomb_stays_within_the_limit)
{
    static const char answer[] =
        OK_HTML "Content-Encoding: gzip\r\n\r\n" BOMB_HEAD BOMB_SPACES;
    struct route route = {"/",
                          answer,
                          .len = sizeof answer - 1,
                          .after = CLOSE,
                          .repeat = 64 * 64,
                          .repeat_len = sizeof BOMB_SPACES - 1};
    uint64_t before;
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    rig_start(&r);
    before = mem_resident();
    p = rig_ask(&r, "/");
    assert_outcome(p, OUTCOME_FETCHED, REASON_TRUNCATED_LENGTH);
    ck_assert_uint_eq(p->done.row.body_bytes, 1 << 20);
    ck_assert_uint_lt(mem_resident(), before + (16 << 20));
    report_free(p);
    rig_fini(&r);
}

#define TEN "          "
#define PLAIN_BODY                                                             \
    OK_HTML "Content-Length: 300000\r\n\r\n" TEN TEN TEN TEN TEN TEN TEN TEN   \
        TEN TEN

/* Ten hosts send the same body through a pool too small for two: each body must
 * arrive whole, and the pool must never be over by more than one body. */
static void fetch_through_a_small_pool(struct route *route, uint64_t body,
                                       enum outcome_reason reason)
{
    enum { HOSTS = 10, POOL = 400 << 10 };
    struct rig r;
    uint64_t used, most = 0;

    rig_init(&r, route, 1);
    rig_resolve_all(&r);
    r.o.bodies = body_pool_new(POOL);
    r.o.timeout_ms = 60000;
    rig_start(&r);
    for (int i = 0; i < HOSTS; i++) {
        char host[32];

        snprintf(host, sizeof host, "h%d.test", i);
        rig_give(&r, rig_url(&r, host, "/"));
    }
    for (int i = 0; i < HOSTS; i++) {
        struct report *p;
        void *item = NULL;

        while (queue_receive(r.reports, &item, 1, NS_PER_MS / 10) == 0) {
            used = body_pool_used(r.o.bodies);
            most = used > most ? used : most;
        }
        p = item;
        assert_outcome(p, OUTCOME_FETCHED, reason);
        ck_assert_uint_eq(p->done.row.body_bytes, body);
        report_free(p);
    }
    ck_assert_uint_le(most, POOL + r.o.max_body);
    rig_fini(&r);
}

TEST(bodies_wait_for_each_other_when_memory_is_short)
{
    struct route route = {"/", PLAIN_BODY, .repeat = 2999, .repeat_len = 100};

    fetch_through_a_small_pool(&route, 300000, REASON_NONE);
}

TEST(decoded_bodies_wait_for_each_other_too)
{
    static const char answer[] =
        OK_HTML "Content-Encoding: gzip\r\n\r\n" BOMB_HEAD BOMB_SPACES;
    struct route route = {"/",
                          answer,
                          .len = sizeof answer - 1,
                          .after = CLOSE,
                          .repeat = 30,
                          .repeat_len = sizeof BOMB_SPACES - 1};

    /* The stream lacks its end, which shows only at its last octet. */
    fetch_through_a_small_pool(&route, 31 * 16384, REASON_BAD_ENCODING);
}

/* Pages of three hosts, all at once, under a rate limit (octets a second; the
 * first second's are free) that makes them wait longer than their time
 * limit. */
struct slow_web {
    int pages;
    uint64_t octets, rate;
    int64_t limit_ms;
    size_t links;
};

/* Returns how many arrived whole with all times `slower` times as long. */
static int come_whole(struct route *route, const struct slow_web *w,
                      uint64_t slower)
{
    const uint64_t rate = w->rate / slower;
    int64_t before = clock_mono();
    int whole = 0;
    struct rig r;

    rig_init(&r, route, 1);
    rig_resolve_all(&r);
    r.o.rate = rate_limit_new(rate);
    r.o.timeout_ms = w->limit_ms * (int64_t)slower;
    rig_start(&r);
    for (int i = 0; i < w->pages; i++) {
        char host[32];

        snprintf(host, sizeof host, "h%d.test", i % 3);
        rig_give(&r, rig_url(&r, host, "/"));
    }
    for (int i = 0; i < w->pages; i++) {
        struct report *p = rig_receive(&r);

        whole += p->done.outcome.status == OUTCOME_FETCHED &&
                 p->done.outcome.reason == REASON_NONE &&
                 p->done.row.body_bytes == w->octets &&
                 p->done.outlink_count == w->links;
        report_free(p);
    }
    if (whole == w->pages)
        ck_assert_int_ge(clock_mono() - before,
                         (int64_t)(((uint64_t)w->pages * w->octets - rate) *
                                   NS_PER_S / rate));
    rig_fini(&r);
    return whole;
}

/* On a machine so busy that the server itself takes that long, tries a slower
 * web with more time. */
static void all_come_whole(struct route *route, const struct slow_web *w)
{
    uint64_t slower = 1;

    while (come_whole(route, w, slower) < w->pages) {
        ck_assert_msg(slower < 16, "pages are cut short or late");
        slower *= 4;
    }
}

TEST(time_spent_waiting_for_the_rate_limit_does_not_count)
{
    struct route route = {"/", PLAIN_BODY, .repeat = 2999, .repeat_len = 100};
    const struct slow_web web = {.pages = 8,
                                 .octets = 300000,
                                 .rate = 400000,
                                 .limit_ms = 400};

    all_come_whole(&route, &web);
}

#define LINKED_BODY(length)                                                    \
    OK_HTML                                                                    \
    "Content-Length: " length                                                  \
    "\r\n\r\n<a href=/linked>x</a>" TEN TEN TEN TEN TEN TEN TEN TEN TEN        \
    "        "

/* Three pages of 60,000 octets at once, at 40,000 a second: each of them alone
 * takes longer than its time limit. */
TEST(a_low_rate_limit_lets_no_page_fail)
{
    struct route route = {"/", LINKED_BODY("60000"), .repeat = 599,
                          .repeat_len = 100};
    const struct slow_web web = {.pages = 3,
                                 .octets = 60000,
                                 .rate = 40000,
                                 .limit_ms = 1000,
                                 .links = 1};

    all_come_whole(&route, &web);
}

/* Three pages at once are two seconds ahead of the rate; a page requested then
 * must still be read in full, links included. */
TEST(a_page_asked_for_over_the_rate_limit_keeps_its_head_and_links)
{
    struct route routes[] = {{"/long", LINKED_BODY("17000"), .repeat = 169,
                              .repeat_len = 100},
                             {"/short", LINKED_BODY("1000"), .repeat = 9,
                              .repeat_len = 100}};
    const int64_t before = clock_mono();
    struct rig r;
    uint64_t late;

    rig_init(&r, routes, 2);
    rig_resolve_all(&r);
    r.o.rate = rate_limit_new(16000);
    rig_start(&r);
    for (int i = 0; i < 3; i++) {
        char host[32];

        snprintf(host, sizeof host, "h%d.test", i);
        rig_give(&r, rig_url(&r, host, "/long"));
    }
    tiny_wait_asked(&r.server, &routes[0], 3);
    while (rate_limit_level_at(r.o.rate) < before + NS_PER_S)
        usleep(1000);
    late = rig_give(&r, rig_url(&r, "late.test", "/short"));
    for (int i = 0; i < 4; i++) {
        struct report *p = rig_receive(&r);

        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        assert_bytes(p->done.row.mime, "text/html");
        ck_assert_uint_eq(p->done.row.body_bytes, p->id == late ? 1000 : 17000);
        ck_assert_uint_eq(p->done.outlink_count, 1);
        report_free(p);
    }
    rig_fini(&r);
}

/* A head has no body that could wait; the next request waits instead. */
TEST(answers_without_a_body_keep_to_the_rate_limit_too)
{
    static const char answer[] =
        "HTTP/1.1 404 Not Found\r\nX: " TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
        "\r\n" EMPTY;
    struct route route = {"/", answer};
    int64_t before = clock_mono(), took;
    struct rig r;

    rig_init(&r, &route, 1);
    r.o.rate = rate_limit_new(1000);
    rig_start(&r);
    for (int i = 0; i < 20; i++)
        rig_give(&r, rig_url(&r, "127.0.0.1", "/"));
    for (int i = 0; i < 20; i++) {
        struct report *p = rig_receive(&r);

        assert_outcome(p, OUTCOME_FAILED, REASON_HTTP);
        report_free(p);
    }
    took = clock_mono() - before;
    /* All but the last were paid for before it was requested. */
    ck_assert_int_ge(took,
                     (19 * (int64_t)strlen(answer) - 1000) * NS_PER_S / 1000);
    rig_fini(&r);
}

/* At one octet a second, twelve bodies of 300,000 octets would take weeks. */
TEST(a_rate_limit_that_is_lifted_holds_nobody_any_longer)
{
    struct route route = {"/", PLAIN_BODY, .repeat = 2999, .repeat_len = 100};
    const int64_t before = clock_mono();
    struct rig r;

    rig_init(&r, &route, 1);
    rig_resolve_all(&r);
    r.o.rate = rate_limit_new(1);
    r.o.timeout_ms = 60000;
    rig_start(&r);
    for (int i = 0; i < 12; i++) {
        char host[32];

        snprintf(host, sizeof host, "h%d.test", i);
        rig_give(&r, rig_url(&r, host, "/"));
    }
    while (rate_limit_level_at(r.o.rate) < before + 60 * NS_PER_S)
        usleep(1000);
    ck_assert_uint_eq(queue_count(r.reports), 0);
    rate_limit_set(r.o.rate, 0, clock_mono());
    for (int i = 0; i < 12; i++) {
        struct report *p = rig_receive(&r);

        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        ck_assert_uint_eq(p->done.row.body_bytes, 300000);
        report_free(p);
    }
    rig_fini(&r);
}
