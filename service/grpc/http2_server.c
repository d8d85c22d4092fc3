/* SPDX-License-Identifier: MIT */
/*
 * http2_server.c - sockets around http2_session.
 *
 * A connection reads when its socket has something, and is marked as having
 * something to send by whatever changes its session. At the end of each turn
 * of the loop the marked ones write, so that all answers of a turn leave in as
 * few segments as they fit in.
 */
#include "service/grpc/http2_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "service/net/listener.h"

#define ACCEPTS      32        /* in one turn */
#define READ_CHUNK   65536     /* one read */
#define READS        4         /* of one connection in one turn */
#define OUT_MARK     65536     /* gathered before a write */
#define OUT_CEILING  (1 << 20) /* OUT_MARK and one frame fit in it */
#define ACCEPT_PAUSE (100 * NS_PER_MS)
#define NOTICE_TIME  (100 * NS_PER_MS) /* from the GOAWAY notice to GOAWAY */

struct http2_conn {
    struct loop_fd socket; /* first */
    struct http2_server *server;
    TAILQ_ENTRY(http2_conn) all, marked;
    struct tls_conn *tls;
    struct http2_session *session;
    struct buf out;
    size_t out_at;
    uint32_t events; /* the loop watches for */
    bool is_marked;
    bool over; /* no more input; closed when `out` is sent */
    bool read_wants_write, write_blocked;
    bool asked; /* a PING is on its way */
    int64_t heard;
    struct loop_timer timer;
};

TAILQ_HEAD(conn_list, http2_conn);

struct http2_server {
    struct loop_fd listener; /* first */
    struct loop *loop;
    struct http2_handler *handler;
    struct http2_server_options options;
    char address[LISTENER_ADDRESS_SIZE];
    struct conn_list all, marked;
    unsigned count;
    /* written by the loop's thread, read by any */
    _Atomic uint64_t open, accepted, refused, received, sent;
    struct loop_timer accept_again, goaway;
    bool listening, draining;
    void (*ended)(void *ctx);
    void *ended_ctx;
    char chunk[READ_CHUNK];
};

#define OF(type, member, p) ((type *)((char *)(p)-offsetof(type, member)))

void http2_server_options_init(struct http2_server_options *o)
{
    *o = (struct http2_server_options){
        .limits = {.streams = 256,
                   .window = 256 * 1024,
                   .header_most = 16384,
                   .out_most = 65536},
        .connections = 1000,
        .preface_ns = 10 * NS_PER_S,
        .quiet_ns = 120 * NS_PER_S,
        .answer_ns = 20 * NS_PER_S,
    };
}

static void count_up(_Atomic uint64_t *to, uint64_t by)
{
    atomic_fetch_add_explicit(to, by, memory_order_relaxed);
}

/* ---- one connection ---- */

static void conn_free(struct http2_conn *c)
{
    struct http2_server *s = c->server;

    http2_session_free(c->session);
    loop_timer_cancel(s->loop, &c->timer);
    loop_unwatch(s->loop, &c->socket);
    if (c->tls != NULL)
        tls_shutdown(c->tls);
    tls_conn_free(c->tls);
    close(c->socket.fd);
    TAILQ_REMOVE(&s->all, c, all);
    if (c->is_marked)
        TAILQ_REMOVE(&s->marked, c, marked);
    s->count--;
    count_up(&s->open, UINT64_MAX);
    buf_fini(&c->out);
    free(c);
    if (s->count == 0 && s->draining && s->ended != NULL)
        s->ended(s->ended_ctx);
}

static void mark(void *conn)
{
    struct http2_conn *c = conn;

    if (c->is_marked)
        return;
    c->is_marked = true;
    TAILQ_INSERT_TAIL(&c->server->marked, c, marked);
}

static enum status plain_result(ssize_t rc, size_t *n)
{
    if (rc > 0) {
        *n = (size_t)rc;
        return STATUS_OK;
    }
    if (rc < 0 && (errno == EAGAIN || errno == EINTR))
        return STATUS_AGAIN;
    return STATUS_CLOSED;
}

static enum status read_some(struct http2_conn *c, size_t *n)
{
    char *to = c->server->chunk;

    c->read_wants_write = false;
    if (c->tls != NULL)
        return tls_read(c->tls, to, READ_CHUNK, n, &c->read_wants_write);
    return plain_result(recv(c->socket.fd, to, READ_CHUNK, 0), n);
}

static enum status write_some(struct http2_conn *c, size_t *n)
{
    struct bytes b = bytes_of(c->out.at + c->out_at, c->out.len - c->out_at);
    bool wants_write = true;

    if (c->tls != NULL)
        return tls_write(c->tls, b, n, &wants_write);
    return plain_result(send(c->socket.fd, b.at, b.len, MSG_NOSIGNAL), n);
}

