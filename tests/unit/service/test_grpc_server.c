/* SPDX-License-Identifier: MIT */
/* The server on a loopback socket; nghttp2 as its client, frame by frame. */
#include <arpa/inet.h>
#include <check.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "service/grpc_frame.h"
#include "service/grpc_health.h"
#include "service/grpc_server.h"

#define ECHO "/test.T/Echo"
#define ONCE "/test.T/Once"
#define HOLD "/test.T/Hold"
#define MUCH "/test.T/Much"
#define MORE "/test.T/More"

/* For what is certain to come, however slow the machine is. */
#define PATIENCE_MS 60000
#define PATIENCE    (PATIENCE_MS * NS_PER_MS)

/* ---- the server, on a thread of its own ---- */

static struct loop *loop;
static struct grpc_server *server;
static pthread_t thread;
static unsigned port;
static _Atomic size_t echoed, held, ended;
/* Short only where a test is about them: a slow client is no finding. */
static int64_t preface_ns = PATIENCE, request_ns = PATIENCE;
static int64_t quiet_ns = PATIENCE, answer_ns = PATIENCE;

static void reply(struct grpc_call *c, struct bytes m)
{
    char *at = grpc_call_answer(c, m.len);

    if (at != NULL && m.len > 0)
        memcpy(at, m.at, m.len);
}

static void echo(struct grpc_call *c, struct bytes m)
{
    echoed++;
    reply(c, m);
    if (grpc_call_room(c) == 0)
        grpc_call_pause(c);
}

static void done(struct grpc_call *c)
{
    grpc_call_finish(c, GRPC_OK, NULL);
}

static void once(struct grpc_call *c, struct bytes m)
{
    reply(c, m);
    grpc_call_finish(c, GRPC_OK, NULL);
}

static void hold(struct grpc_call *c, struct bytes m)
{
    (void)c;
    (void)m;
    held++;
}

/* More than sockets hold, and the call kept for `more`. */
#define MUCH_OCTETS ((size_t)16 << 20)
static struct grpc_call *kept;
static _Atomic bool more_was_taken;

static void much(struct grpc_call *c, struct bytes m)
{
    char *at = grpc_call_answer(c, MUCH_OCTETS);

    (void)m;
    memset(at, 'x', MUCH_OCTETS);
    if (kept != NULL)
        grpc_call_drop(kept);
    grpc_call_hold(c);
    kept = c;
}

static void more(struct grpc_call *c, struct bytes m)
{
    more_was_taken = grpc_call_answer(kept, 1) != NULL;
    grpc_call_finish(kept, GRPC_OK, NULL);
    grpc_call_drop(kept);
    once(c, m);
}

static void count_ended(struct grpc_call *c)
{
    (void)c;
    ended++;
}

static const struct grpc_method methods[] = {
    {.path = ECHO,
     .kind = GRPC_STREAM,
     .message = echo,
     .half_closed = done,
     .drained = grpc_call_resume,
     .stopping = done,
     .ended = count_ended},
    {.path = ONCE, .kind = GRPC_SINGLE, .message = once},
    {.path = HOLD, .kind = GRPC_SINGLE, .message = hold, .ended = count_ended},
    {.path = MUCH, .kind = GRPC_STREAM, .message = much, .ended = count_ended},
    {.path = MORE, .kind = GRPC_SINGLE, .message = more},
    {.path = NULL},
};

static void *run(void *arg)
{
    loop_run(loop);
    return arg;
}

static void start(void)
{
    static const struct grpc_table tables[] = {{methods, NULL}, {NULL, NULL}};
    struct grpc_options o = {.tables = tables, .request_ns = request_ns};
    const char *colon;

    http2_server_options_init(&o.http2);
    o.http2.listen = "127.0.0.1:0";
    o.http2.connections = 3;
    o.http2.preface_ns = preface_ns;
    o.http2.quiet_ns = quiet_ns;
    o.http2.answer_ns = answer_ns;
    ck_assert_int_eq(loop_new(&loop), STATUS_OK);
    ck_assert_int_eq(grpc_server_new(&server, loop, &o), STATUS_OK);
    colon = strrchr(http2_server_address(grpc_server_http2(server)), ':');
    port = (unsigned)atoi(colon + 1);
    pthread_create(&thread, NULL, run, NULL);
}

