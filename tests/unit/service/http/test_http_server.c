/* SPDX-License-Identifier: MIT */
/* The server on a loopback port, with libcurl as its client. */
#include "tests/unit/service/http/http_rig.h"

static struct http_rig rig;

static void set_up(void)
{
    http_rig_make(&rig, NULL);
}

static void tear_down(void)
{
    http_rig_fini(&rig);
}

static struct http_reply ask(const char *path, const char *body)
{
    return http_rig_ask(&rig, NULL, path, body);
}

static void says(const char *path, const char *body, long status,
                 const char *text)
{
    http_rig_says(&rig, NULL, path, body, status, text);
}

/* ---- what it does ---- */

FIXTURE(set_up, tear_down);

TEST(a_url_is_put_leased_and_acknowledged)
{
    struct http_reply a;
    char body[100];

    says("/v1/urls",
         "{\"url\":\"http://a.test/\",\"metadata\":{\"k\":[\"v\"]}}", 200,
         "\"status\":\"ok\"");
    a = ask("/v1/lease", "{}");
    ck_assert_int_eq(a.status, 200);
    snprintf(body, sizeof body, "{\"lease\":\"%s\"}",
             json_string_value(json_object_get(
                 json_array_get(json_object_get(a.json, "urls"), 0), "lease")));
    http_reply_fini(&a);
    says("/v1/url?url=http://a.test/", NULL, 200, "\"state\":\"leased\"");
    says("/v1/ack", body, 200, "\"status\":\"ok\"");
    says("/v1/ack", body, 200, "\"status\":\"gone\"");
    says("/v1/url?url=http://a.test/", NULL, 200, "\"state\":\"completed\"");
}

/* ---- raw octets ---- */

/* Promise (The service): HTTP keeps strangers out: tokens and roles, Host
 * check, client certificates; bodies, connections and waits are bounded. See
 * also `tests/cli/serve-http.sh`,
 * `http_server/strangers_are_refused_and_the_server_goes_on`,
 * `http_server/requests_that_can_be_read_in_two_ways_are_400`,
 * `http_server/callers_who_leave_while_they_wait_do_no_harm`. */
