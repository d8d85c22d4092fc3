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

/* Promise (Fetching): no request goes to a private address, in any spelling, by
 * name, redirect, proxy, NAT64 or robots.txt, nor to a port that browsers
 * block. See also `guard`,
 * `fetcher_limits/no_address_the_guard_refuses_is_asked_whatever_its_spelling`,
 * `fetcher_limits/behind_a_proxy_addresses_in_urls_are_still_refused`,
 * `fetcher_robots/the_guard_holds_for_robots_txt_and_its_redirects`,
 * `fetcher_robots/a_robots_txt_redirected_to_where_the_guard_refuses_is_unreachable`,
 * `tests/cli/guard.sh`, `tests/cli/guard-proxy.sh`. */
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

        while (queue_gather(r.reports, &item, 1, NS_PER_MS / 10, 1, 0) == 0) {
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

/* Promise 5: Memory is bounded. See also
 * `body_pool/half_finished_bodies_never_wait_for_each_other_for_ever`,
 * `scalable/it_never_takes_more_than_its_share_of_memory`,
 * `robots_cache/memory_is_bounded_and_the_longest_unasked_go_first`,
 * `sitemap/fifty_megabytes_are_read_in_little_memory`,
 * `coding/windows_are_charged_when_they_are_made`,
 * `host_memory/a_hundred_thousand_hosts_take_little_beyond_their_names`,
 * `hot_cache/a_smaller_one_holds_what_it_has_room_for_and_gives_the_rest_back`,
 * `tests/cli/memory.sh`, `tests/cli/codings.sh`. */
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

/* Promise (Politeness): --limit-rate holds for the crawl as a whole, makes no
 * page fail or lose its links, and can be lifted while it runs. See also
 * `rate_limit`, `tests/cli/limits.sh`, `tests/cli/tls.sh`. */
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
