/* SPDX-License-Identifier: MIT */
/* robots.txt comes before all else (RFC 9309): how a fetcher gets it. */

#include "base/clock.h"
#include "tests/unit/crawler/fetcher_rig.h"
#include "tests/unit/unit.h"

#define RULES                                                                  \
    "HTTP/1.1 200 OK\r\nContent-Length: 75\r\n\r\n"                            \
    "User-agent: urlweir\nDisallow: /private\nCrawl-delay: 2.5\n"              \
    "Allow: /private/ok\n"

/* "User-agent: *", "Disallow: /no", by gzip(1). */
#define GZIPPED_RULES                                                          \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x0b\x2d\x4e\x2d\xd2"             \
    "\x4d\x4c\x4f\xcd\x2b\xb1\x52\xd0\xe2\x72\xc9\x2c\x4e\xcc\xc9"             \
    "\xc9\x2f\xb7\x52\xd0\xcf\xcb\xe7\x02\x00\x6f\x0a\x2d\x24\x1c"             \
    "\x00\x00\x00"
#define GZIPPED_RULES_LENGTH "48"

TEST(robots_txt_is_read_whatever_its_type_and_coding)
{
    static const char coded[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip"
        "\r\nContent-Length: " GZIPPED_RULES_LENGTH "\r\n\r\n" GZIPPED_RULES;
    struct route routes[] = {
        {"/robots.txt", coded, .len = sizeof coded - 1},
        {"/yes", OK_HTML EMPTY},
    };
    const char *only = "text/html"; /* --mime applies to pages only */
    struct rig r;
    struct report *p;

    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_OBEY;
    r.o.mime = &only;
    r.o.mime_count = 1;
    rig_start(&r);
    p = rig_ask(&r, "/no");
    assert_outcome(p, OUTCOME_DENIED, REASON_ROBOTS);
    assert_bytes(p->done.row.detail, "Disallow: /no");
    report_free(p);
    p = rig_ask(&r, "/yes");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    rig_fini(&r);
}

/* The frontier decides how often it is requested, through its host's queue. */
TEST(a_hop_of_robots_txt_to_another_host_waits_for_a_lease_that_is_for_it)
{
    struct route routes[] = {{"/robots.txt", ""}, {"/r", RULES}};
    const struct url_lease visit = {.depth = 1,
                                    .robots_host = bytes_of_str("other.test")};
    char moved[100];
    struct rig r;
    struct report *p;

    rig_init(&r, routes, COUNT(routes));
    snprintf(moved, sizeof moved, MOVED "Location: %s\r\n\r\n",
             rig_url(&r, "other.test", "/r"));
    tiny_answer(&r.server, &routes[0], moved);
    rig_resolve_all(&r);
    r.o.robots = ROBOTS_OBEY;
    rig_start(&r);
    for (int i = 0; i < 2; i++) {
        p = rig_ask_url(&r, rig_url(&r, "a.test", "/private/x"));
        ck_assert_int_eq(p->kind, REPORT_RELEASE);
        ck_assert(bytes_is(p->done.host.robots_host, "other.test"));
        ck_assert(i == 0 ? p->done.host.ended > 0 : p->done.host.ended == 0);
        ck_assert_uint_eq(r.server.requests, 1);
        report_free(p);
    }
    for (int i = 0; i < 2; i++) {
        rig_give_lease(&r, visit, rig_url(&r, "a.test", "/private/x"));
        p = rig_receive(&r);
        ck_assert_int_eq(p->kind, i == 0 ? REPORT_DONE : REPORT_RELEASE);
        ck_assert_uint_eq(p->done.host.robots_host.len, 0);
        ck_assert(i == 0 ? p->done.host.ended > 0 : p->done.host.ended == 0);
        ck_assert_uint_eq(r.server.requests, 2);
        report_free(p);
    }
    rig_fini(&r);
}

/* Asks for a path again and again, until robots.txt has been asked `asked`
 * times: each try waits for the cache. */
static struct report *ask_until_asked(struct rig *r, const struct route *robots,
                                      const char *path, size_t asked)
{
    struct report *p = rig_ask(r, path);

    while (p->kind == REPORT_RELEASE && robots->asked < asked) {
        report_free(p);
        p = rig_ask(r, path);
    }
    return p;
}

#define CUT(body) "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" body

/* Half a file may lack the rule that matters. */
TEST(a_robots_txt_that_breaks_off_counts_as_unreachable)
{
    static const struct {
        const char *response;
        enum outcome_status status;
        enum outcome_reason reason;
        bool transient;
    } broken[] = {
        {CUT("User-agent: *\n"), OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE,
         true},
        {CUT("User-agent: *\nDisallow: /b\n"), OUTCOME_DENIED,
         REASON_ROBOTS_UNREACHABLE, true},
        {CUT("User-agent: x\nDisallow: /b\nUser-agent: y\nDisallow: /\n"),
         OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE, true},
        {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n"
         "\r\nabc",
         OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE, true},
        {"garbage\r\n\r\n", OUTCOME_FAILED, REASON_PROTOCOL, false},
    };

    for (size_t i = 0; i < COUNT(broken); i++) {
        struct route route = {"/robots.txt", broken[i].response,
                              .after = CLOSE};
        struct rig r;
        struct report *p;

        rig_init(&r, &route, 1);
        r.o.robots = ROBOTS_OBEY;
        r.o.tries = 2;
        r.o.retry_delay_ms = 1;
        rig_start(&r);
        for (size_t try = 1; try <= 3; try++) {
            p = ask_until_asked(&r, &route, "/a", try);
            assert_outcome(p, broken[i].status, broken[i].reason);
            ck_assert_uint_eq(p->done.row.flags, FETCH_ROW_AT_ROBOTS);
            ck_assert_int_eq(p->done.transient, broken[i].transient);
            ck_assert(bytes_starts_with(p->done.row.detail, "robots.txt: "));
            report_free(p);
        }
        rig_fini(&r);
    }
}

/* Servers that cut each answer, or label it with a coding it does not have,
 * would never be crawled otherwise. */
TEST(ours_after_all_tries_whole_groups_of_a_robots_txt_are_obeyed)
{
    static const char *const answers[] = {
        CUT("User-agent: *\nDisallow: /b\n\nUser-agent: x\nDisallow: /a"),
        CUT("User-agent: x\nDisallow: /a\nUser-agent: urlweir\n"
            "Disallow: /b\nUser-agent: y\nDisallow: /\n"),
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n"
        "\r\nUser-agent: *\nDisallow: /b\n",
    };

    for (size_t i = 0; i < COUNT(answers); i++) {
        struct route routes[] = {{"/robots.txt", answers[i], .after = CLOSE},
                                 {"/a", OK_HTML EMPTY}};
        struct rig r;
        struct report *p;

        rig_init(&r, routes, COUNT(routes));
        r.o.robots = ROBOTS_OBEY;
        r.o.tries = 2;
        r.o.retry_delay_ms = 1;
        rig_start(&r);
        p = ask_until_asked(&r, &routes[0], "/a", 1);
        assert_outcome(p, OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE);
        report_free(p);
        p = ask_until_asked(&r, &routes[0], "/a", 2);
        ck_assert_int_eq(p->kind, REPORT_RELEASE);
        ck_assert_ptr_nonnull(p->done.host.robots); /* for the next run */
        ck_assert_uint_eq(p->done.host.robots->http_status, 200);
        report_free(p);
        p = rig_ask(&r, "/b");
        assert_outcome(p, OUTCOME_DENIED, REASON_ROBOTS);
        report_free(p);
        p = rig_ask(&r, "/a");
        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        report_free(p);
        ck_assert_uint_eq(routes[0].asked, 2);
        rig_fini(&r);
    }
}

TEST(robots_report_does_not_wait_for_an_unreachable_robots_txt)
{
    struct route routes[] = {{"/robots.txt", "HTTP/1.1 503 Busy\r\n" EMPTY},
                             {"/x", OK_HTML EMPTY}};
    struct rig r;
    struct report *p;

    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_REPORT;
    r.o.retry_delay_ms = 1; /* it is over before the page's turn comes */
    rig_start(&r);
    p = rig_ask(&r, "/x");
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    report_free(p);
    for (int64_t due = clock_mono() + 2 * NS_PER_MS; clock_mono() < due;)
        ;
    p = rig_ask(&r, "/x");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    assert_bytes(p->done.row.detail, "robots.txt is unreachable");
    report_free(p);
    rig_fini(&r);
}

TEST(the_guard_holds_for_robots_txt_and_its_redirects)
{
    struct route route = {"/robots.txt", RULES};
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    r.o.robots = ROBOTS_OBEY;
    r.allow_private = false;
    rig_start(&r);
    p = rig_ask(&r, "/a");
    assert_outcome(p, OUTCOME_SKIPPED, REASON_ADDRESS);
    report_free(p);
    ck_assert_uint_eq(r.server.connections, 0);
    rig_fini(&r);
}

/* RFC 9309 section 2.3.1.4: counts as unreachable. */
TEST(a_robots_txt_redirected_to_where_the_guard_refuses_is_unreachable)
{
    struct route route = {"http://a.test/robots.txt",
                          MOVED "Location: http://169.254.169.254/r\r\n\r\n"};
    const struct url_lease visit = {.depth = 1,
                                    .robots_host =
                                        bytes_of_str("169.254.169.254")};
    char proxy[64];
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", r.server.port);
    r.o.proxy = proxy;
    r.o.robots = ROBOTS_OBEY;
    r.o.warc = true;
    r.allow_private = false;
    rig_start(&r);
    p = rig_ask_url(&r, "http://a.test/x");
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    ck_assert(bytes_is(p->done.host.robots_host, "169.254.169.254"));
    report_free(p);
    rig_give_lease(&r, visit, "http://a.test/x");
    p = rig_receive(&r);
    assert_outcome(p, OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE);
    ck_assert(p->done.transient);
    ck_assert_ptr_null(p->robots_warc);
    ck_assert(bytes_starts_with(p->done.row.detail,
                                "robots.txt: nothing was sent: "));
    report_free(p);
    ck_assert_uint_eq(r.server.requests, 1);
    rig_fini(&r);
}