static void watch(struct http2_conn *c)
{
    uint32_t events = 0;

    if (!c->over)
        events |= EPOLLIN;
    if (c->write_blocked || c->read_wants_write)
        events |= EPOLLOUT;
    if (events != c->events)
        loop_change(c->server->loop, &c->socket, events);
    c->events = events;
}

static void gather(struct http2_conn *c)
{
    struct bytes b;

    buf_clear(&c->out);
    c->out_at = 0;
    while (c->out.len < OUT_MARK) {
        b = http2_session_send(c->session);
        if (b.len == 0)
            break;
        buf_add_bytes(&c->out, b);
    }
}

/* False: the connection is broken. */
static bool write_all(struct http2_conn *c)
{
    enum status st = STATUS_OK;

    c->write_blocked = false;
    while (st == STATUS_OK) {
        size_t n = 0;

        if (c->out_at == c->out.len)
            gather(c);
        if (c->out.len == 0)
            return true;
        st = write_some(c, &n);
        c->out_at += n;
        count_up(&c->server->sent, n);
    }
    c->write_blocked = st == STATUS_AGAIN;
    return c->write_blocked;
}

/* Frees the connection when it is over. */
static void flush(struct http2_conn *c)
{
    if (!write_all(c) ||
        (!c->write_blocked && (c->over || http2_session_over(c->session)))) {
        conn_free(c);
        return;
    }
    watch(c);
}

static void flush_marked(void *ctx)
{
    struct http2_server *s = ctx;
    struct http2_conn *c;

    while ((c = TAILQ_FIRST(&s->marked)) != NULL) {
        TAILQ_REMOVE(&s->marked, c, marked);
        c->is_marked = false;
        flush(c);
    }
}

static void conn_ready(struct loop_fd *f, uint32_t events)
{
    struct http2_conn *c = (struct http2_conn *)f;
    struct http2_server *s = c->server;
    enum status st = STATUS_OK;

    (void)events; /* errors show when reading or writing */
    for (int i = 0; i < READS && st == STATUS_OK && !c->over; i++) {
        size_t n = 0;

        st = read_some(c, &n);
        if (st != STATUS_OK)
            break;
        count_up(&s->received, n);
        c->heard = loop_now(s->loop);
        c->asked = false;
        if (http2_session_receive(c->session, bytes_of(s->chunk, n),
                                  c->heard) != STATUS_OK)
            c->over = true;
        if (n < READ_CHUNK && c->tls == NULL)
            break;
    }
    if (st == STATUS_CLOSED)
        conn_free(c);
    else
        mark(c);
}

/* The preface has not come, or silence. */
static void conn_timer(struct loop_timer *t)
{
    struct http2_conn *c = OF(struct http2_conn, timer, t);
    const struct http2_server_options *o = &c->server->options;
    int64_t now = loop_now(c->server->loop);

    if (!http2_session_ready(c->session) || c->asked) {
        conn_free(c);
        return;
    }
    if (now - c->heard < o->quiet_ns) {
        loop_timer_set(c->server->loop, t, c->heard + o->quiet_ns);
        return;
    }
    c->asked = true;
    http2_session_ping(c->session);
    loop_timer_set(c->server->loop, t, now + o->answer_ns);
}

/* Takes the descriptor. */
static void conn_new(struct http2_server *s, int fd)
{
    struct http2_conn *c = xcalloc(1, sizeof *c);
    int on = 1;

    c->socket.fd = fd;
    c->socket.ready = conn_ready;
    c->server = s;
    c->timer.fire = conn_timer;
    c->heard = loop_now(s->loop);
    c->events = EPOLLIN;
    buf_init(&c->out, OUT_CEILING);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if ((s->options.tls != NULL &&
         tls_accept(&c->tls, s->options.tls, fd) != STATUS_OK) ||
        http2_session_new(&c->session, s->handler, &s->options.limits, c) !=
            STATUS_OK ||
        loop_watch(s->loop, &c->socket, EPOLLIN) != STATUS_OK) {
        http2_session_free(c->session);
        tls_conn_free(c->tls);
        close(fd);
        free(c);
        return;
    }
    TAILQ_INSERT_TAIL(&s->all, c, all);
    s->count++;
    count_up(&s->open, 1);
    count_up(&s->accepted, 1);
    loop_timer_set(s->loop, &c->timer, c->heard + s->options.preface_ns);
    if (s->draining)
        http2_session_goaway(c->session, true);
    mark(c);
}

/* ---- the listener ---- */

