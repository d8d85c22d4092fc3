/* SPDX-License-Identifier: MIT */
/* grpc_load.c - nghttp2 client on one socket. */
#include "bench/support/grpc_load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

#define WINDOW (1 << 24)
#define CHUNK  (1 << 18)
#define MOST   ((size_t)64 << 20)

struct load {
    int fd;
    nghttp2_session *ng;
    struct buf out;
    size_t out_at;
    char chunk[CHUNK];
};

static void die(const char *what)
{
    fprintf(stderr, "grpc_load: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- called by nghttp2 ---- */

static ssize_t on_read(nghttp2_session *ng, int32_t id, uint8_t *to, size_t len,
                       uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    struct load_stream *s = source->ptr;
    size_t n;

    (void)ng;
    (void)id;
    (void)ctx;
    while (s->out.len - s->out_at < len) {
        unsigned char prefix[5] = {0};

        buf_clear(&s->message);
        if (!s->next(s, &s->message))
            break;
        if (s->out_at > CHUNK || (s->out_at > 0 && s->out_at == s->out.len)) {
            memmove(s->out.at, s->out.at + s->out_at, s->out.len - s->out_at);
            buf_truncate(&s->out, s->out.len - s->out_at);
            s->out_at = 0;
        }
        for (int i = 0; i < 4; i++)
            prefix[1 + i] = (unsigned char)(s->message.len >> (24 - 8 * i));
        buf_add(&s->out, prefix, sizeof prefix);
        buf_add_bytes(&s->out, buf_bytes(&s->message));
    }
    n = s->out.len - s->out_at < len ? s->out.len - s->out_at : len;
    if (n > 0)
        memcpy(to, s->out.at + s->out_at, n);
    s->out_at += n;
    if (s->done && s->out_at == s->out.len) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        return (ssize_t)n;
    }
    s->waiting = n == 0;
    return n == 0 ? NGHTTP2_ERR_DEFERRED : (ssize_t)n;
}

static int on_chunk(nghttp2_session *ng, uint8_t flags, int32_t id,
                    const uint8_t *data, size_t len, void *ctx)
{
    struct load_stream *s = nghttp2_session_get_stream_user_data(ng, id);
    size_t at = 0;

    (void)flags;
    (void)ctx;
    buf_add(&s->in, data, len);
    while (s->in.len - at >= 5) {
        const unsigned char *p = (const unsigned char *)s->in.at + at;
        size_t n =
            (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];

        if (s->in.len - at < 5 + n)
            break;
        s->answer(s, bytes_of(p + 5, n));
        at += 5 + n;
    }
    if (at > 0) {
        memmove(s->in.at, s->in.at + at, s->in.len - at);
        buf_truncate(&s->in, s->in.len - at);
    }
    return 0;
}

static int on_header(nghttp2_session *ng, const nghttp2_frame *f,
                     const uint8_t *name, size_t name_len, const uint8_t *value,
                     size_t value_len, uint8_t flags, void *ctx)
{
    struct load_stream *s =
        nghttp2_session_get_stream_user_data(ng, f->hd.stream_id);

    (void)flags;
    (void)ctx;
    if (bytes_is(bytes_of(name, name_len), "grpc-status"))
        s->status = atoi((const char *)value);
    else if (bytes_is(bytes_of(name, name_len), "grpc-message"))
        fprintf(stderr, "grpc_load: %.*s\n", (int)value_len,
                (const char *)value);
    return 0;
}

static int on_close(nghttp2_session *ng, int32_t id, uint32_t error, void *ctx)
{
    struct load_stream *s = nghttp2_session_get_stream_user_data(ng, id);

    (void)error;
    (void)ctx;
    s->closed = true;
    buf_fini(&s->out);
    buf_fini(&s->in);
    buf_fini(&s->message);
    return 0;
}

/* ---- the connection ---- */

struct load *load_connect(unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                           WINDOW};
    struct load *l = xcalloc(1, sizeof *l);
    nghttp2_session_callbacks *cb;
    int on = 1;

    buf_init(&l->out, MOST);
    l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->fd < 0 || connect(l->fd, (struct sockaddr *)&to, sizeof to) != 0)
        die("connect");
    setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    nghttp2_session_callbacks_new(&cb);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_chunk);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
    nghttp2_session_client_new(&l->ng, cb, l);
    nghttp2_session_callbacks_del(cb);
    nghttp2_submit_settings(l->ng, NGHTTP2_FLAG_NONE, &window, 1);
    nghttp2_session_set_local_window_size(l->ng, NGHTTP2_FLAG_NONE, 0, WINDOW);
    return l;
}

