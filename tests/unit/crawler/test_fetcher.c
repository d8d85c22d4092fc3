/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "base/mem.h"
#include "tests/unit/crawler/coded_bodies.h"
#include "tests/unit/crawler/fetcher_rig.h"

#define OK_HTML       "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
#define COUNT(routes) (sizeof(routes) / sizeof *(routes))

/* Ask one route with the options as they are by default. */
static struct report *ask_route(struct rig *r, struct route *route)
{
    rig_init(r, route, 1);
    rig_start(r);
    return rig_ask(r, route->path);
}

START_TEST(a_page_is_fetched_with_all_that_is_told_of_it)
{
    struct route route = {
        .path = "/dir/page?q=1",
        .answer = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8"
                  "\r\nETag: \"v1\"\r\nLast-Modified: Sat, 01 Jan 2000 "
                  "00:00:00 GMT\r\nContent-Language: de\r\n"
                  "Content-Length: 87\r\n\r\n"
                  "<html lang=en><title> A  page </title>"
                  "<a href=/a>a</a><a href=b>b</a><a href=/a#x>c</a>"};
    struct rig r;
    struct report *p = ask_route(&r, &route);
    const struct fetch_row *row = &p->done.row;

    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    ck_assert_uint_eq(p->done.outcome.http_status, 200);
    ck_assert_uint_eq(row->http_status, 200);
    assert_bytes(row->mime, "text/html");
    assert_bytes(row->etag, "\"v1\"");
    assert_bytes(row->last_modified, "Sat, 01 Jan 2000 00:00:00 GMT");
    assert_bytes(row->title, "A page");
    assert_bytes(row->lang, "en");
    assert_bytes(row->ip, "127.0.0.1");
    ck_assert_uint_eq(row->body_bytes, 87);
    ck_assert_uint_eq(row->wire_bytes, strlen(route.answer));
    ck_assert(digest_equal(
        row->body_digest,
        digest_bytes(&r.key, bytes_of_str(strstr(route.answer, "<html")))));
    ck_assert_uint_eq(row->links, 3);
    ck_assert_uint_eq(p->done.found_count, 2);
    assert_bytes(p->done.found[0].url, rig_url(&r, "127.0.0.1", "/a"));
    assert_bytes(p->done.found[1].url, rig_url(&r, "127.0.0.1", "/dir/b"));
    assert_bytes(p->done.found[0].key, "127.0.0.1");
    ck_assert_uint_eq(p->done.found[0].depth, 2);
    ck_assert_uint_eq(p->done.found[0].kind, LINK_A);
    ck_assert(
        digest_equal(p->done.found[0].digest,
                     digest_url(&r.key, bytes_of_str("test"),
                                p->done.found[0].key, p->done.found[0].url)));
    ck_assert(!p->done.transient);
    ck_assert_int_gt(p->done.host.ended, 0);
    ck_assert_int_eq(p->done.host.crawl_delay_ms, -2);
    ck_assert_int_eq(p->done.host.retry_after_ms, -1);
    report_free(p);
    ck_assert_ptr_nonnull(strstr(r.server.head, "User-Agent: urlweir/0"));
    ck_assert_ptr_nonnull(strstr(r.server.head, "GET /dir/page?q=1 HTTP/1.1"));
    rig_fini(&r);
}
END_TEST

/* ---- outcomes of answers: the table of DESIGN section 3 ------------------ */

#define EMPTY "Content-Length: 0\r\n\r\n"

START_TEST(title_and_language_stand_in_the_row)
{
    struct route routes[] = {
        {.path = "/header",
         .answer = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                   "Content-Language: de-AT \r\nContent-Length: 30\r\n\r\n"
                   "<title>Gr&uuml;&szlig;</title>"},
        {.path = "/none",
         .answer = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                   "Content-Length: 3\r\n\r\n<p>"},
        {.path = "/plain",
         .answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                   "Content-Language: fr\r\n"
                   "Content-Length: 16\r\n\r\n<title>x</title>"},
    };
    struct report *p;
    struct rig r;

    rig_init(&r, routes, 3);
    rig_start(&r);
    p = rig_ask(&r, "/header");
    assert_bytes(p->done.row.title, "Gr\u00fc\u00df");
    assert_bytes(p->done.row.lang, "de-AT");
    report_free(p);
    p = rig_ask(&r, "/none");
    ck_assert_uint_eq(p->done.row.title.len, 0);
    ck_assert_uint_eq(p->done.row.lang.len, 0);
    report_free(p);
    p = rig_ask(&r, "/plain");
    ck_assert_uint_eq(p->done.row.title.len, 0);
    assert_bytes(p->done.row.lang, "fr");
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(statuses_have_the_outcome_of_the_table)
{
    static const struct {
        const char *answer;
        enum outcome_status status;
        enum outcome_reason reason;
        uint16_t http_status;
        bool transient, slow_down;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\n" EMPTY, OUTCOME_FETCHED, REASON_NONE, 200},
        {"HTTP/1.1 203 \r\n" EMPTY, OUTCOME_FETCHED, REASON_NONE, 203},
        {"HTTP/1.1 204 No\r\n\r\n", OUTCOME_FETCHED, REASON_NONE, 204},
        {"HTTP/1.1 304 Not\r\n\r\n", OUTCOME_FETCHED, REASON_NONE, 304},
        {"HTTP/1.1 103 Hint\r\nLink: </x>\r\n\r\n"
         "HTTP/1.1 404 Not Found\r\n" EMPTY,
         OUTCOME_FAILED, REASON_HTTP, 404},
        {"HTTP/1.1 400 Bad\r\n" EMPTY, OUTCOME_FAILED, REASON_HTTP, 400},
        {"HTTP/1.1 401 No\r\n" EMPTY, OUTCOME_FAILED, REASON_HTTP, 401},
        {"HTTP/1.1 408 Late\r\n" EMPTY, OUTCOME_FAILED, REASON_HTTP, 408, true},
        {"HTTP/1.1 410 Gone\r\n" EMPTY, OUTCOME_FAILED, REASON_HTTP, 410},
        {"HTTP/1.1 429 Many\r\n" EMPTY, OUTCOME_FAILED, REASON_HTTP, 429, true,
         true},
        {"HTTP/1.1 500 Oh\r\n" EMPTY, OUTCOME_FAILED, REASON_HTTP, 500, true},
        {"HTTP/1.1 503 Busy\r\n" EMPTY, OUTCOME_FAILED, REASON_HTTP, 503, true,
         true},
        {"HTTP/1.1 600 What\r\n" EMPTY, OUTCOME_FAILED, REASON_HTTP, 600},
        {"HTTP/1.1 999 What\r\n" EMPTY, OUTCOME_FAILED, REASON_HTTP, 999},
    };
    struct route route = {.path = "/"};
    struct rig r;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct report *p;

        tiny_answer(&r.server, &route, cases[i].answer);
        p = rig_ask(&r, "/");
        ck_assert_msg(p->done.outcome.status == cases[i].status &&
                          p->done.outcome.reason == cases[i].reason &&
                          p->done.outcome.http_status == cases[i].http_status,
                      "%s", cases[i].answer);
        ck_assert_int_eq(p->done.transient, cases[i].transient);
        ck_assert_int_eq(p->done.host.slow_down, cases[i].slow_down);
        ck_assert(!p->done.host.unreachable);
        ck_assert_int_gt(p->done.host.ended, 0);
        report_free(p);
    }
    ck_assert_uint_eq(r.server.connections, 1); /* kept all the time */
    rig_fini(&r);
}
END_TEST