TEST(a_body_without_end_is_cut_off)
{
    static char chunk[65536 + 9] = "10000\r\n";
    int fd = http_rig_dial(&rig);
    size_t sent = 0;
    ssize_t n = 1;

    memset(chunk + 7, 'x', 65536);
    memcpy(chunk + 7 + 65536, "\r\n", 2);
    http_rig_send(fd, "POST /v1/urls HTTP/1.1\r\nHost: localhost\r\n"
                      "Content-Type: application/json\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n");
    while (n > 0 && sent < (size_t)64 << 20) {
        n = send(fd, chunk, sizeof chunk, MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
    }
    ck_assert_uint_lt(sent, (size_t)32 << 20);
    close(fd);
    says("/healthz", NULL, 200, "ok");
}

/* The library may wait for a client that has sent half a request. */
TEST(strangers_are_refused_and_the_server_goes_on)
{
    const struct timeval wait = {.tv_sec = 5};
    static const char *const texts[] = {
        "nonsense\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", /* no Host */
        "GET http://localhost/v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/stats HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "GET /v1/stats%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "POST /v1/ack HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char got[1000] = "";
        int fd = http_rig_dial(&rig);
        ssize_t n;

        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        http_rig_send(fd, texts[i]);
        shutdown(fd, SHUT_WR);
        n = recv(fd, got, sizeof got - 1, 0);
        ck_assert_msg(n <= 0 || strstr(got, " 200 ") == NULL, "%zu: %s", i,
                      got);
        close(fd);
    }
    says("/healthz", NULL, 200, "ok");
}

/* Reads the response to `text` until the connection ends. */
static void answer_to(const char *text, size_t len, char got[4096])
{
    size_t at = 0;
    ssize_t n;
    int fd = http_rig_dial(&rig);

    ck_assert_int_eq(send(fd, text, len, MSG_NOSIGNAL), (ssize_t)len);
    do {
        n = recv(fd, got + at, 4096 - 1 - at, 0);
        at += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    got[at] = '\0';
    close(fd);
}

/* Answered 400 by our server, which leaves what follows the request unread. */
static void is_answered_400(const char *text, size_t len)
{
    char got[4096];

    answer_to(text, len, got);
    ck_assert_msg(strncmp(got, "HTTP/1.1 400 ", 13) == 0, "%.*s: %s", (int)len,
                  text, got);
    ck_assert_msg(strstr(got + 1, "HTTP/1.1") == NULL, "%.*s: %s", (int)len,
                  text, got);
}

/* libmicrohttpd from 1.0 on refuses a bad request line by itself: it closes
 * without a response, or sends one that names the target as it should be
 * written (RFC 9112 section 3.2). */
static void is_refused(const char *text, size_t len)
{
    char got[4096];

    answer_to(text, len, got);
    if (strncmp(got, "HTTP/1.1 301 ", 13) == 0)
        ck_assert_ptr_nonnull(strstr(got, "\r\nConnection: close\r\n"));
    else if (got[0] != '\0')
        is_answered_400(text, len);
}

#define HEAD             "POST /v1/lease HTTP/1.1\r\nHost: localhost\r\n" JSON
#define JSON             "Content-Type: application/json\r\n"
#define CHUNKED          "\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
#define GET              "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n"
#define IS_400(text)     is_answered_400(text, sizeof(text) - 1)
#define IS_REFUSED(text) is_refused(text, sizeof(text) - 1)

/* rfc9112_6_3, rfc9112_6_1 and rfc9112_5_1: a proxy in front might read such a
 * request differently, and our server would take its next caller's request for
 * a part of this one. */
TEST(requests_that_can_be_read_in_two_ways_are_400)
{
    IS_400(HEAD "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ");
    IS_400(HEAD "Content-Length: 0\r\nContent-Length: 2\r\n\r\n{}");
    IS_400(HEAD "Content-Length: 2\r\nTransfer-Encoding: chunked" CHUNKED);
    IS_400(HEAD "Transfer-Encoding: chunked\r\nContent-Length: 2" CHUNKED);
    IS_400(HEAD "Transfer-Encoding : chunked" CHUNKED);
    IS_400(HEAD "Content-Length: 2\r\nTransfer-Encoding\t: chunked" CHUNKED);
    IS_400(HEAD "Content-Length : 2\r\n\r\n{}");
    IS_400(HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: x" CHUNKED);
    IS_400(HEAD "Transfer-Encoding: gzip, chunked" CHUNKED);
    IS_400(HEAD "Transfer-Encoding: xchunked" CHUNKED);
    IS_400("POST /v1/lease HTTP/1.0\r\n" JSON
           "Host: localhost\r\nTransfer-Encoding: chunked" CHUNKED);
    IS_400(GET "Host: localhost\r\n\r\n");
    IS_400(GET "Host: evil.test\r\n\r\n");
    IS_400(GET "X: a\rContent-Length: 2\r\n\r\n{}");
    IS_REFUSED("GET /v1/stats\0x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    IS_REFUSED("GET /v1/stats?\0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    IS_400("GET /v1/stats%00 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    IS_REFUSED("GET /v1/stats  HTTP/1.1\r\nHost: localhost\r\n\r\n");
    says("/healthz", NULL, 200, "ok");
}

TEST(callers_who_leave_while_they_wait_do_no_harm)
{
    for (unsigned i = 0; i < 50; i++) {
        const struct linger hard = {.l_onoff = 1};
        int fd = http_rig_dial(&rig);

        http_rig_send(fd,
                      "POST /v1/urls HTTP/1.1\r\nHost: localhost\r\n"
                      "Content-Type: application/json\r\n"
                      "Content-Length: 24\r\n\r\n{\"url\":\"http://b.test/\"}");
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        close(fd);
    }
    says("/v1/urls", "{\"url\":\"http://a.test/\"}", 200, "\"ok\"");
}

/* ---- leases whose answer could not be delivered ---- */

static void lease_from(int fd, unsigned queue)
{
    char body[100], text[300];

    snprintf(body, sizeof body, "{\"key\":\"q%u\",\"max_urls_per_queue\":1000}",
             queue);
    snprintf(text, sizeof text,
             "POST /v1/lease HTTP/1.1\r\nHost: localhost\r\n"
             "Content-Type: application/json\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             strlen(body), body);
    http_rig_send(fd, text);
}

static void put_in_queue(unsigned queue, const char *path, unsigned n)
{
    char *body = malloc(4096);

    for (unsigned i = 0; i < n; i++) {
        snprintf(body, 4096, "{\"url\":\"http://a.test/%s%u\",\"key\":\"q%u\"}",
                 path, i, queue);
        says("/v1/urls", body, 200, "\"ok\"");
    }
    free(body);
}

static json_int_t held_in(unsigned queue)
{
    char path[60];
    struct http_reply a;
    json_int_t held;

    snprintf(path, sizeof path, "/v1/stats?crawl=DEFAULT&key=q%u", queue);
    a = ask(path, NULL);
    held = json_integer_value(json_object_get(a.json, "in_process"));
    http_reply_fini(&a);
    return held;
}

/* Was the queue served in time, with no URL of it leased? */
static bool came_back(unsigned queue, const char *url, int64_t within)
{
    int64_t until = clock_mono() + within;
    char path[200];
    bool served = false;

    while (clock_mono() < until) {
        struct http_reply a;

        snprintf(path, sizeof path, "/v1/url?key=q%u&url=%s", queue, url);
        a = ask(path, NULL);
        served = json_is_string(
            json_object_get(json_object_get(a.json, "queue"), "served_at"));
        http_reply_fini(&a);
        if (served && held_in(queue) == 0)
            return true;
        usleep(5000);
    }
    return false;
}

/* The rig's clock stands still, so no lease runs out. */
static void lease_and_leave(unsigned queue)
{
    int fd = http_rig_dial(&rig);

    lease_from(fd, queue);
    close(fd);
}

/* Promise (The service): a lease whose caller left before the response is given
 * back at once; one whose response was sent is kept. See also
 * `http_server/a_lease_whose_answer_was_sent_is_held`. */
/* A slow caller may have received its answer before it left; the last one
 * leaves before there is any. */
TEST(a_lease_whose_caller_left_before_the_answer_is_given_back)
{
    for (unsigned queue = 0; queue < 10; queue++) {
        put_in_queue(queue, "", 2);
        lease_and_leave(queue);
        (void)came_back(queue, "http://a.test/0", NS_PER_S / 4);
    }
    put_in_queue(10, "", 2);
    atomic_store(&rig.frontier.held, true);
    lease_and_leave(10);
    atomic_store(&rig.frontier.held, false);
    ck_assert(came_back(10, "http://a.test/0", 60 * NS_PER_S));
    atomic_fetch_add(&rig.frontier.now, 1000); /* the queues' delay */
    says("/v1/lease", "{\"key\":\"q10\"}", 200, "http://a.test/");
}

TEST(a_lease_whose_answer_was_sent_is_held)
{
    int fd = http_rig_dial(&rig);
    char got[2000] = "";
    size_t len = 0;
    unsigned open;
    ssize_t n;

    put_in_queue(0, "", 2);
    lease_from(fd, 0);
    while (strstr(got, "\"more\":") == NULL) { /* the last member */
        n = recv(fd, got + len, sizeof got - 1 - len, 0);
        ck_assert_int_gt(n, 0);
        len += (size_t)n;
    }
    open = scratch_descriptors();
    close(fd);
    while (scratch_descriptors() > open - 2) /* the server closes it too */
        usleep(1000);
    ck_assert_int_eq(held_in(0), 2);
}

/* Promise (The service): SIGTERM loses nothing and ends with 0; a second one
 * does not wait, nor does one during the start. See also `tests/cli/serve.sh`,
 * `tests/cli/serve-http.sh`, `tests/interop/grpc_client.py`. */
TEST(a_stop_waits_for_requests_no_longer_than_told)
{
    int fd = http_rig_dial(&rig);
    int64_t begin;
    char got[200] = "";

    /* half a request, never completed */
    http_rig_send(fd, "POST /v1/urls HTTP/1.1\r\nHost: localhost\r\n"
                      "Content-Type: application/json\r\n"
                      "Content-Length: 24\r\n\r\n{");
    while (http_server_is_over(rig.server)) /* the server has not noticed yet */
        usleep(1000);
    begin = clock_mono();
    http_server_stop(rig.server);
    http_server_close(rig.server);
    rig.server = NULL;
    ck_assert_int_ge(clock_mono() - begin, 400 * NS_PER_MS);
    ck_assert_int_le(recv(fd, got, sizeof got - 1, 0), 0);
    close(fd);
}

/* ---- requests that are completed while the server stops ---- */

#define HALVES 24

struct halves {
    int fd[HALVES];
    atomic_bool close;
};

static void *send_rests(void *arg)
{
    struct halves *h = arg;

    while (!atomic_load(&h->close))
        ;
    for (unsigned i = 0; i < HALVES; i++) /* some are cut off by then */
        (void)!send(h->fd[i], "\"url\":\"http://b.test/\"}", 23, MSG_NOSIGNAL);
    return NULL;
}

/* Promise (The service): hostile clients, many at once, cut connections
 * anywhere while crawls and certificates change and the service is stopped:
 * it goes on, ends with 0, its store is whole, and sanitizers find nothing.
 * See also `tests/cli/serve-stress.sh`,
 * `router/calls_that_come_to_our_crawls_when_those_are_gone_end`,
 * `grpc_peers/an_answer_behind_the_deadline_of_one_who_does_not_read_goes_nowhere`. */
/* The library must not stop while the frontier has a request. */
TEST(a_rest_that_comes_while_the_server_ends_is_not_handed_over)
{
    const struct http_options o = {.listen = "127.0.0.1:0",
                                   .loopback = true,
                                   .frontier = rig.frontier.s};

    for (unsigned round = 0; round < 100; round++) {
        struct halves h = {.close = false};
        pthread_t thread;

        http_server_close(rig.server);
        rig.server = NULL;
        ck_ok(http_server_open(&rig.server, &o));
        for (unsigned i = 0; i < HALVES; i++) {
            h.fd[i] = http_rig_dial(&rig);
            http_rig_send(h.fd[i],
                          "POST /v1/urls HTTP/1.1\r\nHost: localhost\r\n"
                          "Content-Type: application/json\r\n"
                          "Content-Length: 24\r\n\r\n{");
        }
        says("/healthz", NULL, 200, "ok"); /* all of them are read */
        ck_assert_int_eq(pthread_create(&thread, NULL, send_rests, &h), 0);
        atomic_store(&h.close, true);
        http_server_close(rig.server);
        rig.server = NULL;
        pthread_join(thread, NULL);
        for (unsigned i = 0; i < HALVES; i++)
            close(h.fd[i]);
    }
}

/* ---- on a Unix socket, in a process without a frontier for others ---- */

static struct http_server *over_socket(const char *path, enum auth_role role)
{
    struct http_options o = {.socket = path,
                             .drain_ms = 500,
                             .open_role = role};
    struct http_server *s = NULL;

    ck_ok(http_server_open(&s, &o));
    return s;
}

static void socket_says(const char *socket_path, const char *url,
                        const char *body, long status, const char *text)
{
    struct http_reply a;
    CURL *c = http_rig_request(&rig, &a, NULL, "/", body);

    curl_easy_setopt(c, CURLOPT_UNIX_SOCKET_PATH, socket_path);
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_perform(c);
    http_rig_answered(c);
    ck_assert_msg(a.status == status && strstr(buf_str(&a.text), text) != NULL,
                  "%s: %ld %s", url, a.status, buf_str(&a.text));
    http_reply_fini(&a);
}

/* Promise (The service): only its owner can use a control socket, and one that
 * a killed process left is replaced. See also `listener`. */
TEST(a_socket_serves_who_says_localhost_and_needs_no_frontier)
{
    char path[100];
    struct http_server *s;

    snprintf(path, sizeof path, "%s/http.sock", rig.frontier.at.dir);
    s = over_socket(path, AUTH_NONE);
    ck_assert_str_eq(http_server_address(s), path);
    socket_says(path, "http://localhost/healthz", NULL, 200, "ok");
    socket_says(path, "http://evil.test/healthz", NULL, 421, "Host");
    socket_says(path, "http://localhost/metrics", NULL, 200, "process");
    socket_says(path, "http://localhost/v1/stats", NULL, 404, "no frontier");
    socket_says(path, "http://localhost/v1/lease", "{}", 404, "no frontier");
    http_server_close(s);
    ck_assert_int_eq(access(path, F_OK), -1);
}

TEST(callers_without_tokens_have_the_role_they_were_given)
{
    char path[100];
    struct http_server *s;

    snprintf(path, sizeof path, "%s/http.sock", rig.frontier.at.dir);
    s = over_socket(path, AUTH_READ);
    socket_says(path, "http://localhost/metrics", NULL, 200, "process");
    socket_says(path, "http://localhost/v1/lease", "{}", 403, "role write");
    http_server_close(s);
}