static void stop(void)
{
    loop_stop(loop);
    pthread_join(thread, NULL);
    grpc_server_free(server);
    loop_free(loop);
}

static void comes_to(_Atomic size_t *count, size_t n)
{
    int64_t until = clock_mono() + PATIENCE;

    while (*count != n) {
        ck_assert_int_lt(clock_mono(), until);
        usleep(2000);
    }
}

/* What a monitor is told once it `is` so, or after a long time. */
static struct grpc_sample sample_when(bool (*is)(const struct grpc_sample *s))
{
    int64_t until = clock_mono() + PATIENCE;
    struct grpc_sample s;

    grpc_server_sample(server, &s);
    while (!is(&s) && clock_mono() < until) {
        usleep(2000);
        grpc_server_sample(server, &s);
    }
    return s;
}

/* ---- the client ---- */

struct answer {
    char http[8], status[8], message[256];
    struct buf body;
    bool closed;
    uint32_t error;
};

static int fd;
static nghttp2_session *ng;

static int on_header(nghttp2_session *s, const nghttp2_frame *f,
                     const uint8_t *name, size_t name_len, const uint8_t *value,
                     size_t value_len, uint8_t flags, void *ctx)
{
    struct answer *a = nghttp2_session_get_stream_user_data(s, f->hd.stream_id);
    struct bytes n = bytes_of(name, name_len);

    (void)flags;
    (void)ctx;
    if (bytes_is(n, ":status"))
        snprintf(a->http, sizeof a->http, "%.*s", (int)value_len, value);
    else if (bytes_is(n, "grpc-status"))
        snprintf(a->status, sizeof a->status, "%.*s", (int)value_len, value);
    else if (bytes_is(n, "grpc-message"))
        snprintf(a->message, sizeof a->message, "%.*s", (int)value_len, value);
    return 0;
}

static int on_chunk(nghttp2_session *s, uint8_t flags, int32_t id,
                    const uint8_t *data, size_t len, void *ctx)
{
    struct answer *a = nghttp2_session_get_stream_user_data(s, id);

    (void)flags;
    (void)ctx;
    buf_add(&a->body, data, len);
    return 0;
}

static int on_close(nghttp2_session *s, int32_t id, uint32_t error, void *ctx)
{
    struct answer *a = nghttp2_session_get_stream_user_data(s, id);

    (void)ctx;
    a->closed = true;
    a->error = error;
    return 0;
}

static int dial(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_eq(connect(s, (struct sockaddr *)&to, sizeof to), 0);
    return s;
}

/* Its window for answers stays at 65,535 octets, once used it is shut. */
static bool window_stays_shut;

static void connect_client(void)
{
    nghttp2_session_callbacks *cb;
    nghttp2_option *option;

    fd = dial();
    nghttp2_session_callbacks_new(&cb);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, window_stays_shut);
    nghttp2_session_client_new2(&ng, cb, NULL, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(cb);
    nghttp2_submit_settings(ng, NGHTTP2_FLAG_NONE, NULL, 0);
}

static void disconnect(void)
{
    nghttp2_session_del(ng);
    close(fd);
}

/* All there is to send, in one go: no deadline comes between the frames of a
 * request. False: the server closed. */
static bool flush(void)
{
    struct buf out;
    const uint8_t *at;
    ssize_t n;
    bool sent;

    buf_init(&out, (size_t)64 << 20);
    while ((n = nghttp2_session_mem_send(ng, &at)) > 0)
        buf_add(&out, at, (size_t)n);
    sent = out.len == 0 ||
           send(fd, out.at, out.len, MSG_NOSIGNAL) == (ssize_t)out.len;
    buf_fini(&out);
    return sent;
}

