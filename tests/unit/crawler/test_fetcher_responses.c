/* SPDX-License-Identifier: MIT */
/* What a fetcher makes of responses: outcomes, limits, content codings. */
#include <poll.h>

#include "tests/unit/crawler/fetch/coded_bodies.h"
#include "tests/unit/crawler/fetcher_rig.h"
#include "tests/unit/unit.h"

TEST(statuses_have_the_outcome_of_the_table)
{
    static const struct {
        const char *response;
        enum outcome_status status;
        enum outcome_reason reason;
        uint16_t http_status;
        bool transient, slow_down;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\n" EMPTY, OUTCOME_FETCHED, REASON_NONE, 200},
        {"HTTP/1.1 203 \r\n" EMPTY, OUTCOME_FETCHED, REASON_NONE, 203},
        {"HTTP/1.1 204 No\r\n\r\n", OUTCOME_FETCHED, REASON_NONE, 204},
        {"HTTP/1.1 304 Not\r\n\r\n", OUTCOME_FAILED, REASON_HTTP, 304},
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

        tiny_answer(&r.server, &route, cases[i].response);
        p = rig_ask(&r, "/");
        ck_assert_msg(p->done.outcome.status == cases[i].status &&
                          p->done.outcome.reason == cases[i].reason &&
                          p->done.outcome.http_status == cases[i].http_status,
                      "%s", cases[i].response);
        ck_assert_int_eq(p->done.transient, cases[i].transient);
        ck_assert_int_eq(p->done.host.slow_down, cases[i].slow_down);
        ck_assert(!p->done.host.unreachable);
        ck_assert_int_gt(p->done.host.ended, 0);
        report_free(p);
    }
    ck_assert_uint_eq(r.server.connections, 1); /* kept all the time */
    rig_fini(&r);
}

/* What comes of a check whose URL was asked for `tries` times before. */
static struct report *check(struct rig *r, uint32_t tries)
{
    (void)rig_give_lease(r, (struct url_lease){.tries = tries},
                         rig_url(r, "127.0.0.1", "/"));
    return rig_receive(r);
}

/* Promise (Links): with --check each URL is requested by HEAD, and once more
 * by GET if that fails; no body is read and nothing but redirects followed,
 * under robots.txt and delays, also after a kill; the results can be joined
 * to the links of another crawl. See also `tests/cli/check.sh`,
 * `tests/cli/guides.sh`. */
TEST(a_check_asks_by_head_and_once_more_by_get)
{
    static const struct {
        const char *head;  /* the answer to HEAD ... */
        bool again, retry; /* ... after which a GET follows; other tries as
                              well, if there are some */
    } cases[] = {
        {"200 OK", false, false},     {"302 No Location", false, false},
        {"404 No", true, false},      {"410 Gone", true, false},
        {"405 No HEAD", true, false}, {"501 No HEAD", true, true},
        {"403 No", true, false},      {"503 Busy", true, true}};
    char answers[COUNT(cases)][100]; /* the server may still be at the last */
    struct route route = {.path = "/", .response = answers[0]};
    struct rig r;

    for (size_t i = 0; i < COUNT(cases); i++)
        snprintf(answers[i], sizeof answers[i],
                 "HTTP/1.1 %s\r\nContent-Length: 90000\r\n\r\n", cases[i].head);
    rig_init(&r, &route, 1);
    r.o.check = true;
    rig_start(&r);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct report *p;

        tiny_answer(&r.server, &route, answers[i]);
        p = check(&r, 0);
        ck_assert(strncmp(r.server.head, "HEAD / ", 7) == 0);
        ck_assert_msg(p->done.unsure == cases[i].again &&
                          p->done.transient == cases[i].again,
                      "%s", answers[i]);
        ck_assert_uint_eq(p->done.row.body_bytes, 0);
        ck_assert_uint_eq(p->done.outlink_count, 0);
        report_free(p);
    }
    ck_assert_uint_eq(r.server.connections, 1);
    for (size_t i = 0; i < COUNT(cases); i++) { /* no body comes for these */
        struct report *p;

        tiny_answer(&r.server, &route, answers[i]);
        p = check(&r, 1);
        ck_assert(strncmp(r.server.head, "GET / ", 6) == 0);
        ck_assert_int_eq(p->done.outcome.http_status, atoi(cases[i].head));
        ck_assert_int_eq(p->done.transient, cases[i].retry);
        report_free(p);
    }
    rig_fini(&r);
}

