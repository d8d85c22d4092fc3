/* SPDX-License-Identifier: MIT */
/* Peers that do not read, do not send, stay silent, or are too many. */
#include "tests/unit/service/grpc/grpc_rig.h"

/* Calls MUCH and reads nothing. Returns true if at the deadline so much was
 * queued that the reset could not be sent. */
static bool is_deaf_at_its_deadline(struct answer *a, struct body *b,
                                    const char *timeout)
{
    const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                           1 << 30};
    const int small = 4096;
    const size_t ended_before = ended;
    struct grpc_stats s;

    connect_client();
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    nghttp2_session_set_local_window_size(ng, NGHTTP2_FLAG_NONE, 0, 1 << 30);
    nghttp2_submit_settings(ng, NGHTTP2_FLAG_NONE, &window, 1);
    more_name = "grpc-timeout";
    more_value = timeout;
    send_call(a, MUCH, b);
    more_name = NULL;
    ck_assert(flush());
    do {
        usleep(2000);
        grpc_server_get_stats(server, &s);
    } while (s.ended[GRPC_DEADLINE_EXCEEDED] == ended_before);
    return ended == ended_before;
}

/* A peer that reads nothing cannot be sent the reset of a call that is over, so
 * its stream stays; a later answer is dropped. */
TEST(an_answer_behind_the_deadline_of_one_who_does_not_read_goes_nowhere)
{
    static const char *const timeouts[] = {"100m", "500m", "2S", "8S", "30S"};
    struct answer a;
    struct body b = {.left = HI, .stays_open = true};
    struct grpc_stats s;
    nghttp2_session *deaf;
    int deaf_fd, tries = 0;

    start();
    while (!is_deaf_at_its_deadline(&a, &b, timeouts[tries])) {
        ck_assert_int_lt(++tries, 5);
        b.left = HI;
        buf_fini(&a.body);
        disconnect();
    }
    deaf = ng;
    deaf_fd = fd;
    connect_client();
    ck_assert_str_eq(status_of(MORE, HI), "0");
    ck_assert(!more_was_taken);
    disconnect();
    ng = deaf;
    fd = deaf_fd;
    disconnect();
    while (ended == (size_t)tries)
        usleep(2000);
    grpc_server_get_stats(server, &s); /* and it is counted only once */
    ck_assert_uint_eq(s.ended[GRPC_DEADLINE_EXCEEDED], (size_t)tries + 1);
    ck_assert_uint_eq(s.ended[GRPC_CANCELLED], 0);
    buf_fini(&a.body);
    stop();
}

TEST(a_request_that_does_not_come_ends_its_call)
{
    struct answer a;
    struct body b = {.left = bytes_of("\0\0", 2), .stays_open = true};

    request_ns = NS_PER_S / 2;
    start();
    connect_client();
    send_call(&a, ONCE, &b);
    while (!a.closed)
        ck_assert(turn(PATIENCE_MS));
    ck_assert_str_eq(a.status, "4");
    buf_fini(&a.body);
    disconnect();
    stop();
}

/* Echoes 16 MiB of messages to a client that reads 64 KiB of answers. */
TEST(who_does_not_read_is_not_read_from)
{
    const size_t each = 1024, n = 16 << 10;
    struct buf all;
    struct answer a;
    struct body b;

    buf_init(&all, (size_t)64 << 20);
    for (size_t i = 0; i < n; i++) {
        char prefix[GRPC_PREFIX], *at;

        grpc_prefix(prefix, each);
        buf_add(&all, prefix, sizeof prefix);
        at = buf_room(&all, each);
        memset(at, 'x', each);
        buf_grew(&all, each);
    }
    start();
    window_stays_shut = true;
    connect_client();
    b = (struct body){.left = buf_bytes(&all)};
    send_call(&a, ECHO, &b);
    while (a.body.len < 65535)
        ck_assert(turn(PATIENCE_MS));
    while (turn(500)) /* until neither side may send */
        ;
    ck_assert_uint_eq(a.body.len, 65535);
    /* The client's window and the server's high-water mark limit what is in
     * flight. */
    ck_assert_uint_lt(echoed * each, 65535 + 65536 + 2 * each);
    ck_assert_uint_gt(b.left.len, all.len / 2);
    nghttp2_session_set_local_window_size(ng, NGHTTP2_FLAG_NONE, 0, 1 << 30);
    nghttp2_session_set_local_window_size(ng, NGHTTP2_FLAG_NONE, 1, 1 << 30);
    while (!a.closed)
        ck_assert(turn(PATIENCE_MS));
    ck_assert_uint_eq(echoed, n);
    ck_assert(bytes_equal(buf_bytes(&a.body), buf_bytes(&all)));
    ck_assert_str_eq(a.status, "0");
    disconnect();
    stop();
    buf_fini(&a.body);
    buf_fini(&all);
}

