/*
 * grpc_rig.h - a gRPC server with a few methods on a loopback socket, and
 * nghttp2 as its client, frame by frame. Header only.
 */
#ifndef URLWEIR_TESTS_SERVICE_GRPC_GRPC_RIG_H
#define URLWEIR_TESTS_SERVICE_GRPC_GRPC_RIG_H

#include <arpa/inet.h>
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
#include "service/grpc/grpc_frame.h"
#include "service/grpc/grpc_server.h"
#include "service/grpc/grpc_services.h"
#include "tests/unit/unit.h"

#define ECHO  "/test.T/Echo"
#define ONCE  "/test.T/Once"
#define HOLD  "/test.T/Hold"
#define MUCH  "/test.T/Much"
#define MORE  "/test.T/More"
#define IDLE  "/test.T/Idle"
#define WATCH "/grpc.health.v1.Health/Watch"

/* How long to wait for what is certain to come, even on a slow machine. */
#define PATIENCE_MS 60000
#define PATIENCE    (PATIENCE_MS * NS_PER_MS)

/* ---- the server, on a thread of its own ---- */

static struct loop *loop;
static struct grpc_server *server;
static pthread_t thread;
static unsigned port;
static _Atomic size_t echoed, held, ended;
/* Only tests about these make them short: a slow client proves nothing. */
static int64_t preface_ns = PATIENCE, request_ns = PATIENCE;
static int64_t quiet_ns = PATIENCE, answer_ns = PATIENCE;
static int64_t head_ns = PATIENCE, idle_ns = PATIENCE, stranger_ns = PATIENCE;
static size_t calls_most;     /* 0: the server's own limit */
static uint32_t streams_most; /* the same */
static struct grpc_health *health;

static inline void reply(struct grpc_call *c, struct bytes m)
{
    char *at = grpc_call_answer(c, m.len);

    if (at != NULL && m.len > 0)
        memcpy(at, m.at, m.len);
}

static inline void echo(struct grpc_call *c, struct bytes m)
{
    echoed++;
    reply(c, m);
    if (grpc_call_room(c) == 0)
        grpc_call_pause(c);
}

static inline void done(struct grpc_call *c)
{
    grpc_call_finish(c, GRPC_OK, NULL);
}

static inline void once(struct grpc_call *c, struct bytes m)
{
    reply(c, m);
    grpc_call_finish(c, GRPC_OK, NULL);
}

static inline void hold(struct grpc_call *c, struct bytes m)
{
    (void)c;
    (void)m;
    held++;
}

/* More than the sockets can hold; and the call that waits for `more`. */
#define MUCH_OCTETS ((size_t)16 << 20)
static struct grpc_call *kept;
static _Atomic bool more_was_taken;

static inline void much(struct grpc_call *c, struct bytes m)
{
    char *at = grpc_call_answer(c, MUCH_OCTETS);

    (void)m;
    memset(at, 'x', MUCH_OCTETS);
    if (kept != NULL)
        grpc_call_drop(kept);
    grpc_call_hold(c);
    kept = c;
}

static inline void more(struct grpc_call *c, struct bytes m)
{
    more_was_taken = grpc_call_answer(kept, 1) != NULL;
    grpc_call_finish(kept, GRPC_OK, NULL);
    grpc_call_drop(kept);
    once(c, m);
}

static inline void count_ended(struct grpc_call *c)
{
    (void)c;
    ended++;
}

static const struct grpc_method methods[] = {
    {.path = ECHO,
     .kind = GRPC_STREAM,
     .role = AUTH_READ,
     .message = echo,
     .half_closed = done,
     .drained = grpc_call_resume,
     .stopping = done,
     .ended = count_ended},
    {.path = ONCE, .kind = GRPC_SINGLE, .role = AUTH_READ, .message = once},
    {.path = HOLD,
     .kind = GRPC_SINGLE,
     .role = AUTH_READ,
     .message = hold,
     .ended = count_ended},
    {.path = MUCH,
     .kind = GRPC_STREAM,
     .role = AUTH_READ,
     .message = much,
     .ended = count_ended},
    {.path = MORE, .kind = GRPC_SINGLE, .role = AUTH_READ, .message = more},
    {.path = IDLE,
     .kind = GRPC_STREAM,
     .role = AUTH_READ,
     .message = echo,
     .half_closed = done,
     .turn = grpc_call_set_idle},
    {.path = NULL},
};