TEST(retry_after_is_taken_from_429_and_5xx_only)
{
    struct route routes[] = {
        {"/ms", "HTTP/1.1 503 Busy\r\nRetry-After: 120s\r\n" EMPTY},
        {"/iso",
         "HTTP/1.1 500 Oh\r\nRetry-After: 2026-11-28 20:00:00\r\n" EMPTY},
        {"/404", "HTTP/1.1 404 No\r\nRetry-After: 120s\r\n" EMPTY},
        {"/none", "HTTP/1.1 503 Busy\r\nRetry-After:\r\n" EMPTY},
        {"/429", "HTTP/1.1 429 Many\r\nRetry-After: 7\r\n" EMPTY},
        {"/503", "HTTP/1.1 503 Busy\r\nRetry-After: 999999999\r\n" EMPTY},
        {"/200", "HTTP/1.1 200 OK\r\nRetry-After: 7\r\n" EMPTY},
    };
    static const int64_t want[] = {-1, -1, -1, -1, 7000, 86400000, -1};
    static const bool slow[] = {true, true, false, true, true, true};
    struct rig r;

    rig_init(&r, routes, COUNT(routes));
    rig_start(&r);
    for (size_t i = 0; i < COUNT(routes); i++) {
        struct report *p = rig_ask(&r, routes[i].path);

        ck_assert_int_eq(p->done.host.retry_after_ms, want[i]);
        /* One that cannot be read asks for a delay all the same. */
        ck_assert_int_eq(p->done.host.slow_down,
                         i < COUNT(slow) ? slow[i] : false);
        report_free(p);
    }
    rig_fini(&r);
}

/* Promise (Fetching): limits count decoded octets; time-outs and the size of
 * heads are bounded. See also
 * `fetcher_limits/a_gzip_bomb_stays_within_the_limit`,
 * `fetcher_responses/a_body_cut_by_time_is_fetched_as_far_as_it_came`,
 * `response/all_heads_of_a_transfer_together_are_bounded`. */
TEST(a_body_over_the_limit_is_cut_and_what_came_is_read)
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
    ck_assert_uint_eq(p->done.outlink_count, 1);
    assert_bytes(p->done.outlinks[0].url, rig_url(&r, "127.0.0.1", "/kept"));
    report_free(p);
    tiny_answer(&r.server, &route,
                OK_HTML "\r\n<a href=/kept>k</a>."); /* exactly 20 */
    p = rig_ask(&r, "/");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    rig_fini(&r);
}

/* Asks for a response that stalls, and raises the time limit until the part
 * that is sent arrives in time: a busy machine may need longer even for
 * that. */
static struct report *ask_what_stalls(struct rig *r, struct route *route,
                                      const struct outcome *want)
{
    for (int64_t limit = 200;; limit *= 8) {
        int64_t before = clock_mono();
        struct report *p;

        rig_init(r, route, 1);
        r->o.timeout_ms = limit;
        rig_start(r);
        p = rig_ask(r, route->path);
        ck_assert_int_ge(clock_mono() - before, limit * NS_PER_MS);
        if (limit > 10000 || (p->done.outcome.status == want->status &&
                              p->done.outcome.reason == want->reason &&
                              p->done.outcome.http_status == want->http_status))
            return p;
        report_free(p);
        rig_fini(r);
    }
}

TEST(a_body_cut_by_time_is_fetched_as_far_as_it_came)
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
        {OUTCOME_FAILED, REASON_HTTP, 404}, /* the head is enough */
    };
    struct rig r;

    for (size_t i = 0; i < COUNT(routes); i++) {
        struct report *p = ask_what_stalls(&r, &routes[i], &want[i]);

        assert_outcome(p, want[i].status, want[i].reason);
        ck_assert_int_eq(p->done.outcome.http_status, want[i].http_status);
        ck_assert_int_eq(p->done.transient, want[i].reason == REASON_TIMEOUT);
        ck_assert(!p->done.host.unreachable);
        if (i == 0)
            ck_assert_uint_eq(p->done.outlink_count, 1);
        report_free(p);
        rig_fini(&r);
    }
}

#define CODED_HEAD(coding, length)                                             \
    OK_HTML "Content-Encoding: " coding "\r\nContent-Length: " length "\r\n\r" \
            "\n"