/* Send and receive; false: nothing came in time, or the server closed. */
static bool turn(int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char chunk[65536];
    ssize_t n;

    if (!flush())
        return false;
    if (poll(&p, 1, timeout_ms) <= 0)
        return false;
    n = recv(fd, chunk, sizeof chunk, 0);
    return n > 0 &&
           nghttp2_session_mem_recv(ng, (uint8_t *)chunk, (size_t)n) == n;
}

static nghttp2_nv nv(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value,
                        strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

struct body {
    struct bytes left;
    bool stays_open;
};

static ssize_t give(nghttp2_session *s, int32_t id, uint8_t *to, size_t len,
                    uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    struct body *b = source->ptr;
    size_t n = b->left.len < len ? b->left.len : len;

    (void)s;
    (void)id;
    (void)ctx;
    if (n == 0 && b->stays_open)
        return NGHTTP2_ERR_DEFERRED;
    if (n > 0)
        memcpy(to, b->left.at, n);
    b->left = bytes_of(b->left.at + n, b->left.len - n);
    if (b->left.len == 0 && !b->stays_open)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static const char *method_sent = "POST", *type_sent = "application/grpc",
                  *more_name, *more_value;

static void send_call(struct answer *a, const char *path, struct body *b)
{
    nghttp2_nv h[8] = {nv(":method", method_sent),
                       nv(":scheme", "http"),
                       nv(":path", path),
                       nv(":authority", "a"),
                       nv("content-type", type_sent),
                       nv("te", "trailers")};
    nghttp2_data_provider p = {.source.ptr = b, .read_callback = give};
    size_t n = 6;

    if (more_name != NULL)
        h[n++] = nv(more_name, more_value);
    memset(a, 0, sizeof *a);
    buf_init(&a->body, (size_t)64 << 20);
    ck_assert_int_gt(nghttp2_submit_request(ng, NULL, h, n, &p, a), 0);
}

/* The whole call; its answer in `a`, of which the body is to be freed. */
static void call(struct answer *a, const char *path, struct bytes body)
{
    struct body b = {.left = body};

    send_call(a, path, &b);
    while (!a->closed)
        ck_assert_msg(turn(PATIENCE_MS), "the server closed or says nothing");
}

/* grpc-status of a call that answers nothing. */
static const char *status_of(const char *path, struct bytes body)
{
    static char status[8];
    struct answer a;

    call(&a, path, body);
    ck_assert_str_eq(a.http, "200");
    snprintf(status, sizeof status, "%s", a.status);
    buf_fini(&a.body);
    return status;
}

#define HI bytes_of("\0\0\0\0\2hi", 7)

START_TEST(a_message_goes_out_and_comes_back_with_status_0)
{
    struct answer a;

    start();
    connect_client();
    call(&a, ONCE, HI);
    ck_assert_str_eq(a.http, "200");
    ck_assert_str_eq(a.status, "0");
    ck_assert(bytes_equal(buf_bytes(&a.body), HI));
    buf_fini(&a.body);
    call(&a, ECHO, bytes_of("\0\0\0\0\1a\0\0\0\0\0\0\0\0\0\1b", 17));
    ck_assert_str_eq(a.status, "0");
    ck_assert_uint_eq(a.body.len, 17);
    buf_fini(&a.body);
    disconnect();
    stop();
}
END_TEST

START_TEST(what_is_no_call_of_grpc_is_told_so_in_http)
{
    struct answer a;

    start();
    connect_client();
    type_sent = "application/json";
    call(&a, ONCE, HI);
    ck_assert_str_eq(a.http, "415");
    buf_fini(&a.body);
    type_sent = "application/grpc";
    method_sent = "PUT";
    call(&a, ONCE, HI);
    ck_assert_str_eq(a.http, "405");
    buf_fini(&a.body);
    disconnect();
    stop();
}
END_TEST

START_TEST(each_mistake_has_its_status)
{
    char long_value[20000];

    start();
    connect_client();
    ck_assert_str_eq(status_of("/test.T/Nothing", HI), "12");
    ck_assert_str_eq(status_of(ONCE, bytes_of(NULL, 0)), "13");
    ck_assert_str_eq(status_of(ONCE, bytes_of("\0\0\0\0\5hi", 7)), "13");
    ck_assert_str_eq(status_of(ONCE, bytes_of("\1\0\0\0\2hi", 7)), "13");
    ck_assert_str_eq(status_of(ONCE, bytes_of("\0\x7f\xff\xff\xffhi", 7)), "8");
    ck_assert_str_eq(status_of(ONCE, bytes_of("\0\0\0\0\0\0\0\0\0\0", 10)),
                     "13");
    more_name = "grpc-encoding";
    more_value = "zstd";
    ck_assert_str_eq(status_of(ONCE, HI), "12");
    more_name = "grpc-timeout";
    more_value = "soon";
    ck_assert_str_eq(status_of(ONCE, HI), "13");
    more_value = "0n";
    ck_assert_str_eq(status_of(HOLD, HI), "4");
    more_name = "x-large";
    memset(long_value, 'x', sizeof long_value - 1);
    long_value[sizeof long_value - 1] = '\0';
    more_value = long_value;
    ck_assert_str_eq(status_of(ONCE, HI), "8");
    more_name = NULL;
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    disconnect();
    stop();
}
END_TEST

START_TEST(a_deadline_ends_a_call_and_a_reset_does)
{
    struct answer a;
    struct body b = {.left = HI};
    int64_t begun = clock_mono();

    start();
    connect_client();
    more_name = "grpc-timeout";
    more_value = "200m";
    ck_assert_str_eq(status_of(HOLD, HI), "4");
    ck_assert_int_ge(clock_mono() - begun, 200 * NS_PER_MS);
    comes_to(&ended, 1);
    more_name = NULL;
    send_call(&a, HOLD, &b);
    ck_assert(flush());
    comes_to(&held, 2);
    nghttp2_submit_rst_stream(ng, NGHTTP2_FLAG_NONE, 3, NGHTTP2_CANCEL);
    ck_assert(flush());
    comes_to(&ended, 2);
    buf_fini(&a.body);
    disconnect();
    stop();
}
END_TEST

/* One who takes nothing calls MUCH; true: when its deadline came, so much stood
 * in the way that the reset could not be told. */
static bool is_deaf_at_its_deadline(struct answer *a, struct body *b,
                                    const char *timeout)
{
    const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                           1 << 30};
    const int small = 4096;
    const size_t ended_before = ended;
    struct grpc_sample s;

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
        grpc_server_sample(server, &s);
    } while (s.ended[GRPC_DEADLINE_EXCEEDED] == ended_before);
    return ended == ended_before;
}