void load_free(struct load *l)
{
    nghttp2_session_del(l->ng);
    close(l->fd);
    buf_fini(&l->out);
    free(l);
}

static nghttp2_nv nv(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value,
                        strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

void load_start(struct load *l, struct load_stream *s, const char *method)
{
    nghttp2_data_provider body = {.source.ptr = s, .read_callback = on_read};
    char path[128];
    nghttp2_nv h[] = {nv(":method", "POST"),
                      nv(":scheme", "http"),
                      nv(":path", "/"), /* below */
                      nv(":authority", "localhost"),
                      nv("content-type", "application/grpc"),
                      nv("te", "trailers")};

    snprintf(path, sizeof path, "/urlfrontier.URLFrontier/%s", method);
    h[2] = nv(":path", path);
    buf_init(&s->out, MOST);
    buf_init(&s->in, MOST);
    buf_init(&s->message, MOST);
    s->out_at = 0;
    s->waiting = s->closed = false;
    s->status = -1;
    s->id =
        nghttp2_submit_request(l->ng, NULL, h, sizeof h / sizeof *h, &body, s);
    if (s->id < 0)
        die("request");
}

void load_resume(struct load *l, struct load_stream *s)
{
    if (!s->waiting)
        return;
    s->waiting = false;
    nghttp2_session_resume_data(l->ng, s->id);
}

static void gather(struct load *l)
{
    const uint8_t *at;
    ssize_t n;

    if (l->out_at == l->out.len) {
        buf_clear(&l->out);
        l->out_at = 0;
    }
    while (l->out.len < CHUNK && (n = nghttp2_session_mem_send(l->ng, &at)) > 0)
        buf_add(&l->out, at, (size_t)n);
}

static void send_gathered(struct load *l)
{
    ssize_t n = send(l->fd, l->out.at + l->out_at, l->out.len - l->out_at,
                     MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0 && errno != EAGAIN)
        die("send");
    l->out_at += n > 0 ? (size_t)n : 0;
}

void load_send(struct load *l)
{
    gather(l);
    if (l->out_at < l->out.len)
        send_gathered(l);
}

static void turn(struct load *l)
{
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    ssize_t n;

    gather(l);
    if (l->out_at < l->out.len)
        p.events |= POLLOUT;
    if (poll(&p, 1, -1) < 0)
        die("poll");
    if ((p.revents & POLLOUT) != 0)
        send_gathered(l);
    if ((p.revents & (POLLIN | POLLHUP | POLLERR)) == 0)
        return;
    n = recv(l->fd, l->chunk, CHUNK, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        die("the connection is closed");
    if (n > 0 &&
        nghttp2_session_mem_recv(l->ng, (uint8_t *)l->chunk, (size_t)n) != n)
        die("not HTTP/2");
}

void load_run(struct load *l, bool (*over)(void *ctx), void *ctx)
{
    while (!over(ctx))
        turn(l);
}

static bool is_closed(void *stream)
{
    return ((struct load_stream *)stream)->closed;
}

void load_finish(struct load *l, struct load_stream *s)
{
    load_run(l, is_closed, s);
    if (s->status == 0)
        return;
    fprintf(stderr, "grpc_load: a call ended with status %d\n", s->status);
    exit(1);
}