static void listener_ready(struct loop_fd *f, uint32_t events)
{
    struct http2_server *s = (struct http2_server *)f;

    (void)events;
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(f->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0 && s->count < s->options.connections) {
            conn_new(s, fd);
        } else if (fd >= 0) {
            log_warn("too many connections, one is refused", "most=%u",
                     s->options.connections);
            count_up(&s->refused, 1);
            close(fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
            log_warn("cannot accept a connection", "why=\"%s\"",
                     strerror(errno));
            loop_change(s->loop, f, 0);
            loop_timer_set(s->loop, &s->accept_again,
                           loop_now(s->loop) + ACCEPT_PAUSE);
            return;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

static void accept_again(struct loop_timer *t)
{
    struct http2_server *s = OF(struct http2_server, accept_again, t);

    if (s->listening)
        loop_change(s->loop, &s->listener, EPOLLIN);
}

bool http2_split_address(struct bytes text, struct bytes *host,
                         struct bytes *port)
{
    const char *colon = text.len > 0 ? memrchr(text.at, ':', text.len) : NULL;
    unsigned number = 0;

    if (colon == NULL)
        return false;
    *host = bytes_of(text.at, (size_t)(colon - text.at));
    *port = bytes_of(colon + 1, text.len - host->len - 1);
    if (host->len >= 2 && host->at[0] == '[' &&
        host->at[host->len - 1] == ']') {
        host->at++;
        host->len -= 2;
    } else if (memchr(host->at, ':', host->len) != NULL) {
        return false; /* an IPv6 address without brackets */
    }
    if (host->len == 0 || port->len == 0 || port->len > 5)
        return false;
    for (size_t i = 0; i < port->len; i++) {
        if (port->at[i] < '0' || port->at[i] > '9')
            return false;
        number = 10 * number + (unsigned)(port->at[i] - '0');
    }
    return number <= UINT16_MAX; /* getaddrinfo would take the rest of it */
}

enum status http2_server_new(struct http2_server **out, struct loop *l,
                             struct http2_handler *h,
                             const struct http2_server_options *o)
{
    struct http2_server *s = xcalloc(1, sizeof *s);
    enum status st;

    h->wake = mark;
    s->loop = l;
    s->handler = h;
    s->options = *o;
    s->listener = (struct loop_fd){.fd = -1, .ready = listener_ready};
    s->accept_again.fire = accept_again;
    TAILQ_INIT(&s->all);
    TAILQ_INIT(&s->marked);
    st = listener_open(o->listen, &s->listener.fd, s->address);
    if (st == STATUS_OK)
        st = loop_watch(l, &s->listener, EPOLLIN);
    if (st != STATUS_OK) {
        http2_server_free(s);
        return st;
    }
    s->listening = true;
    loop_at_turn_end(l, flush_marked, s);
    *out = s;
    return STATUS_OK;
}

static void stop_listening(struct http2_server *s)
{
    loop_timer_cancel(s->loop, &s->accept_again);
    if (s->listening)
        loop_unwatch(s->loop, &s->listener);
    if (s->listener.fd >= 0)
        close(s->listener.fd);
    s->listener.fd = -1;
    s->listening = false;
}

void http2_server_free(struct http2_server *s)
{
    struct http2_conn *c;

    if (s == NULL)
        return;
    s->ended = NULL;
    while ((c = TAILQ_FIRST(&s->all)) != NULL)
        /* It leaves the list. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        conn_free(c);
    stop_listening(s);
    loop_timer_cancel(s->loop, &s->goaway);
    loop_at_turn_end(s->loop, NULL, NULL);
    free(s);
}

const char *http2_server_address(const struct http2_server *s)
{
    return s->address;
}

void http2_server_sample(const struct http2_server *s, struct http2_sample *out)
{
    *out = (struct http2_sample){
        .open = atomic_load_explicit(&s->open, memory_order_relaxed),
        .accepted = atomic_load_explicit(&s->accepted, memory_order_relaxed),
        .refused = atomic_load_explicit(&s->refused, memory_order_relaxed),
        .received = atomic_load_explicit(&s->received, memory_order_relaxed),
        .sent = atomic_load_explicit(&s->sent, memory_order_relaxed),
    };
}

unsigned http2_server_connections(const struct http2_server *s)
{
    return s->count;
}

static void send_goaway(struct loop_timer *t)
{
    struct http2_server *s = OF(struct http2_server, goaway, t);
    struct http2_conn *c;

    for (c = TAILQ_FIRST(&s->all); c != NULL; c = TAILQ_NEXT(c, all))
        http2_session_goaway(c->session, true);
}

void http2_server_drain(struct http2_server *s, void (*ended)(void *ctx),
                        void *ctx)
{
    struct http2_conn *c;

    s->draining = true;
    s->ended = ended;
    s->ended_ctx = ctx;
    stop_listening(s);
    if (s->count == 0) {
        ended(ctx);
        return;
    }
    for (c = TAILQ_FIRST(&s->all); c != NULL; c = TAILQ_NEXT(c, all))
        http2_session_goaway(c->session, false);
    s->goaway.fire = send_goaway;
    loop_timer_set(s->loop, &s->goaway, loop_now(s->loop) + NOTICE_TIME);
}

void http2_server_each(struct http2_server *s,
                       void (*visit)(struct http2_stream *t))
{
    struct http2_conn *c;

    for (c = TAILQ_FIRST(&s->all); c != NULL; c = TAILQ_NEXT(c, all))
        http2_session_each(c->session, visit);
}