static inline void *run(void *arg)
{
    loop_run(loop);
    return arg;
}

static inline void start(void)
{
    static const char *const services[] = {NULL};
    struct grpc_table tables[] = {{methods, NULL},
                                  {grpc_health_methods, NULL},
                                  {NULL, NULL}};
    struct grpc_options o = {.tables = tables,
                             .request_ns = request_ns,
                             .calls_most = calls_most};
    const char *colon;

    tables[1].ctx = health = grpc_health_new(services);
    http2_server_options_init(&o.http2);
    o.http2.listen = "127.0.0.1:0";
    o.http2.connections = 3;
    if (streams_most > 0)
        o.http2.limits.streams = streams_most;
    o.http2.preface_ns = preface_ns;
    o.http2.head_ns = head_ns;
    o.http2.idle_ns = idle_ns;
    o.http2.stranger_ns = stranger_ns;
    o.http2.quiet_ns = quiet_ns;
    o.http2.answer_ns = answer_ns;
    ck_ok(loop_new(&loop));
    ck_ok(grpc_server_new(&server, loop, &o));
    colon = strrchr(http2_server_address(grpc_server_http2(server)), ':');
    port = (unsigned)atoi(colon + 1);
    pthread_create(&thread, NULL, run, NULL);
}

static inline void stop(void)
{
    loop_stop(loop);
    pthread_join(thread, NULL);
    grpc_server_free(server);
    grpc_health_free(health);
    loop_free(loop);
}

static inline void comes_to(_Atomic size_t *count, size_t n)
{
    int64_t until = clock_mono() + PATIENCE;

    while (*count != n) {
        ck_assert_int_lt(clock_mono(), until);
        usleep(2000);
    }
}

/* Returns the stats once `is` holds for them, or after a long time. */
static inline struct grpc_stats sample_when(
    bool (*is)(const struct grpc_stats *s))
{
    int64_t until = clock_mono() + PATIENCE;
    struct grpc_stats s;

    grpc_server_get_stats(server, &s);
    while (!is(&s) && clock_mono() < until) {
        usleep(2000);
        grpc_server_get_stats(server, &s);
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

static inline int on_header(nghttp2_session *s, const nghttp2_frame *f,
                            const uint8_t *name, size_t name_len,
                            const uint8_t *value, size_t value_len,
                            uint8_t flags, void *ctx)
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

static inline int on_chunk(nghttp2_session *s, uint8_t flags, int32_t id,
                           const uint8_t *data, size_t len, void *ctx)
{
    struct answer *a = nghttp2_session_get_stream_user_data(s, id);

    (void)flags;
    (void)ctx;
    buf_add(&a->body, data, len);
    return 0;
}

static inline int on_close(nghttp2_session *s, int32_t id, uint32_t error,
                           void *ctx)
{
    struct answer *a = nghttp2_session_get_stream_user_data(s, id);

    (void)ctx;
    a->closed = true;
    a->error = error;
    return 0;
}

static inline int dial(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_eq(connect(s, (struct sockaddr *)&to, sizeof to), 0);
    return s;
}

/* Its receive window is 65,535 octets; once used up, it stays shut. */
static bool window_stays_shut;

static inline void connect_client(void)
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

static inline void disconnect(void)
{
    nghttp2_session_del(ng);
    close(fd);
}

/* Sends everything at once, so that no deadline falls between the frames of a
 * request. Returns false if the server closed. */
static inline bool flush(void)
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

/* Sends and receives; false: nothing came in time, or the server closed. */
static inline bool turn(int timeout_ms)
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

static inline nghttp2_nv nv(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value,
                        strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

struct body {
    struct bytes left;
    bool stays_open;
};

static inline ssize_t give(nghttp2_session *s, int32_t id, uint8_t *to,
                           size_t len, uint32_t *flags,
                           nghttp2_data_source *source, void *ctx)
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

static inline void send_call(struct answer *a, const char *path, struct body *b)
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

/* Makes a whole call; its answer goes to `a`, whose body the caller frees. */
static inline void call(struct answer *a, const char *path, struct bytes body)
{
    struct body b = {.left = body};

    send_call(a, path, &b);
    while (!a->closed)
        ck_assert_msg(turn(PATIENCE_MS), "the server closed or says nothing");
}

/* Returns the grpc-status of a call that has no answer message. */
static inline const char *status_of(const char *path, struct bytes body)
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

#endif
