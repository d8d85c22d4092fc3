/* SPDX-License-Identifier: MIT */
/* Slow callers and many callers on the HTTP port. */
#include <poll.h>

#include "tests/unit/service/http/http_rig.h"

static struct http_rig rig;

/* How long to wait for what is certain to come, even on a slow machine. */
#define PATIENCE (50 * NS_PER_S)

static void set_up(void)
{
    http_rig_make(&rig, NULL);
}

static void tear_down(void)
{
    http_rig_fini(&rig);
}

/* Restarts the server with these limits instead of the rig's; 0: unchanged. */
static void limit(unsigned connections, int64_t head_ns, int64_t idle_ns)
{
    const struct http_options o = {.listen = "127.0.0.1:0",
                                   .loopback = true,
                                   .frontier = rig.frontier.s,
                                   .connections = connections,
                                   .head_ns = head_ns,
                                   .idle_ns = idle_ns};

    http_server_close(rig.server);
    rig.server = NULL;
    ck_ok(http_server_open(&rig.server, &o));
}

/* Reads until the server closes; returns whether it did. */
static bool is_closed(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char octets[4096];

    return poll(&p, 1, timeout_ms) > 0 &&
           recv(fd, octets, sizeof octets, 0) <= 0;
}

/* Sends `text` again and again until the server closes. */
static void is_closed_saying(int fd, const char *text)
{
    int64_t until = clock_mono() + PATIENCE;

    while (!is_closed(fd, 50)) {
        (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
        ck_assert_int_lt(clock_mono(), until);
    }
    close(fd);
}

/* Returns the status of a response without a body; 0: it was closed. */
static long answer_on(int fd)
{
    char got[65536] = "";
    size_t len = 0;
    ssize_t n = 1;
    const char *length;

    while (n > 0) {
        const char *end = strstr(got, "\r\n\r\n");

        length = strstr(got, "Content-Length: ");
        if (end != NULL && length != NULL &&
            len >= (size_t)(end + 4 - got) + strtoul(length + 16, NULL, 10))
            return strtol(got + strlen("HTTP/1.1 "), NULL, 10);
        n = recv(fd, got + len, sizeof got - 1 - len, 0);
        len += n > 0 ? (size_t)n : 0;
        got[len] = '\0';
    }
    return 0;
}

FIXTURE(set_up, tear_down);

TEST(a_head_that_comes_line_by_line_is_cut_off)
{
    int fd;

    limit(0, NS_PER_S / 2, PATIENCE);
    fd = http_rig_dial(&rig);
    http_rig_send(fd, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n");
    is_closed_saying(fd, "X-Slow: yes\r\n");
    is_closed_saying(http_rig_dial(&rig), "G"); /* nor its first line */
}

TEST(a_next_request_that_does_not_come_is_not_waited_for)
{
    int fd;

    limit(0, PATIENCE, NS_PER_S / 2);
    fd = http_rig_dial(&rig);
    http_rig_get(fd, "/v1/stats");
    ck_assert_int_eq(answer_on(fd), 200);
    is_closed_saying(fd, "G");
}

/* The server does not wait for ever for anything from a stranger, body
 * included. */
TEST(a_stranger_has_a_time_for_all_of_its_request)
{
    int fd;

    limit(0, PATIENCE, NS_PER_S / 2);
    fd = http_rig_dial(&rig);
    http_rig_send(fd, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n1;");
    is_closed_saying(fd, "x");
}

/* Some 200 watchers stay for as long as they like. */
TEST(an_answer_that_goes_on_is_not_cut_off)
{
    char got[8192];
    int events, fd;

    limit(0, NS_PER_S / 2, NS_PER_S / 2);
    events = http_rig_dial(&rig);
    http_rig_get(events, "/v1/events");
    fd = http_rig_dial(&rig);
    http_rig_get(fd, "/v1/stats");
    ck_assert_int_eq(answer_on(fd), 200);
    is_closed_saying(fd, "");
    while (recv(events, got, sizeof got, MSG_DONTWAIT) > 0)
        ;
    ck_assert_int_gt(recv(events, got, sizeof got, 0), 0);
    close(events);
}

#define STRANGERS 20

TEST(callers_keep_their_connections_among_strangers)
{
    int fd[STRANGERS], caller;

    limit(4, 0, 0);
    caller = http_rig_dial(&rig);
    http_rig_get(caller, "/v1/stats");
    ck_assert_int_eq(answer_on(caller), 200);
    for (int i = 0; i < STRANGERS; i++)
        fd[i] = http_rig_dial(&rig);
    for (int i = 0; i < STRANGERS - 3; i++) /* three of four are for them */
        is_closed_saying(fd[i], "");
    http_rig_get(caller, "/v1/stats");
    ck_assert_int_eq(answer_on(caller), 200);
    http_rig_says(&rig, NULL, "/v1/stats", NULL, 200, "size");
    close(caller);
    for (int i = STRANGERS - 3; i < STRANGERS; i++)
        close(fd[i]);
}

#define FLOOD 40

/* Where no token is needed anybody is known as soon as a head has come, and may
 * then send the body for ever, or watch events. */
TEST(half_sent_requests_and_event_streams_lock_nobody_out)
{
    int fd[FLOOD];
    char first;

    limit(8, PATIENCE, PATIENCE);
    for (int i = 0; i < FLOOD; i++) {
        fd[i] = http_rig_dial(&rig);
        if (i % 2 == 0)
            http_rig_get(fd[i], "/v1/events");
        else
            http_rig_send(fd[i], "POST /v1/urls HTTP/1.1\r\n"
                                 "Host: localhost\r\n"
                                 "Content-Type: application/json\r\n"
                                 "Expect: 100-continue\r\n"
                                 "Content-Length: 100\r\n\r\n");
        /* the head has been read, or there is no place */
        (void)!recv(fd[i], &first, 1, 0);
    }
    for (int i = 0; i < 3; i++) {
        http_rig_says(&rig, NULL, "/healthz", NULL, 200, "ok");
        http_rig_says(&rig, NULL, "/v1/stats", NULL, 200, "size");
    }
    for (int i = 0; i < FLOOD - 8; i++)
        is_closed_saying(fd[i], "");
    for (int i = FLOOD - 8; i < FLOOD; i++)
        close(fd[i]);
}