#define CODED(path, coding, NAME)                                              \
    {                                                                          \
        path, CODED_HEAD(coding, NAME##_LENGTH) NAME##_BODY,                   \
            .len = sizeof(CODED_HEAD(coding, NAME##_LENGTH) NAME##_BODY) - 1   \
    }

/* Promise (Fetching): gzip, deflate, br and zstd are decoded, also one over the
 * other; a stream that is cut short is found whatever its Content-Length says.
 * See also `fetch_body/a_body_that_is_not_in_its_coding_is_kept_as_it_came`,
 * `fetcher_responses/a_coding_that_ends_too_early_is_bad_encoding_whatever_its_length`,
 * `coding`, `coding/a_stream_cut_anywhere_is_not_whole`. */
/* The same page in every coding. */
TEST(content_codings_are_decoded)
{
    struct route routes[] = {
        CODED("/gzip", "gzip", GZIP),
        CODED("/x-gzip", "x-gzip", GZIP),
        CODED("/deflate", "deflate", DEFLATE),
        CODED("/raw", "deflate", RAW_DEFLATE), /* as some servers misread it */
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
        ck_assert_uint_eq(p->done.outlink_count, 1);
        report_free(p);
    }
    ck_assert_ptr_nonnull(
        strstr(r.server.head, "Accept-Encoding: deflate, gzip, br, zstd"));
    rig_fini(&r);
}

/* The last octets are missing, but Content-Length or the last chunk agrees. */
TEST(a_coding_that_ends_too_early_is_bad_encoding_whatever_its_length)
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

/* Promise (Fetching): each failure has its reason. See also
 * `fetcher_responses/hosts_that_cannot_be_reached_say_how`,
 * `fetcher_responses/statuses_have_the_outcome_of_the_table`. */
TEST(broken_connections_are_resets_and_broken_http_is_protocol)
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
        {"/huge", "HTTP/1.1 200 OK\r\nX: yyyyyyyyyyyyyyyyyyyy", .after = CLOSE,
         .repeat = 20000, .repeat_len = 20},
        {"/many", "HTTP/1.1 200 OK\r\nX-Field: y\r\n", .after = CLOSE,
         .repeat = 30000, .repeat_len = 12},
        /* not requested; libcurl before 8.1 decodes it anyway */
        {"/coded", OK_HTML "Transfer-Encoding: gzip\r\n\r\n" GZIP_BODY,
         .len = sizeof OK_HTML + sizeof GZIP_BODY + 25, .after = CLOSE},
        {"/coded-chunks",
         OK_HTML "Transfer-Encoding: gzip, br\r\nTransfer-Encoding: "
                 "chunked\r\n\r\n0\r\n\r\n",
         .after = CLOSE},
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

TEST(hosts_that_cannot_be_reached_say_how)
{
    static const struct {
        const char *url;
        enum outcome_reason reason;
        bool transient;
    } cases[] = {
        {"http://127.0.0.1:2/", REASON_CONNECT, true},
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

TEST(a_server_that_speaks_no_tls_or_nothing_fails_by_tls)
{
    static const struct {
        const char *greeting;
        int64_t limit_ms;
    } cases[] = {
        {"no TLS here\r\n", 60000},
        {"", 300},
        {"", 3000}, /* a busy machine may need this long to connect */
        {"", 30000},
    };
    bool enough = false;
    char url[64];

    for (size_t i = 0; i < COUNT(cases) && !enough; i++) {
        struct rig r;
        struct report *p;

        rig_init(&r, NULL, 0);
        r.server.greeting = cases[i].greeting;
        r.o.connect_timeout_ms = cases[i].limit_ms;
        rig_start(&r);
        snprintf(url, sizeof url, "https://127.0.0.1:%u/", r.server.port);
        p = rig_ask_url(&r, url);
        if (p->done.outcome.reason != REASON_CONNECT ||
            cases[i].limit_ms > 3000)
            assert_outcome(p, OUTCOME_FAILED, REASON_TLS);
        ck_assert(p->done.transient && p->done.host.unreachable);
        enough = i > 0 && p->done.outcome.reason == REASON_TLS;
        report_free(p);
        rig_fini(&r);
    }
    ck_assert(enough);
}

/* A listener with a full backlog does not answer a SYN. */
TEST(a_connection_that_is_not_answered_in_time_is_unreachable)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0), filler[8];
    struct pollfd full = {.events = POLLOUT};
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
    full.fd = filler[0];
    ck_assert_int_eq(poll(&full, 1, -1), 1);
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