START_TEST(retry_after_is_taken_from_429_and_5xx_only)
{
    struct route routes[] = {
        {"/429", "HTTP/1.1 429 Many\r\nRetry-After: 7\r\n" EMPTY},
        {"/503", "HTTP/1.1 503 Busy\r\nRetry-After: 999999999\r\n" EMPTY},
        {"/200", "HTTP/1.1 200 OK\r\nRetry-After: 7\r\n" EMPTY},
    };
    static const int64_t want[] = {7000, 86400000, -1};
    struct rig r;

    rig_init(&r, routes, COUNT(routes));
    rig_start(&r);
    for (size_t i = 0; i < COUNT(routes); i++) {
        struct report *p = rig_ask(&r, routes[i].path);

        ck_assert_int_eq(p->done.host.retry_after_ms, want[i]);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

START_TEST(a_body_over_the_limit_is_cut_and_what_came_is_read)
{
    struct route route = {"/",
                          OK_HTML "\r\n<a href=/kept>k</a>"
                                  "<a href=/cut>c</a>.",
                          .after = CLOSE};
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    r.o.max_body = 20;
    rig_start(&r);
    p = rig_ask(&r, "/");
    assert_outcome(p, OUTCOME_FETCHED, REASON_TRUNCATED_LENGTH);
    ck_assert_uint_eq(p->done.row.body_bytes, 20);
    ck_assert_uint_eq(p->done.found_count, 1);
    assert_bytes(p->done.found[0].url, rig_url(&r, "127.0.0.1", "/kept"));
    report_free(p);
    tiny_answer(&r.server, &route,
                OK_HTML "\r\n<a href=/kept>k</a>."); /* exactly 20 */
    p = rig_ask(&r, "/");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(a_body_cut_by_time_is_fetched_as_far_as_it_came)
{
    struct route routes[] = {
        {"/body", OK_HTML "\r\n<a href=/kept>k</a>", .after = STALL},
        {"/head", OK_HTML "\r\n", .after = STALL},
        {"/field", OK_HTML, .after = STALL},
        {"/none", "", .after = STALL},
        {"/404", "HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\n",
         .after = STALL},
    };
    static const struct outcome want[] = {
        {OUTCOME_FETCHED, REASON_TRUNCATED_TIME, 200},
        {OUTCOME_FAILED, REASON_TIMEOUT, 200},
        {OUTCOME_FAILED, REASON_TIMEOUT, 200},
        {OUTCOME_FAILED, REASON_TIMEOUT, 0},
        {OUTCOME_FAILED, REASON_HTTP, 404}, /* its head says all */
    };
    struct rig r;

    rig_init(&r, routes, COUNT(routes));
    r.o.timeout_ms = 200;
    rig_start(&r);
    for (size_t i = 0; i < COUNT(routes); i++) {
        int64_t before = clock_mono();
        struct report *p = rig_ask(&r, routes[i].path);

        assert_outcome(p, want[i].status, want[i].reason);
        ck_assert_int_eq(p->done.outcome.http_status, want[i].http_status);
        ck_assert_int_eq(p->done.transient, want[i].reason == REASON_TIMEOUT);
        ck_assert(!p->done.host.unreachable);
        ck_assert_int_ge(clock_mono() - before, 200 * NS_PER_MS);
        if (i == 0)
            ck_assert_uint_eq(p->done.found_count, 1);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

#define CODED_HEAD(coding, length)                                             \
    OK_HTML "Content-Encoding: " coding "\r\nContent-Length: " length "\r\n\r" \
            "\n"
#define CODED(path, coding, NAME)                                              \
    {                                                                          \
        path, CODED_HEAD(coding, NAME##_LENGTH) NAME##_BODY,                   \
            .len = sizeof(CODED_HEAD(coding, NAME##_LENGTH) NAME##_BODY) - 1   \
    }

/* The same page in every coding. */
START_TEST(content_codings_are_decoded)
{
    struct route routes[] = {
        CODED("/gzip", "gzip", GZIP),
        CODED("/x-gzip", "x-gzip", GZIP),
        CODED("/deflate", "deflate", DEFLATE),
        CODED("/raw", "deflate", RAW_DEFLATE), /* as some servers mean it */
        CODED("/br", "br", BROTLI),
        CODED("/zstd", "zstd", ZSTD),
    };
    struct rig r;

    rig_init(&r, routes, COUNT(routes));
    rig_start(&r);
    for (size_t i = 0; i < COUNT(routes); i++) {
        struct report *p = rig_ask(&r, routes[i].path);

        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        ck_assert_msg(p->done.row.body_bytes == CODED_LENGTH, "%s",
                      routes[i].path);
        ck_assert_uint_eq(p->done.found_count, 1);
        report_free(p);
    }
    ck_assert_ptr_nonnull(
        strstr(r.server.head, "Accept-Encoding: deflate, gzip, br, zstd"));
    rig_fini(&r);
}
END_TEST

START_TEST(what_does_not_decode_is_fetched_as_bad_encoding)
{
    struct route routes[] = {
        {"/none", OK_HTML "Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\n"
                          "not gzip!"},
        {"/strange", OK_HTML "Content-Encoding: strange\r\n"
                             "Content-Length: 3\r\n\r\nabc"},
        CODED("/broken", "gzip", BROKEN),
    };
    struct rig r;

    rig_init(&r, routes, COUNT(routes));
    rig_start(&r);
    for (size_t i = 0; i < COUNT(routes); i++) {
        struct report *p = rig_ask(&r, routes[i].path);

        assert_outcome(p, OUTCOME_FETCHED, REASON_BAD_ENCODING);
        ck_assert(!p->done.transient);
        if (i == 2) /* what was decoded before is read */
            ck_assert_uint_eq(p->done.found_count, 1);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

/* The last octets are missing, and Content-Length or the last chunk agree. */
START_TEST(a_coding_that_ends_too_early_is_bad_encoding_whatever_its_length)
{
#define SHORT(path, coding, length, body)                                      \
    {                                                                          \
        path, CODED_HEAD(coding, length) body,                                 \
            .len = sizeof(CODED_HEAD(coding, length) body) - 9                 \
    }
#define CHUNKED                                                                \
    OK_HTML "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"     \
            "2a\r\n" GZIP_BODY
    char chunked[sizeof CHUNKED + 8];
    struct route routes[] = {
        SHORT("/gzip", "gzip", "42", GZIP_BODY),
        SHORT("/deflate", "deflate", "30", DEFLATE_BODY),
        SHORT("/br", "br", "26", BROTLI_BODY),
        SHORT("/zstd", "zstd", "44", ZSTD_BODY),
        {"/chunked", chunked, .len = sizeof CHUNKED - 9 + 7},
    };
    struct rig r;

    memcpy(chunked, CHUNKED, sizeof CHUNKED - 9);
    memcpy(chunked + sizeof CHUNKED - 9, "\r\n0\r\n\r\n", 8);
    rig_init(&r, routes, COUNT(routes));
    rig_start(&r);
    for (size_t i = 0; i < COUNT(routes); i++) {
        struct report *p = rig_ask(&r, routes[i].path);

        assert_outcome(p, OUTCOME_FETCHED, REASON_BAD_ENCODING);
        ck_assert(!p->done.transient);
        ck_assert(
            bytes_is(p->done.row.detail, "the content coding ends too early"));
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

/* Neither of an error page nor of an answer without a body. */
START_TEST(a_coding_matters_only_where_a_body_does)
{
    struct route routes[] = {
        {"/404", "HTTP/1.1 404 No\r\nContent-Encoding: gzip\r\n"
                 "Content-Length: 9\r\n\r\nnot gzip!"},
        {"/strange", "HTTP/1.1 404 No\r\nContent-Encoding: strange\r\n"
                     "Content-Length: 3\r\n\r\nabc"},
        {"/none", OK_HTML "Content-Encoding: gzip\r\n" EMPTY},
    };
    struct rig r;

    rig_init(&r, routes, COUNT(routes));
    rig_start(&r);
    for (size_t i = 0; i < COUNT(routes); i++) {
        struct report *p = rig_ask(&r, routes[i].path);

        if (i < 2)
            assert_outcome(p, OUTCOME_FAILED, REASON_HTTP);
        else
            assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

START_TEST(broken_connections_are_resets_and_broken_http_is_protocol)
{
    struct route routes[] = {
        {"/nothing", "", .after = CLOSE},
        {"/reset", OK_HTML "Content-Length: 100\r\n\r\nabc", .after = RESET},
        {"/short", OK_HTML "Content-Length: 100\r\n\r\nabc", .after = CLOSE},
        {"/half", "HTTP/1.1 200 OK\r\nContent-Ty", .after = RESET},
        {"/cut", OK_HTML "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
         .after = CLOSE},
        {"/garbage", "hello, world\r\n\r\n", .after = CLOSE},
        {"/chunk", OK_HTML "Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n",
         .after = CLOSE},
        {"/status", "HTTP/1.1 2x0 OK\r\n\r\n", .after = CLOSE},
        {"/huge", "HTTP/1.1 200 OK\r\nX: y", .after = CLOSE, .repeat = 400000,
         .repeat_len = 1},
        {"/many", "HTTP/1.1 200 OK\r\nX-Field: y\r\n", .after = CLOSE,
         .repeat = 30000, .repeat_len = 12},
    };
    struct rig r;

    rig_init(&r, routes, COUNT(routes));
    rig_start(&r);
    for (size_t i = 0; i < COUNT(routes); i++) {
        struct report *p = rig_ask(&r, routes[i].path);
        bool reset = i < 5;

        ck_assert_msg(p->done.outcome.status == OUTCOME_FAILED &&
                          p->done.outcome.reason ==
                              (reset ? REASON_RESET : REASON_PROTOCOL),
                      "%s: %s %s: %.*s", routes[i].path,
                      outcome_status_name(p->done.outcome.status),
                      outcome_reason_name(p->done.outcome.reason),
                      (int)p->done.row.detail.len, p->done.row.detail.at);
        ck_assert_int_eq(p->done.transient, reset);
        ck_assert(!p->done.host.unreachable);
        ck_assert_uint_gt(p->done.row.detail.len, 0);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

START_TEST(hosts_that_cannot_be_reached_say_how)
{
    static const struct {
        const char *url;
        enum outcome_reason reason;
        bool transient;
    } cases[] = {
        {"http://127.0.0.1:1/", REASON_CONNECT, true},
        {"http://no-such-host.invalid/", REASON_DNS, true},
        {"http://a*b.invalid/", REASON_DNS, false}, /* no host name to curl */
    };
    struct report *p;
    struct rig r;

    rig_init(&r, NULL, 0);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(cases); i++) {
        p = rig_ask_url(&r, cases[i].url);
        assert_outcome(p, OUTCOME_FAILED, cases[i].reason);
        ck_assert_int_eq(p->done.transient, cases[i].transient);
        ck_assert(p->done.host.unreachable);
        ck_assert_int_eq(p->done.outcome.http_status, 0);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

START_TEST(a_server_that_speaks_no_tls_or_nothing_fails_by_tls)
{
    static const char *const greetings[] = {"no TLS here\r\n", ""};
    char url[64];

    for (size_t i = 0; i < COUNT(greetings); i++) {
        struct rig r;
        struct report *p;

        rig_init(&r, NULL, 0);
        r.server.greeting = greetings[i];
        r.o.connect_timeout_ms = 300;
        rig_start(&r);
        snprintf(url, sizeof url, "https://127.0.0.1:%u/", r.server.port);
        p = rig_ask_url(&r, url);
        assert_outcome(p, OUTCOME_FAILED, REASON_TLS);
        ck_assert(p->done.transient && p->done.host.unreachable);
        report_free(p);
        rig_fini(&r);
    }
}
END_TEST

/* A listener whose backlog is full answers no SYN. */
START_TEST(a_connection_that_is_not_answered_in_time_is_unreachable)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0), filler[8];
    struct rig r;
    struct report *p;
    char url[64];

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    ck_assert_int_eq(listen(fd, 0), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    for (size_t i = 0; i < COUNT(filler); i++) {
        filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(filler[i], (struct sockaddr *)&a, sizeof a);
    }
    rig_init(&r, NULL, 0);
    r.o.connect_timeout_ms = 200;
    rig_start(&r);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", ntohs(a.sin_port));
    p = rig_ask_url(&r, url);
    assert_outcome(p, OUTCOME_FAILED, REASON_CONNECT);
    ck_assert(p->done.transient && p->done.host.unreachable);
    report_free(p);
    rig_fini(&r);
    for (size_t i = 0; i < COUNT(filler); i++)
        close(filler[i]);
    close(fd);
}
END_TEST

/* ---- redirects ----------------------------------------------------------- */

#define MOVED "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n"

START_TEST(a_redirect_sends_its_target_on_as_a_url_of_its_own)
{
    static const int statuses[] = {300, 301, 302, 303, 307, 308};
    struct route route = {"/a/b"};
    char answer[COUNT(statuses)][100];
    struct rig r;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(statuses); i++) {
        struct report *p;

        snprintf(answer[i], sizeof answer[i],
                 "HTTP/1.1 %d Moved\r\nLocation: ../c?x#y\r\n" EMPTY,
                 statuses[i]);
        tiny_answer(&r.server, &route, answer[i]);
        rig_give_lease(&r, (struct engine_lease){.depth = 3, .hops = 2},
                       rig_url(&r, "127.0.0.1", "/a/b"));
        p = rig_receive(&r);
        assert_outcome(p, OUTCOME_REDIRECT, REASON_NONE);
        ck_assert_uint_eq(p->done.found_count, 1);
        assert_bytes(p->done.found[0].url, rig_url(&r, "127.0.0.1", "/c?x"));
        ck_assert_uint_eq(p->done.found[0].depth, 3);
        ck_assert_uint_eq(p->done.found[0].hops, 3);
        ck_assert_uint_eq(p->done.found[0].kind, LINK_REDIRECT);
        ck_assert_uint_eq(p->done.row.links, 0);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

START_TEST(redirects_that_lead_nowhere_say_why)
{
    static const struct {
        const char *answer;
        enum outcome_reason reason;
    } cases[] = {
        {MOVED "\r\n", REASON_REDIRECT_INVALID},
        {MOVED "Location:\r\n\r\n", REASON_REDIRECT_INVALID},
        {MOVED "Location: ftp://x/\r\n\r\n", REASON_REDIRECT_INVALID},
        {MOVED "Location: http://[bad/\r\n\r\n", REASON_REDIRECT_INVALID},
        {MOVED "Location: /%61#top\r\n\r\n", REASON_REDIRECT_LOOP},
        {"HTTP/1.1 305 Use Proxy\r\nLocation: /p\r\n" EMPTY,
         REASON_REDIRECT_INVALID},
    };
    struct route route = {"/a"};
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(cases); i++) {
        tiny_answer(&r.server, &route, cases[i].answer);
        p = rig_ask(&r, "/a");
        assert_outcome(p, OUTCOME_REDIRECT, cases[i].reason);
        ck_assert_uint_eq(p->done.found_count, 0);
        report_free(p);
    }
    tiny_answer(&r.server, &route, MOVED "Location: /next\r\n\r\n");
    rig_give_lease(&r, (struct engine_lease){.hops = 5},
                   rig_url(&r, "127.0.0.1", "/a"));
    p = rig_receive(&r);
    assert_outcome(p, OUTCOME_REDIRECT, REASON_REDIRECT_LIMIT);
    ck_assert_uint_eq(p->done.found_count, 0);
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(a_redirect_out_of_scope_is_a_drop_unless_a_seed_makes_it)
{
    struct route route = {"/a", MOVED "Location: http://other.test/\r\n\r\n"};
    struct rig r;
    struct report *p;
    struct url seed;

    rig_init(&r, &route, 1);
    r.so.mode = SCOPE_HOST;
    rig_start(&r);
    url_init(&seed);
    ck_assert_int_eq(url_canonical(&seed,
                                   bytes_of_str(rig_url(&r, "127.0.0.1", "/")),
                                   NULL, NULL),
                     URL_OK);
    scope_add_seed(r.o.scope, &seed);
    url_fini(&seed);
    p = rig_ask(&r, "/a");
    assert_outcome(p, OUTCOME_REDIRECT, REASON_REDIRECT_SCOPE);
    ck_assert_uint_eq(p->done.found_count, 0);
    ck_assert_uint_eq(p->done.drop_count, 1);
    ck_assert_int_eq(p->done.drops[0].reason, REASON_SCOPE);
    assert_bytes(p->done.drops[0].host, "other.test");
    assert_bytes(p->done.drops[0].url, "http://other.test/");
    report_free(p);
    rig_give_lease(&r, (struct engine_lease){.depth = 0},
                   rig_url(&r, "127.0.0.1", "/a"));
    p = rig_receive(&r);
    assert_outcome(p, OUTCOME_REDIRECT, REASON_NONE);
    ck_assert_uint_eq(p->done.found_count, 1);
    ck_assert_uint_eq(p->done.found[0].depth, 0);
    report_free(p);
    rig_fini(&r);
}
END_TEST

/* ---- links --------------------------------------------------------------- */

static size_t drops_of(const struct report *p, enum outcome_reason reason)
{
    size_t n = 0;

    for (size_t i = 0; i < p->done.drop_count; i++)
        n += p->done.drops[i].reason == reason;
    return n;
}

START_TEST(each_link_is_an_item_once_or_a_drop_with_its_reason)
{
    struct route route = {"/",
                          OK_HTML
                          "\r\n"
                          "<a href=/a>1</a><a href='/%61#x'>same</a>"
                          "<a href=/no rel=nofollow>2</a><img src=/i.png>"
                          "<a href=http://out.test/>3</a>"
                          "<a href=/excluded>4</a><a href=mailto:x@y>5</a>"
                          "<form action=/f></form>",
                          .after = CLOSE};
    const char *exclude = "excluded$";
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    r.so.exclude = &exclude;
    r.so.exclude_count = 1;
    r.so.mode = SCOPE_HOST;
    rig_start(&r);
    {
        struct url seed;

        url_init(&seed);
        ck_assert_int_eq(
            url_canonical(&seed, bytes_of_str(rig_url(&r, "127.0.0.1", "/")),
                          NULL, NULL),
            URL_OK);
        scope_add_seed(r.o.scope, &seed);
        url_fini(&seed);
    }
    p = rig_ask(&r, "/");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    ck_assert_uint_eq(p->done.found_count, 1);
    assert_bytes(p->done.found[0].url, rig_url(&r, "127.0.0.1", "/a"));
    ck_assert_uint_eq(drops_of(p, REASON_NOFOLLOW), 1);
    ck_assert_uint_eq(drops_of(p, REASON_KIND), 2); /* img and form */
    ck_assert_uint_eq(drops_of(p, REASON_SCOPE), 1);
    ck_assert_uint_eq(drops_of(p, REASON_EXCLUDE), 1);
    ck_assert_uint_eq(p->done.drop_count, 5);
    ck_assert_uint_eq(p->done.row.links, 7);
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(a_page_gives_no_more_links_than_are_taken)
{
    struct route route = {"/",
                          OK_HTML "\r\n<a href=/1></a><a href=/2></a>"
                                  "<a href=/1></a><a href=/2#x></a>"
                                  "<a href=/3></a><a href=/4></a>",
                          .after = CLOSE};
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    r.o.links_most = 2;
    rig_start(&r);
    p = rig_ask(&r, "/");
    assert_outcome(p, OUTCOME_FETCHED, REASON_LINK_COUNT);
    ck_assert_uint_eq(p->done.found_count, 2);
    ck_assert_uint_eq(p->done.drop_count, 1); /* which names the page */
    ck_assert_int_eq(p->done.drops[0].reason, REASON_LINK_COUNT);
    assert_bytes(p->done.drops[0].url, rig_url(&r, "127.0.0.1", "/"));
    report_free(p);
    tiny_answer(&r.server, &route,
                OK_HTML "\r\n<a href=/1></a><a href=/2></a><a href=/1></a>");
    p = rig_ask(&r, "/");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    ck_assert_uint_eq(p->done.found_count, 2);
    ck_assert_uint_eq(p->done.drop_count, 0);
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(noindex_skips_the_page_and_nofollow_its_links)
{
    static const struct {
        const char *answer;
        enum outcome_status status;
        size_t found;
    } cases[] = {
        {OK_HTML "X-Robots-Tag: noindex\r\n\r\n<a href=/a>a</a>",
         OUTCOME_SKIPPED, 1},
        {OK_HTML "X-Robots-Tag: all\r\nX-Robots-Tag: urlweir: nofollow\r\n"
                 "\r\n<a href=/a>a</a>",
         OUTCOME_FETCHED, 0},
        {OK_HTML "X-Robots-Tag: otherbot: none\r\n\r\n<a href=/a>a</a>",
         OUTCOME_FETCHED, 1},
        {OK_HTML "\r\n<meta name=robots content=none><a href=/a>a</a>",
         OUTCOME_SKIPPED, 0},
        {OK_HTML "\r\n<meta name=urlweir content=noindex><a href=/a>a</a>",
         OUTCOME_SKIPPED, 1},
    };
    struct route route = {"/", .after = CLOSE};
    struct rig r;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct report *p;

        tiny_answer(&r.server, &route, cases[i].answer);
        p = rig_ask(&r, "/");
        assert_outcome(p, cases[i].status,
                       cases[i].status == OUTCOME_SKIPPED ? REASON_NOINDEX
                                                          : REASON_NONE);
        ck_assert_uint_eq(p->done.found_count, cases[i].found);
        ck_assert_uint_eq(drops_of(p, REASON_NOFOLLOW), 1 - cases[i].found);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

START_TEST(follow_nofollow_follows_what_pages_ask_not_to)
{
    struct route route = {"/",
                          OK_HTML "X-Robots-Tag: nofollow\r\n\r\n"
                                  "<a href=/a rel=nofollow>a</a>",
                          .after = CLOSE};
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    r.o.follow_nofollow = true;
    rig_start(&r);
    p = rig_ask(&r, "/");
    ck_assert_uint_eq(p->done.found_count, 1);
    ck_assert_uint_eq(p->done.drop_count, 0);
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(only_html_is_read_for_links_and_html_without_a_type_too)
{
    static const struct {
        const char *answer;
        size_t found;
        const char *mime;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
         "<html><a href=/a>a</a>",
         0, "text/plain"},
        {"HTTP/1.1 200 OK\r\nContent-Type: APPLICATION/XHTML+XML\r\n\r\n"
         "<html><a href='/a'>a</a></html>",
         1, "application/xhtml+xml"},
        {"HTTP/1.1 200 OK\r\n\r\n  <!doctype html><a href=/a>a</a>", 1,
         "text/html"},
        {"HTTP/1.1 200 OK\r\nContent-Type: nonsense\r\n\r\n"
         "<HTML><a href=/a>a</a>",
         1, "text/html"},
        {"HTTP/1.1 200 OK\r\n\r\nplain <a href=/a>a</a>", 0, ""},
    };
    struct route route = {"/", .after = CLOSE};
    struct rig r;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct report *p;

        tiny_answer(&r.server, &route, cases[i].answer);
        p = rig_ask(&r, "/");
        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        ck_assert_msg(p->done.found_count == cases[i].found, "%s",
                      cases[i].answer);
        assert_bytes(p->done.row.mime, cases[i].mime);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

START_TEST(sitemaps_and_feeds_are_read_for_their_entries)
{
#define SITEMAP "<urlset><url><loc>http://x.test/a</loc></url></urlset>"
    static const struct {
        const char *answer;
        enum link_kind found_as, kind;
        size_t found;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n" SITEMAP,
         LINK_A, LINK_LISTED, 1},
        {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
         "http://x.test/a\n",
         LINK_A, LINK_LISTED, 0},
        {"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n\r\n"
         "<rss><channel><item><link>http://x.test/a</link></item></channel>"
         "</rss>",
         LINK_FEED, LINK_LISTED, 1},
        {"HTTP/1.1 200 OK\r\nContent-Type: image/svg+xml\r\n\r\n"
         "<svg><a href='http://x.test/a'/></svg>",
         LINK_A, LINK_A, 0},
    };
    struct route route = {"/", .after = CLOSE};
    struct rig r;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct report *p;

        tiny_answer(&r.server, &route, cases[i].answer);
        rig_give_lease(&r,
                       (struct engine_lease){.kind = (uint8_t)cases[i].found_as,
                                             .depth = 4},
                       rig_url(&r, "127.0.0.1", "/"));
        p = rig_receive(&r);
        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        ck_assert_msg(p->done.found_count == cases[i].found, "%s",
                      cases[i].answer);
        if (cases[i].found > 0) {
            assert_bytes(p->done.found[0].url, "http://x.test/a");
            ck_assert_uint_eq(p->done.found[0].kind, cases[i].kind);
            ck_assert_uint_eq(p->done.found[0].depth, 5);
            /* a feed quotes whom it likes, a sitemap speaks for its host */
            ck_assert_uint_eq(p->elsewhere, cases[i].found_as == LINK_A);
        }
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

START_TEST(links_of_the_head_are_followed_where_that_kind_is_asked_for)
{
    struct route route = {"/",
                          OK_HTML "Link: </a>; rel=next, </b>; rel=nofollow\r\n"
                                  "Link: </c>\r\nContent-Location: /d\r\n"
                                  "Refresh: 5; url=/e\r\n" EMPTY};
    struct rig r;
    struct report *p = ask_route(&r, &route);

    ck_assert_uint_eq(p->done.found_count, 0);
    report_free(p);
    rig_fini(&r);

    rig_init(&r, &route, 1);
    r.o.kinds |= LINK_BIT(LINK_HEADER);
    rig_start(&r);
    p = rig_ask(&r, "/");
    ck_assert_uint_eq(p->done.found_count, 4);
    ck_assert_uint_eq(drops_of(p, REASON_NOFOLLOW), 1);
    ck_assert_uint_eq(p->done.row.links, 5);
    assert_bytes(p->done.found[3].url, rig_url(&r, "127.0.0.1", "/e"));
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(types_that_are_not_accepted_are_given_up_at_the_head)
{
    static const char *const mime[] = {"text/html", "image/"};
    struct route routes[] = {
        {"/html", OK_HTML EMPTY},
        {"/png", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n" EMPTY},
        {"/short", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                   "Content-Length: 3\r\n\r\nabc"},
        {"/unnamed", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"},
        {"/404", "HTTP/1.1 404 No\r\nContent-Type: text/plain\r\n" EMPTY},
        {"/long", "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\nmovie",
         .after = STALL},
    };
    static const struct outcome want[] = {
        {OUTCOME_FETCHED, REASON_NONE, 200},
        {OUTCOME_FETCHED, REASON_NONE, 200},
        {OUTCOME_SKIPPED, REASON_MIME, 200},
        {OUTCOME_SKIPPED, REASON_MIME, 200},
        {OUTCOME_FAILED, REASON_HTTP, 404},
        {OUTCOME_SKIPPED, REASON_MIME, 200},
    };
    struct rig r;

    rig_init(&r, routes, COUNT(routes));
    r.o.mime = mime;
    r.o.mime_count = COUNT(mime);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(routes); i++) {
        struct report *p = rig_ask(&r, routes[i].path);

        assert_outcome(p, want[i].status, want[i].reason);
        report_free(p);
    }
    /* Short bodies were read on, for the connection's sake. */
    ck_assert_uint_eq(r.server.connections, 1);
    rig_fini(&r);
}
END_TEST

/* ---- the guard, memory, rate --------------------------------------------- */

START_TEST(no_address_the_guard_refuses_is_asked_whatever_its_spelling)
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
END_TEST

START_TEST(a_name_that_resolves_to_a_refused_address_is_not_asked)
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
END_TEST

START_TEST(behind_a_proxy_addresses_in_urls_are_still_refused)
{
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
    p = rig_ask_url(&r, "http://[::1]/");
    assert_outcome(p, OUTCOME_SKIPPED, REASON_ADDRESS);
    report_free(p);
    ck_assert_uint_eq(r.server.requests, 1);
    rig_fini(&r);
}
END_TEST

START_TEST(the_environment_sends_no_request_elsewhere)
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
END_TEST

/* 64 MiB of white space in a few KB: the limit holds after decoding. */
START_TEST(a_gzip_bomb_stays_within_the_limit)
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
    ck_assert_uint_lt(mem_resident() - before, 16 << 20);
    report_free(p);
    rig_fini(&r);
}
END_TEST

#define TEN "          "
#define PLAIN_BODY                                                             \
    OK_HTML "Content-Length: 300000\r\n\r\n" TEN TEN TEN TEN TEN TEN TEN TEN   \
        TEN TEN

/* Ten hosts, each with the same body, through a pool that is too small for
 * two: each comes whole, and the pool is never over by more than one body. */
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

START_TEST(bodies_wait_for_each_other_when_memory_is_short)
{
    struct route route = {"/", PLAIN_BODY, .repeat = 2999, .repeat_len = 100};

    fetch_through_a_small_pool(&route, 300000, REASON_NONE);
}
END_TEST

START_TEST(decoded_bodies_wait_for_each_other_too)
{
    static const char answer[] =
        OK_HTML "Content-Encoding: gzip\r\n\r\n" BOMB_HEAD BOMB_SPACES;
    struct route route = {"/",
                          answer,
                          .len = sizeof answer - 1,
                          .after = CLOSE,
                          .repeat = 30,
                          .repeat_len = sizeof BOMB_SPACES - 1};

    /* The stream has no end, which nobody knows before the last octet. */
    fetch_through_a_small_pool(&route, 31 * 16384, REASON_BAD_ENCODING);
}
END_TEST

/* Bodies of 300,000 octets at 400,000 a second, as many of them free. */
START_TEST(time_spent_waiting_for_the_rate_limit_does_not_count)
{
    struct route route = {"/", PLAIN_BODY, .repeat = 2999, .repeat_len = 100};
    int64_t before = clock_mono(), took;
    struct rig r;

    rig_init(&r, &route, 1);
    rig_resolve_all(&r);
    r.o.rate = rate_limit_new(400000);
    r.o.timeout_ms = 400;
    rig_start(&r);
    for (int i = 0; i < 8; i++) {
        char host[32];

        snprintf(host, sizeof host, "h%d.test", i % 3);
        rig_give(&r, rig_url(&r, host, "/"));
    }
    for (int i = 0; i < 8; i++) {
        struct report *p = rig_receive(&r);

        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        report_free(p);
    }
    took = clock_mono() - before;
    /* Longer than the limit of time, so the test is about something. */
    ck_assert_int_ge(took, r.o.timeout_ms * NS_PER_MS);
    rig_fini(&r);
}
END_TEST

#define LINKED_BODY(length)                                                    \
    OK_HTML                                                                    \
    "Content-Length: " length                                                  \
    "\r\n\r\n<a href=/linked>x</a>" TEN TEN TEN TEN TEN TEN TEN TEN TEN        \
    "        "

/* Three pages of 60,000 octets at 40,000 a second, at once: each of them alone
 * takes longer than its limit of time. */
START_TEST(a_low_rate_limit_lets_no_page_fail)
{
    struct route route = {"/", LINKED_BODY("60000"), .repeat = 599,
                          .repeat_len = 100};
    int64_t before = clock_mono(), took;
    struct rig r;

    rig_init(&r, &route, 1);
    rig_resolve_all(&r);
    r.o.rate = rate_limit_new(40000);
    r.o.timeout_ms = 1000;
    rig_start(&r);
    for (int i = 0; i < 3; i++) {
        char host[32];

        snprintf(host, sizeof host, "h%d.test", i);
        rig_give(&r, rig_url(&r, host, "/"));
    }
    for (int i = 0; i < 3; i++) {
        struct report *p = rig_receive(&r);

        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        ck_assert_uint_eq(p->done.row.body_bytes, 60000);
        ck_assert_uint_eq(p->done.found_count, 1);
        report_free(p);
    }
    took = clock_mono() - before;
    ck_assert_int_ge(took, (180000 - 40000) * NS_PER_S / 40000);
    rig_fini(&r);
}
END_TEST

/* Three pages at once bring two seconds more than may come; one that is asked
 * for then is understood like any other, and so are its links. */
START_TEST(a_page_asked_for_over_the_rate_limit_keeps_its_head_and_links)
{
    struct route routes[] = {{"/long", LINKED_BODY("17000"), .repeat = 169,
                              .repeat_len = 100},
                             {"/short", LINKED_BODY("1000"), .repeat = 9,
                              .repeat_len = 100}};
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
    usleep(300000);
    late = rig_give(&r, rig_url(&r, "late.test", "/short"));
    for (int i = 0; i < 4; i++) {
        struct report *p = rig_receive(&r);

        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        assert_bytes(p->done.row.mime, "text/html");
        ck_assert_uint_eq(p->done.row.body_bytes, p->id == late ? 1000 : 17000);
        ck_assert_uint_eq(p->done.found_count, 1);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

/* Heads have no body to wait with; the next request waits instead. */
START_TEST(answers_without_a_body_keep_to_the_rate_limit_too)
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
    /* All but the last were paid for before it was asked for. */
    ck_assert_int_ge(took,
                     (19 * (int64_t)strlen(answer) - 1000) * NS_PER_S / 1000);
    rig_fini(&r);
}
END_TEST

/* At an octet a second, twelve bodies of 300,000 octets would take weeks. */
START_TEST(a_rate_limit_that_is_lifted_holds_nobody_any_longer)
{
    struct route route = {"/", PLAIN_BODY, .repeat = 2999, .repeat_len = 100};
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
    usleep(300000);
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
END_TEST

/* ---- connections --------------------------------------------------------- */

START_TEST(one_transfer_at_a_time_for_one_queue_in_order)
{
    struct route route = {"/", OK_HTML EMPTY, .delay_ms = 20};
    struct rig r;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (int i = 0; i < 10; i++)
        rig_give(&r, rig_url(&r, "127.0.0.1", "/"));
    for (uint64_t i = 1; i <= 10; i++) {
        struct report *p = rig_receive(&r);

        ck_assert_uint_eq(p->id, i);
        report_free(p);
    }
    ck_assert_uint_eq(r.server.connections, 1);
    rig_fini(&r);
}
END_TEST

START_TEST(conns_per_host_are_used_at_once)
{
    struct route route = {"/", OK_HTML EMPTY, .delay_ms = 50};
    struct rig r;

    rig_init(&r, &route, 1);
    r.o.conns_per_host = 3;
    rig_start(&r);
    for (int i = 0; i < 9; i++)
        rig_give(&r, rig_url(&r, "127.0.0.1", "/"));
    for (int i = 0; i < 9; i++)
        report_free(rig_receive(&r));
    ck_assert_uint_eq(r.server.open_most, 3);
    rig_fini(&r);
}
END_TEST

/* Sixteen names of one address, of which four may be connected: idle
 * connections make way, and whoever finds no place is given back. */
START_TEST(an_address_has_no_more_connections_than_allowed)
{
    enum { HOSTS = 16, ROUNDS = 4 };
    struct route route = {"/", OK_HTML EMPTY, .delay_ms = 2};
    int host_of[100000], left[HOSTS], to_go = HOSTS * ROUNDS;
    struct rig r;
    char host[32];

    rig_init(&r, &route, 1);
    rig_resolve_all(&r);
    r.o.ip_limit = ip_limit_new(4);
    rig_start(&r);
    for (int i = 0; i < HOSTS; i++) {
        left[i] = ROUNDS;
        snprintf(host, sizeof host, "h%d.test", i);
        host_of[rig_give(&r, rig_url(&r, host, "/"))] = i;
    }
    while (to_go > 0) {
        struct report *p = rig_receive(&r);
        int h = host_of[p->id];

        if (p->kind == REPORT_RELEASE) {
            ck_assert_int_gt(p->not_before, clock_mono());
            ck_assert_int_eq(p->done.host.ended, 0);
            usleep(500);
        } else {
            assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
            left[h]--;
            to_go--;
        }
        report_free(p);
        snprintf(host, sizeof host, "h%d.test", h);
        if (left[h] > 0)
            host_of[rig_give(&r, rig_url(&r, host, "/"))] = h;
    }
    ck_assert_uint_le(r.server.open_most, 4);
    ck_assert_uint_eq(r.server.requests, HOSTS * ROUNDS);
    rig_fini(&r);
}
END_TEST

/* ---- robots.txt ---------------------------------------------------------- */

#define RULES                                                                  \
    "HTTP/1.1 200 OK\r\nContent-Length: 75\r\n\r\n"                            \
    "User-agent: urlweir\nDisallow: /private\nCrawl-delay: 2.5\n"              \
    "Allow: /private/ok\n"

START_TEST(robots_txt_comes_first_and_its_url_is_given_back)
{
    struct route routes[] = {{"/robots.txt", RULES},
                             {"/a", OK_HTML EMPTY},
                             {"/private/ok", OK_HTML EMPTY},
                             {"/private/x", OK_HTML EMPTY}};
    struct rig r;
    struct report *p;

    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_OBEY;
    rig_start(&r);
    p = rig_ask(&r, "/a");
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    ck_assert_int_gt(p->done.host.ended, 0);
    ck_assert_int_eq(p->done.host.crawl_delay_ms, 2500);
    ck_assert_ptr_nonnull(p->done.host.robots);
    ck_assert_uint_eq(p->done.host.robots->http_status, 200);
    assert_bytes(p->done.host.robots->origin, rig_url(&r, "127.0.0.1", ""));
    ck_assert_uint_eq(p->done.host.robots->body.len, 75);
    report_free(p);
    ck_assert_uint_eq(routes[1].asked, 0);
    p = rig_ask(&r, "/a");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    ck_assert_int_eq(p->done.host.crawl_delay_ms, 2500);
    report_free(p);
    p = rig_ask(&r, "/private/ok");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    p = rig_ask(&r, "/private/x");
    assert_outcome(p, OUTCOME_DENIED, REASON_ROBOTS);
    assert_bytes(p->done.row.detail, "Disallow: /private");
    ck_assert_int_eq(p->done.host.ended, 0); /* nothing was sent */
    report_free(p);
    ck_assert_uint_eq(routes[0].asked, 1);
    ck_assert_uint_eq(routes[3].asked, 0);
    rig_fini(&r);
}
END_TEST

/* "User-agent: *", "Disallow: /no", by gzip(1). */
#define GZIPPED_RULES                                                          \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x0b\x2d\x4e\x2d\xd2"             \
    "\x4d\x4c\x4f\xcd\x2b\xb1\x52\xd0\xe2\x72\xc9\x2c\x4e\xcc\xc9"             \
    "\xc9\x2f\xb7\x52\xd0\xcf\xcb\xe7\x02\x00\x6f\x0a\x2d\x24\x1c"             \
    "\x00\x00\x00"
#define GZIPPED_RULES_LENGTH "48"

START_TEST(robots_txt_is_read_whatever_its_type_and_coding)
{
    static const char coded[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip"
        "\r\nContent-Length: " GZIPPED_RULES_LENGTH "\r\n\r\n" GZIPPED_RULES;
    struct route routes[] = {
        {"/robots.txt", coded, .len = sizeof coded - 1},
        {"/yes", OK_HTML EMPTY},
    };
    const char *only = "text/html"; /* --mime is about pages */
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
END_TEST

START_TEST(a_url_its_robots_txt_denies_is_denied_at_once)
{
    struct route routes[] = {{"/robots.txt", RULES}};
    struct rig r;
    struct report *p;

    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_OBEY;
    rig_start(&r);
    p = rig_ask(&r, "/private/x");
    assert_outcome(p, OUTCOME_DENIED, REASON_ROBOTS);
    ck_assert_int_gt(p->done.host.ended, 0);
    ck_assert_ptr_nonnull(p->done.host.robots);
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(all_that_wait_for_one_robots_txt_are_given_back)
{
    struct route routes[] = {{"/robots.txt", RULES, .delay_ms = 50}};

    for (uint32_t conns = 1; conns <= 3; conns += 2) {
        struct rig r;

        routes[0].asked = 0;
        rig_init(&r, routes, COUNT(routes));
        r.o.robots = ROBOTS_OBEY;
        r.o.conns_per_host = conns;
        rig_start(&r);
        for (int i = 0; i < 5; i++)
            rig_give(&r, rig_url(&r, "127.0.0.1", "/a"));
        for (int i = 0; i < 5; i++) {
            struct report *p = rig_receive(&r);

            ck_assert_int_eq(p->kind, REPORT_RELEASE);
            report_free(p);
        }
        ck_assert_uint_eq(routes[0].asked, 1);
        rig_fini(&r);
    }
}
END_TEST

/* Asks until the URL is not given back any more. Between two requests, the
 * frontier keeps the delay of the queue. */
static struct report *ask_to_the_end(struct rig *r, const char *path,
                                     unsigned *asked)
{
    for (*asked = 1;; ++*asked) {
        struct report *p = rig_ask(r, path);

        ck_assert_uint_eq(r->server.requests, *asked);
        if (p->kind == REPORT_DONE)
            return p;
        ck_assert_int_gt(p->done.host.ended, 0);
        ck_assert_int_eq(p->not_before, 0);
        report_free(p);
    }
}

START_TEST(rfc9309_2_3_1_2_redirects_of_robots_txt_are_followed_five_times)
{
    struct route routes[] = {
        {"/robots.txt", MOVED "Location: /1\r\n\r\n"},
        {"/1", MOVED "Location: /2\r\n\r\n"},
        {"/2", MOVED "Location: /3\r\n\r\n"},
        {"/3", MOVED "Location: /4\r\n\r\n"},
        {"/4", MOVED "Location: /5\r\n\r\n"},
        {"/5", RULES},
    };
    struct rig r;
    struct report *p;
    unsigned asked;

    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_OBEY;
    rig_start(&r);
    p = ask_to_the_end(&r, "/private/x", &asked);
    assert_outcome(p, OUTCOME_DENIED, REASON_ROBOTS);
    ck_assert_uint_eq(asked, 6);
    ck_assert_ptr_nonnull(p->done.host.robots);
    assert_bytes(p->done.host.robots->origin, rig_url(&r, "127.0.0.1", ""));
    report_free(p);
    rig_fini(&r);

    routes[5].answer = MOVED "Location: /6\r\n\r\n"; /* one too many */
    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_OBEY;
    rig_start(&r);
    p = ask_to_the_end(&r, "/private/x", &asked);
    assert_outcome(p, OUTCOME_FAILED, REASON_HTTP); /* all is allowed */
    ck_assert_uint_eq(asked, 7);
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(a_hop_of_robots_txt_is_gone_on_with_by_whoever_comes_first)
{
    struct route routes[] = {{"/robots.txt", MOVED "Location: /1\r\n\r\n"},
                             {"/1", RULES, .delay_ms = 50}};
    struct rig r;
    struct report *p;

    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_OBEY;
    r.o.conns_per_host = 2;
    rig_start(&r);
    report_free(rig_ask(&r, "/a"));
    rig_give(&r, rig_url(&r, "127.0.0.1", "/b"));
    rig_give(&r, rig_url(&r, "127.0.0.1", "/c")); /* is held meanwhile */
    for (int i = 0; i < 2; i++) {
        p = rig_receive(&r);
        ck_assert_int_eq(p->kind, REPORT_RELEASE);
        report_free(p);
    }
    ck_assert_uint_eq(r.server.requests, 2);
    report_free(rig_ask(&r, "/a"));
    ck_assert_uint_eq(r.server.requests, 3);
    ck_assert_uint_eq(routes[0].asked, 1);
    rig_fini(&r);
}
END_TEST

/* How often it is asked for is the business of its host's queue, which the
 * frontier keeps. */
START_TEST(a_hop_of_robots_txt_to_another_host_waits_for_a_lease_that_is_for_it)
{
    struct route routes[] = {{"/robots.txt", ""}, {"/r", RULES}};
    const struct engine_lease visit = {.depth = 1,
                                       .visit = bytes_of_str("other.test")};
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
        ck_assert(bytes_is(p->done.host.visits, "other.test"));
        ck_assert(i == 0 ? p->done.host.ended > 0 : p->done.host.ended == 0);
        ck_assert_uint_eq(r.server.requests, 1);
        report_free(p);
    }
    for (int i = 0; i < 2; i++) {
        rig_give_lease(&r, visit, rig_url(&r, "a.test", "/private/x"));
        p = rig_receive(&r);
        ck_assert_int_eq(p->kind, i == 0 ? REPORT_DONE : REPORT_RELEASE);
        ck_assert_uint_eq(p->done.host.visits.len, 0);
        ck_assert(i == 0 ? p->done.host.ended > 0 : p->done.host.ended == 0);
        ck_assert_uint_eq(r.server.requests, 2);
        report_free(p);
    }
    rig_fini(&r);
}
END_TEST

START_TEST(rfc9309_2_3_1_3_unavailable_robots_txt_allows_all)
{
    struct route routes[] = {{"/robots.txt", "HTTP/1.1 403 No\r\n" EMPTY},
                             {"/a", OK_HTML EMPTY}};
    struct rig r;
    struct report *p;

    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_OBEY;
    rig_start(&r);
    p = rig_ask(&r, "/a");
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    ck_assert_int_eq(p->done.host.crawl_delay_ms, -1);
    report_free(p);
    p = rig_ask(&r, "/a");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(rfc9309_2_3_1_4_unreachable_robots_txt_denies_all_for_now)
{
    struct route routes[] = {{"/robots.txt",
                              "HTTP/1.1 503 Busy\r\nRetry-After: 9\r\n" EMPTY},
                             {"/a", OK_HTML EMPTY}};
    struct rig r;
    struct report *p;

    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_OBEY;
    rig_start(&r);
    p = rig_ask(&r, "/a");
    assert_outcome(p, OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE);
    ck_assert(p->done.transient && p->done.host.unreachable);
    ck_assert(p->done.host.slow_down);
    ck_assert_int_eq(p->done.host.retry_after_ms, 9000);
    ck_assert_int_gt(p->done.host.ended, 0);
    assert_bytes(p->done.row.detail, "robots.txt: HTTP 503");
    report_free(p);
    p = rig_ask(&r, "/a"); /* too early: nothing is sent */
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    ck_assert_int_gt(p->not_before, clock_mono() + 5 * NS_PER_S);
    ck_assert_int_eq(p->done.host.ended, 0);
    report_free(p);
    ck_assert_uint_eq(routes[0].asked, 1);
    ck_assert_uint_eq(routes[1].asked, 0);
    rig_fini(&r);
}
END_TEST

/* Half a file may lack the rule that matters. */
START_TEST(a_robots_txt_that_breaks_off_counts_as_unreachable)
{
    static const char *const broken[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent: *\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n"
        "\r\nabc",
        "garbage\r\n\r\n",
    };

    for (size_t i = 0; i < COUNT(broken); i++) {
        struct route route = {"/robots.txt", broken[i], .after = CLOSE};
        struct rig r;
        struct report *p;

        rig_init(&r, &route, 1);
        r.o.robots = ROBOTS_OBEY;
        rig_start(&r);
        p = rig_ask(&r, "/a");
        assert_outcome(p, OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE);
        report_free(p);
        rig_fini(&r);
    }
}
END_TEST

START_TEST(robots_report_fetches_and_marks_what_would_be_denied)
{
    struct route routes[] = {{"/robots.txt", RULES},
                             {"/private/x", OK_HTML EMPTY}};
    struct rig r;
    struct report *p;

    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_REPORT;
    rig_start(&r);
    p = rig_ask(&r, "/private/x");
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    report_free(p);
    p = rig_ask(&r, "/private/x");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    assert_bytes(p->done.row.detail, "robots would deny: Disallow: /private");
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(robots_txt_of_an_earlier_run_is_not_asked_for_again)
{
    struct route routes[] = {{"/a", OK_HTML EMPTY}};
    struct robots_row row = {.http_status = 200};
    struct rig r;
    struct report *p;

    rig_init(&r, routes, COUNT(routes));
    r.o.robots = ROBOTS_OBEY;
    rig_start(&r);
    row.origin = bytes_of_str(rig_url(&r, "127.0.0.1", ""));
    row.body = bytes_of_str("User-agent: *\nDisallow: /b\n");
    row.fetched_at_ms = clock_wall_ms() - 1000;
    row.expires_at_ms = clock_wall_ms() + 100000;
    fetcher_know_robots(r.fetcher, &row);
    p = rig_ask(&r, "/a");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    p = rig_ask(&r, "/b");
    assert_outcome(p, OUTCOME_DENIED, REASON_ROBOTS);
    report_free(p);
    ck_assert_uint_eq(r.server.requests, 1);
    rig_fini(&r);
}
END_TEST

START_TEST(the_guard_holds_for_robots_txt_and_its_redirects)
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
END_TEST

/* ---- the end ------------------------------------------------------------- */

START_TEST(draining_finishes_what_is_under_way_and_gives_back_the_rest)
{
    struct route route = {"/", OK_HTML EMPTY, .delay_ms = 100};
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (int i = 0; i < 5; i++)
        rig_give(&r, rig_url(&r, "127.0.0.1", "/"));
    usleep(50000);
    fetcher_drain(r.fetcher);
    for (int i = 0; i < 4; i++) {
        p = rig_receive(&r);
        ck_assert_int_eq(p->kind, REPORT_RELEASE);
        ck_assert_int_eq(p->done.host.ended, 0);
        report_free(p);
    }
    p = rig_receive(&r);
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    ck_assert_uint_eq(p->id, 1);
    report_free(p);
    rig_fini(&r);
}
END_TEST

START_TEST(stopping_gives_everything_back_at_once)
{
    struct route route = {"/", OK_HTML "\r\nabc", .after = STALL};
    int64_t before;
    struct rig r;

    rig_init(&r, &route, 1);
    r.o.timeout_ms = 60000;
    rig_start(&r);
    for (int i = 0; i < 3; i++)
        rig_give(&r, rig_url(&r, "127.0.0.1", "/"));
    while (atomic_load(&fetcher_counters(r.fetcher)->requests) == 0)
        usleep(1000);
    before = clock_mono();
    fetcher_stop(r.fetcher);
    for (int i = 0; i < 3; i++) {
        struct report *p = rig_receive(&r);

        ck_assert_int_eq(p->kind, REPORT_RELEASE);
        /* A request was out for the first only. */
        ck_assert_int_eq(p->done.host.ended != 0, p->id == 1);
        report_free(p);
    }
    ck_assert_int_lt(clock_mono() - before, 30 * NS_PER_S);
    rig_fini(&r);
}
END_TEST

START_TEST(counters_say_what_was_sent_and_received)
{
    static const char answer[] = OK_HTML "Content-Length: 3\r\n\r\nabc";
    struct route route = {"/", answer};
    const struct fetcher_counters *c;
    struct rig r;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (int i = 0; i < 3; i++)
        report_free(rig_ask(&r, "/"));
    c = fetcher_counters(r.fetcher);
    ck_assert_uint_eq(atomic_load(&c->requests), 3);
    ck_assert_uint_eq(atomic_load(&c->connections), 1);
    ck_assert_uint_eq(atomic_load(&c->wire_bytes), 3 * (sizeof answer - 1));
    ck_assert_uint_eq(atomic_load(&c->active), 0);
    rig_fini(&r);
}
END_TEST

Suite *suite_fetcher(void)
{
    Suite *s = suite_create("fetcher");
    TCase *t = tcase_create("fetcher");

    tcase_set_timeout(t, 30);
    tcase_add_test(t, a_page_is_fetched_with_all_that_is_told_of_it);
    tcase_add_test(t, title_and_language_stand_in_the_row);
    tcase_add_test(t, statuses_have_the_outcome_of_the_table);
    tcase_add_test(t, retry_after_is_taken_from_429_and_5xx_only);
    tcase_add_test(t, a_body_over_the_limit_is_cut_and_what_came_is_read);
    tcase_add_test(t, a_body_cut_by_time_is_fetched_as_far_as_it_came);
    tcase_add_test(t, content_codings_are_decoded);
    tcase_add_test(t, what_does_not_decode_is_fetched_as_bad_encoding);
    tcase_add_test(
        t, a_coding_that_ends_too_early_is_bad_encoding_whatever_its_length);
    tcase_add_test(t, a_coding_matters_only_where_a_body_does);
    tcase_add_test(t,
                   broken_connections_are_resets_and_broken_http_is_protocol);
    tcase_add_test(t, hosts_that_cannot_be_reached_say_how);
    tcase_add_test(t, a_server_that_speaks_no_tls_or_nothing_fails_by_tls);
    tcase_add_test(t, a_connection_that_is_not_answered_in_time_is_unreachable);
    tcase_add_test(t, a_redirect_sends_its_target_on_as_a_url_of_its_own);
    tcase_add_test(t, redirects_that_lead_nowhere_say_why);
    tcase_add_test(t, a_redirect_out_of_scope_is_a_drop_unless_a_seed_makes_it);
    tcase_add_test(t, each_link_is_an_item_once_or_a_drop_with_its_reason);
    tcase_add_test(t, a_page_gives_no_more_links_than_are_taken);
    tcase_add_test(t, noindex_skips_the_page_and_nofollow_its_links);
    tcase_add_test(t, follow_nofollow_follows_what_pages_ask_not_to);
    tcase_add_test(t, only_html_is_read_for_links_and_html_without_a_type_too);
    tcase_add_test(t, sitemaps_and_feeds_are_read_for_their_entries);
    tcase_add_test(t,
                   links_of_the_head_are_followed_where_that_kind_is_asked_for);
    tcase_add_test(t, types_that_are_not_accepted_are_given_up_at_the_head);
    tcase_add_test(t,
                   no_address_the_guard_refuses_is_asked_whatever_its_spelling);
    tcase_add_test(t, a_name_that_resolves_to_a_refused_address_is_not_asked);
    tcase_add_test(t, behind_a_proxy_addresses_in_urls_are_still_refused);
    tcase_add_test(t, the_environment_sends_no_request_elsewhere);
    tcase_add_test(t, a_gzip_bomb_stays_within_the_limit);
    tcase_add_test(t, bodies_wait_for_each_other_when_memory_is_short);
    tcase_add_test(t, decoded_bodies_wait_for_each_other_too);
    tcase_add_test(t, time_spent_waiting_for_the_rate_limit_does_not_count);
    tcase_add_test(t, a_low_rate_limit_lets_no_page_fail);
    tcase_add_test(
        t, a_page_asked_for_over_the_rate_limit_keeps_its_head_and_links);
    tcase_add_test(t, answers_without_a_body_keep_to_the_rate_limit_too);
    tcase_add_test(t, a_rate_limit_that_is_lifted_holds_nobody_any_longer);
    tcase_add_test(t, one_transfer_at_a_time_for_one_queue_in_order);
    tcase_add_test(t, conns_per_host_are_used_at_once);
    tcase_add_test(t, an_address_has_no_more_connections_than_allowed);
    tcase_add_test(t, robots_txt_comes_first_and_its_url_is_given_back);
    tcase_add_test(t, robots_txt_is_read_whatever_its_type_and_coding);
    tcase_add_test(t, a_url_its_robots_txt_denies_is_denied_at_once);
    tcase_add_test(t, all_that_wait_for_one_robots_txt_are_given_back);
    tcase_add_test(
        t, rfc9309_2_3_1_2_redirects_of_robots_txt_are_followed_five_times);
    tcase_add_test(t,
                   a_hop_of_robots_txt_is_gone_on_with_by_whoever_comes_first);
    tcase_add_test(
        t,
        a_hop_of_robots_txt_to_another_host_waits_for_a_lease_that_is_for_it);
    tcase_add_test(t, rfc9309_2_3_1_3_unavailable_robots_txt_allows_all);
    tcase_add_test(t,
                   rfc9309_2_3_1_4_unreachable_robots_txt_denies_all_for_now);
    tcase_add_test(t, a_robots_txt_that_breaks_off_counts_as_unreachable);
    tcase_add_test(t, robots_report_fetches_and_marks_what_would_be_denied);
    tcase_add_test(t, robots_txt_of_an_earlier_run_is_not_asked_for_again);
    tcase_add_test(t, the_guard_holds_for_robots_txt_and_its_redirects);
    tcase_add_test(t,
                   draining_finishes_what_is_under_way_and_gives_back_the_rest);
    tcase_add_test(t, stopping_gives_everything_back_at_once);
    tcase_add_test(t, counters_say_what_was_sent_and_received);
    suite_add_tcase(s, t);
    return s;
}