/* The reset of a call that is over cannot be told to a peer that takes nothing,
 * and its stream stays; what is answered after that goes nowhere. */
START_TEST(an_answer_behind_the_deadline_of_one_who_does_not_read_goes_nowhere)
{
    static const char *const timeouts[] = {"100m", "500m", "2S", "8S", "30S"};
    struct answer a;
    struct body b = {.left = HI, .stays_open = true};
    struct grpc_sample s;
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
    grpc_server_sample(server, &s); /* and it is counted once */
    ck_assert_uint_eq(s.ended[GRPC_DEADLINE_EXCEEDED], (size_t)tries + 1);
    ck_assert_uint_eq(s.ended[GRPC_CANCELLED], 0);
    buf_fini(&a.body);
    stop();
}
END_TEST

static bool holds_one_call(const struct grpc_sample *s)
{
    return s->open == 1 && s->received == 3;
}

static bool is_left_alone(const struct grpc_sample *s)
{
    return s->http2.open == 0 && s->open == 0 && s->ended[GRPC_CANCELLED] > 0;
}

START_TEST(a_monitor_is_told_each_stream_once_by_its_status)
{
    struct grpc_sample s;
    struct answer a;
    struct body b = {.left = HI};

    start();
    connect_client();
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    ck_assert_str_eq(status_of("/test.T/Nothing", HI), "12");
    more_name = "grpc-timeout";
    more_value = "50m";
    ck_assert_str_eq(status_of(HOLD, HI), "4");
    more_name = NULL;
    type_sent = "application/json";
    call(&a, ONCE, HI);
    buf_fini(&a.body);
    type_sent = "application/grpc";
    send_call(&a, HOLD, &b);
    ck_assert(flush());
    s = sample_when(holds_one_call);
    ck_assert_uint_eq(s.open, 1);
    disconnect();
    s = sample_when(is_left_alone);
    buf_fini(&a.body);
    ck_assert_uint_eq(s.http2.open, 0);
    ck_assert_uint_eq(s.http2.accepted, 1);
    ck_assert_uint_eq(s.open, 0);
    ck_assert_uint_eq(s.ended[GRPC_OK], 1);
    ck_assert_uint_eq(s.ended[GRPC_UNIMPLEMENTED], 1);
    ck_assert_uint_eq(s.ended[GRPC_DEADLINE_EXCEEDED], 1);
    ck_assert_uint_eq(s.ended[GRPC_CANCELLED], 1);
    ck_assert_uint_eq(s.strangers, 1);
    ck_assert_uint_eq(s.received, 3);
    ck_assert_uint_eq(s.sent, 1);
    ck_assert_uint_gt(s.http2.received, 100);
    ck_assert_uint_gt(s.http2.sent, 100);
    stop();
}
END_TEST