/* Returns true if the server closes the connection in time. */
static bool is_closed(int s, int timeout_ms)
{
    char octets[1024];
    int64_t until = clock_mono() + timeout_ms * NS_PER_MS;

    while (clock_mono() < until) {
        struct pollfd p = {.fd = s, .events = POLLIN};

        if (poll(&p, 1, 50) > 0 && recv(s, octets, sizeof octets, 0) <= 0)
            return true;
    }
    return false;
}

TEST(a_connection_that_says_nothing_is_closed)
{
    int64_t begun;
    int s;

    preface_ns = NS_PER_S / 2;
    start();
    begun = clock_mono();
    s = dial();
    ck_assert(is_closed(s, PATIENCE_MS));
    ck_assert_int_ge(clock_mono() - begun, preface_ns);
    close(s);
    stop();
}

static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                            "\0\0\0\x04\0\0\0\0\0";

/* One client never answers PING, the other does. Returns true if the other was
 * still open when the first was closed. */
static bool silence_is_told_from_life(int64_t quiet)
{
    int64_t until = clock_mono() + PATIENCE;
    struct body b = {.left = HI};
    struct answer a;
    bool served;
    int s;

    preface_ns = quiet_ns = quiet;
    answer_ns = quiet / 2;
    start();
    s = dial();
    (void)!send(s, hello, sizeof hello - 1, MSG_NOSIGNAL);
    connect_client();
    while (!is_closed(s, 50)) {
        turn(50);
        ck_assert_int_lt(clock_mono(), until);
    }
    send_call(&a, ONCE, &b);
    while (!a.closed && turn(PATIENCE_MS))
        ;
    served = strcmp(a.status, "0") == 0;
    buf_fini(&a.body);
    close(s);
    disconnect();
    stop();
    return served;
}

/* A client that is late because of a busy machine gets more time. */
TEST(silence_is_asked_for_a_sign_of_life_and_then_closed)
{
    ck_assert(silence_is_told_from_life(NS_PER_S) ||
              silence_is_told_from_life(4 * NS_PER_S) ||
              silence_is_told_from_life(16 * NS_PER_S));
}

static bool has_changed_one_for_the_fourth(const struct grpc_stats *s)
{
    return s->http2.accepted == 4 && s->http2.open == 3;
}

static bool has_two_connections(const struct grpc_stats *s)
{
    return s->http2.open == 2;
}

static bool has_closed_one(const struct grpc_stats *s)
{
    return s->http2.closed[PLACE_CROWDED] == 1;
}

/* The server allows three connections. */
TEST(the_oldest_that_made_no_call_makes_room)
{
    int s[4];

    start();
    for (int i = 0; i < 4; i++)
        s[i] = dial();
    ck_assert(is_closed(s[0], PATIENCE_MS / 2));
    /* The first is closed before the fourth is counted. */
    ck_assert_uint_eq(sample_when(has_changed_one_for_the_fourth).http2.open,
                      3);
    close(s[1]);
    ck_assert_uint_eq(sample_when(has_two_connections).http2.open, 2);
    connect_client();
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    disconnect();
    ck_assert_uint_eq(sample_when(has_closed_one).http2.closed[PLACE_CROWDED],
                      1);
    for (int i = 0; i < 4; i++)
        if (i != 1)
            close(s[i]);
    stop();
}

/* It keeps its connection, however many clients connect without making a
 * call. */
TEST(a_caller_keeps_its_connection_among_those_who_make_none)
{
    int s[40];

    start();
    connect_client();
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    for (int i = 0; i < 40; i++)
        s[i] = dial();
    for (int i = 0; i < 38; i++)
        ck_assert(is_closed(s[i], PATIENCE_MS / 2));
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    disconnect();
    for (int i = 0; i < 40; i++)
        close(s[i]);
    stop();
}

TEST(header_fields_without_an_end_are_cut_off)
{
    /* HEADERS without END_HEADERS, and CONTINUATION without END_HEADERS */
    static const char begun[] = "\0\0\1\1\0\0\0\0\1\x83"
                                "\0\0\1\x9\0\0\0\0\1\x86";
    int s;

    head_ns = NS_PER_S / 2;
    start();
    s = dial();
    (void)!send(s, hello, sizeof hello - 1, MSG_NOSIGNAL);
    (void)!send(s, begun, sizeof begun - 1, MSG_NOSIGNAL);
    ck_assert(is_closed(s, PATIENCE_MS / 2));
    close(s);
    /* And a frame of them that does not arrive whole. */
    s = dial();
    (void)!send(s, hello, sizeof hello - 1, MSG_NOSIGNAL);
    (void)!send(s, "\0\0\7\1\4\0\0\0\1\x83", 10, MSG_NOSIGNAL);
    ck_assert(is_closed(s, PATIENCE_MS / 2));
    close(s);
    stop();
}