START_TEST(a_request_that_does_not_come_ends_its_call)
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
END_TEST

/* 16 MiB of messages, echoed to one who takes 64 KiB of answers. */
START_TEST(who_does_not_read_is_not_read_from)
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
    /* What is on its way, at its mark, and not a window more. */
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
END_TEST

/* True when the server closes it within the time. */
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

START_TEST(a_connection_that_says_nothing_is_closed)
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
END_TEST

/* One never answers PING, the other does. True: when the one was closed, the
 * other was not. */
static bool silence_is_told_from_life(int64_t quiet)
{
    static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                "\0\0\0\x04\0\0\0\0\0";
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

/* A client that the machine keeps from answering in time gets more of it. */
START_TEST(silence_is_asked_for_a_sign_of_life_and_then_closed)
{
    ck_assert(silence_is_told_from_life(NS_PER_S) ||
              silence_is_told_from_life(4 * NS_PER_S) ||
              silence_is_told_from_life(16 * NS_PER_S));
}
END_TEST

static bool has_two_connections(const struct grpc_sample *s)
{
    return s->http2.open == 2;
}

START_TEST(connections_over_the_limit_are_closed)
{
    int s[4];

    start();
    for (int i = 0; i < 4; i++)
        s[i] = dial();
    ck_assert(is_closed(s[3], PATIENCE_MS / 2));
    close(s[0]);
    ck_assert_uint_eq(sample_when(has_two_connections).http2.open, 2);
    connect_client();
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    disconnect();
    for (int i = 1; i < 4; i++)
        close(s[i]);
    stop();
}
END_TEST

Suite *suite_grpc_server(void)
{
    Suite *s = suite_create("grpc_server");
    TCase *t = tcase_create("grpc_server");

    tcase_add_test(t, a_message_goes_out_and_comes_back_with_status_0);
    tcase_add_test(t, what_is_no_call_of_grpc_is_told_so_in_http);
    tcase_add_test(t, each_mistake_has_its_status);
    tcase_add_test(t, a_deadline_ends_a_call_and_a_reset_does);
    tcase_add_test(
        t, an_answer_behind_the_deadline_of_one_who_does_not_read_goes_nowhere);
    tcase_add_test(t, a_monitor_is_told_each_stream_once_by_its_status);
    tcase_add_test(t, a_request_that_does_not_come_ends_its_call);
    tcase_add_test(t, who_does_not_read_is_not_read_from);
    tcase_add_test(t, a_connection_that_says_nothing_is_closed);
    tcase_add_test(t, silence_is_asked_for_a_sign_of_life_and_then_closed);
    tcase_add_test(t, connections_over_the_limit_are_closed);
    suite_add_tcase(s, t);
    return s;
}