/* A client that its machine gives no time is not one that says nothing. */
TEST(ours_a_client_has_a_minute_to_end_what_it_began)
{
    struct http2_server_options o;

    http2_server_options_init(&o);
    ck_assert_int_ge(o.preface_ns, 60 * NS_PER_S);
    ck_assert_int_ge(o.head_ns, 60 * NS_PER_S);
    ck_assert_int_ge(o.stranger_ns, 60 * NS_PER_S);
}

static bool was_idle(const struct grpc_stats *s)
{
    return s->http2.closed[PLACE_IDLE] > 0;
}

/* A connection that already has a stream stays, like that of a crawler waiting
 * for URLs to put. */
TEST(a_connection_without_a_stream_is_closed_whatever_it_pings)
{
    static const char ping[] = "\0\0\x8\6\0\0\0\0\0pingping";
    int64_t until = clock_mono() + PATIENCE;
    struct body b = {.left = HI, .stays_open = true};
    struct answer a;
    int s;

    stranger_ns = idle_ns = NS_PER_S / 2;
    start();
    connect_client();
    send_call(&a, ECHO, &b);
    while (a.body.len == 0)
        ck_assert(turn(PATIENCE_MS));
    s = dial();
    (void)!send(s, hello, sizeof hello - 1, MSG_NOSIGNAL);
    while (!is_closed(s, 50)) {
        (void)!send(s, ping, sizeof ping - 1, MSG_NOSIGNAL);
        ck_assert_int_lt(clock_mono(), until);
    }
    ck_assert_uint_eq(sample_when(was_idle).http2.closed[PLACE_IDLE], 1);
    ck_assert(!a.closed);
    b.left = HI;
    b.stays_open = false;
    nghttp2_session_resume_data(ng, 1);
    while (!a.closed)
        ck_assert(turn(PATIENCE_MS));
    ck_assert_str_eq(a.status, "0");
    ck_assert_uint_eq(a.body.len, 2 * HI.len);
    buf_fini(&a.body);
    close(s);
    disconnect();
    stop();
}

/* ---- calls that need no token ---- */

#define EMPTY bytes_of("\0\0\0\0", 5)

/* Waits until the call is answered or ended. */
static void hear(const struct answer *a)
{
    while (a->body.len == 0 && !a->closed)
        ck_assert(turn(PATIENCE_MS));
}

static void watch_health(struct answer *a, struct body *b)
{
    b->left = EMPTY;
    b->stays_open = false;
    send_call(a, WATCH, b);
    hear(a);
}

/* Promise (The service): callers without a token cannot take the calls of
 * others. See also
 * `grpc_peers/a_connection_has_a_few_calls_without_a_token`,
 * `grpc_peers/a_call_without_a_token_has_small_messages`. */
TEST(calls_without_a_token_leave_room_for_those_with_one)
{
    struct answer a[4];
    struct body b[4];

    calls_most = 4;
    start();
    connect_client();
    for (int i = 0; i < 4; i++) {
        watch_health(&a[i], &b[i]);
        ck_assert(!a[i].closed);
    }
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    disconnect();
    stop();
    for (int i = 0; i < 4; i++)
        buf_fini(&a[i].body);
}

TEST(a_connection_has_a_few_calls_without_a_token)
{
    struct answer a[GRPC_ANONYMOUS_MOST + 2];
    struct body b[GRPC_ANONYMOUS_MOST + 2];
    const int n = GRPC_ANONYMOUS_MOST;

    start();
    connect_client();
    for (int i = 0; i <= n; i++)
        watch_health(&a[i], &b[i]);
    for (int i = 0; i < n; i++)
        ck_assert(!a[i].closed);
    ck_assert_str_eq(a[n].status, "8"); /* RESOURCE_EXHAUSTED */
    nghttp2_submit_rst_stream(ng, NGHTTP2_FLAG_NONE, 1, NGHTTP2_CANCEL);
    watch_health(&a[n + 1], &b[n + 1]);
    ck_assert(!a[n + 1].closed);
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    disconnect();
    stop();
    for (int i = 0; i < n + 2; i++)
        buf_fini(&a[i].body);
}

/* Only callers that showed a token get room for large messages. */
TEST(a_call_without_a_token_has_small_messages)
{
    struct body b = {.left = bytes_of("\0\0\2\0\0", 5), .stays_open = true};
    struct answer a;

    start();
    connect_client();
    send_call(&a, WATCH, &b);
    hear(&a);
    ck_assert_str_eq(a.status, "8"); /* not 4, after its deadline */
    disconnect();
    stop();
    buf_fini(&a.body);
}
