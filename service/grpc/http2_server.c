/* SPDX-License-Identifier: MIT */
/* http2_server.c - the listener, and all connections with their deadlines. */
#include "service/grpc/http2_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
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

#define HTTP2_READ_CHUNK  65536             /* one read */
#define HTTP2_NOTICE_TIME (100 * NS_PER_MS) /* between the notice and GOAWAY */

struct http2_conn {
    struct loop_fd socket; /* first */
    struct http2_server *server;
    struct place place;
    TAILQ_ENTRY(http2_conn) all, marked;
    struct tls_conn *tls;
    struct http2_session *session;
    struct buf out;
    size_t out_at;
    uint32_t events; /* watched by the loop */
    bool is_marked;
    bool over; /* no more input; closed when `out` is sent */
    bool read_wants_write, write_blocked;

    /* for http2_server.c; times are monotonic, 0: none */
    int64_t began, heard;
    int64_t idle;    /* no stream is open since then */
    uint64_t opened; /* streams opened, as of then */
    int64_t asked;   /* when a PING was sent */
    int64_t noticed; /* when the notice was sent ...... */
    bool leaving;    /* ... and GOAWAY was sent too */
    int64_t armed;   /* when `timer` fires */
    struct loop_timer timer;
};

TAILQ_HEAD(http2_conns, http2_conn);

struct http2_server {
    struct loop_fd listener; /* first */
    struct loop *loop;
    struct http2_handler *handler;
    struct http2_server_options options;
    char address[LISTENER_ADDRESS_SIZE];
    struct places places;
    struct http2_conns all, marked;
    unsigned count;
    /* written by the loop's thread, read by any */
    _Atomic uint64_t open, accepted, received, sent;
    struct loop_timer accept_again, goaway;
    bool listening, draining;
    void (*ended)(void *ctx);
    void *ended_ctx;
    char chunk[HTTP2_READ_CHUNK];
};

#define HTTP2_OF(type, member, p) ((type *)((char *)(p)-offsetof(type, member)))

/* ---- the deadlines of a connection ----
 *
 *   handshake, preface, SETTINGS    preface_ns
 *   a block of header fields        head_ns
 *   no stream                       idle_ns, or stranger_ns; then GOAWAY's
 *                                   notice, GOAWAY, and answer_ns to take it
 *   no octet at all                 quiet_ns, then PING and answer_ns
 *
 * Each connection has one timer, set to the earliest of these; when it fires,
 * it finds out which one it was.
 */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t idle_time(const struct http2_conn *c)
{
    const struct http2_server_options *o = &c->server->options;

    return c->place.is == PLACE_KNOWN ? o->idle_ns : o->stranger_ns;
}

/* When a preface or block that the peer has begun must be complete. */
static int64_t said_by(const struct http2_conn *c)
{
    const struct http2_server_options *o = &c->server->options;
    int64_t head = http2_session_head_since(c->session);

    if (!http2_session_ready(c->session))
        return c->began + o->preface_ns;
    return head != 0 ? head + o->head_ns : INT64_MAX;
}

/* When an idle connection must have begun a stream, or is closed. */
static int64_t gone_by(const struct http2_conn *c)
{
    if (c->leaving && c->idle == 0)
        return INT64_MAX; /* it goes with its last stream */
    if (c->leaving)
        return later(c->idle, c->noticed) + HTTP2_NOTICE_TIME +
               c->server->options.answer_ns;
    if (c->noticed != 0)
        return c->noticed + HTTP2_NOTICE_TIME;
    return c->idle != 0 ? c->idle + idle_time(c) : INT64_MAX;
}

/* When the peer must have sent something. */
static int64_t heard_by(const struct http2_conn *c)
{
    const struct http2_server_options *o = &c->server->options;

    return c->asked != 0 ? c->asked + o->answer_ns : c->heard + o->quiet_ns;
}

static void note_streams(struct http2_conn *c)
{
    uint64_t opened = http2_session_opened(c->session);

    if (http2_session_streams(c->session) > 0)
        c->idle = 0;
    else if (c->idle == 0 || c->opened != opened)
        c->idle = loop_now(c->server->loop);
    if (c->opened != opened)
        places_use(&c->server->places, &c->place);
    if (c->idle != 0)
        places_rest(&c->place);
    c->opened = opened;
}

/* Call it after anything was received or sent: moves the timer if it must fire
 * earlier. */
static void http2_deadline_check(struct http2_conn *c)
{
    int64_t at;

    note_streams(c);
    at = earlier(said_by(c), earlier(gone_by(c), heard_by(c)));
    if (c->armed != 0 && c->armed <= at)
        return; /* it will fire earlier and check again */
    c->armed = at;
    loop_timer_set(c->server->loop, &c->timer, at);
}

static void count_up(_Atomic uint64_t *to, uint64_t by)
{
    atomic_fetch_add_explicit(to, by, memory_order_relaxed);
}

static void http2_conn_free(struct http2_conn *c)
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
    places_leave(&s->places, &c->place);
    count_up(&s->open, UINT64_MAX);
    buf_fini(&c->out);
    free(c);
    if (s->count == 0 && s->draining && s->ended != NULL)
        s->ended(s->ended_ctx);
}

static void http2_end(struct http2_conn *c, enum place_end why)
{
    places_count(&c->server->places, why);
    http2_conn_free(c);
}

/* Streams that were on their way when the notice was sent may still come. */
static void http2_leave(struct http2_conn *c, int64_t now)
{
    if (c->noticed == 0) {
        c->noticed = now;
        places_count(&c->server->places, PLACE_IDLE);
    } else {
        c->leaving = true;
    }
    http2_session_goaway(c->session, c->leaving);
}

static void fire(struct loop_timer *t)
{
    struct http2_conn *c = HTTP2_OF(struct http2_conn, timer, t);
    int64_t now = loop_now(c->server->loop);

    c->armed = 0;
    note_streams(c);
    if (now >= said_by(c)) {
        http2_end(c, PLACE_SLOW);
        return;
    }
    if (now >= gone_by(c)) {
        if (c->leaving) {
            http2_conn_free(c); /* the peer reads nothing */
            return;
        }
        http2_leave(c, now);
    }
    if (now >= heard_by(c)) {
        if (c->asked != 0) {
            http2_end(c, PLACE_SILENT);
            return;
        }
        c->asked = now;
        http2_session_ping(c->session);
    }
    http2_deadline_check(c);
}

static void http2_deadline_begin(struct http2_conn *c)
{
    c->began = c->heard = loop_now(c->server->loop);
    c->timer.fire = fire;
    http2_deadline_check(c);
}

/* ---- one connection: its socket, in and out of its session ----
 *
 * A connection reads when its socket is readable. Calls that change its session
 * mark it as having something to send; at the end of each turn of the loop the
 * marked connections write, so that all answers of a turn leave in as few
 * segments as possible.
 */

#define READS       4         /* most reads of a connection in one turn */
#define OUT_MARK    65536     /* octets gathered before a write */
#define OUT_CEILING (1 << 20) /* OUT_MARK and one frame fit in it */

/* Marks the connection as having something to send; for http2_handler.wake. */
static void http2_conn_mark(void *conn)
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
        return tls_read(c->tls, to, HTTP2_READ_CHUNK, n, &c->read_wants_write);
    return plain_result(recv(c->socket.fd, to, HTTP2_READ_CHUNK, 0), n);
}

static enum status http2_write_some(struct http2_conn *c, size_t *n)
{
    struct bytes b = bytes_of(c->out.at + c->out_at, c->out.len - c->out_at);
    bool wants_write = true;

    if (c->tls != NULL)
        return tls_write(c->tls, b, n, &wants_write);
    return plain_result(send(c->socket.fd, b.at, b.len, MSG_NOSIGNAL), n);
}

static void http2_watch(struct http2_conn *c)
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

static void http2_gather(struct http2_conn *c)
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
static bool http2_write_all(struct http2_conn *c)
{
    enum status st = STATUS_OK;

    c->write_blocked = false;
    while (st == STATUS_OK) {
        size_t n = 0;

        if (c->out_at == c->out.len)
            http2_gather(c);
        if (c->out.len == 0)
            return true;
        st = http2_write_some(c, &n);
        c->out_at += n;
        count_up(&c->server->sent, n);
    }
    c->write_blocked = st == STATUS_AGAIN;
    return c->write_blocked;
}

/* Writes, and frees the connection if it is over. */
static void http2_flush(struct http2_conn *c)
{
    if (!http2_write_all(c) ||
        (!c->write_blocked && (c->over || http2_session_over(c->session)))) {
        http2_conn_free(c);
        return;
    }
    http2_watch(c);
    http2_deadline_check(c);
}

/* Lets all marked connections write. */
static void http2_conns_flush(void *server)
{
    struct http2_server *s = server;
    struct http2_conn *c;

    while ((c = TAILQ_FIRST(&s->marked)) != NULL) {
        TAILQ_REMOVE(&s->marked, c, marked);
        c->is_marked = false;
        http2_flush(c);
    }
}

/* One that has lost its place; NULL: none has. */
static void http2_let_go(struct place *gone)
{
    if (gone != NULL)
        http2_conn_free(HTTP2_OF(struct http2_conn, place, gone));
}

/* Handles received octets. */
static void take_input(struct http2_conn *c, struct bytes in)
{
    struct places *places = &c->server->places;

    if (http2_session_receive(c->session, in, c->heard) != STATUS_OK) {
        if (http2_session_flooded(c->session) && !c->over)
            places_count(places, PLACE_FLOOD);
        c->over = true;
    }
    if (http2_session_standing(c->session)->known)
        http2_let_go(places_know(places, &c->place, c->heard));
}

static void conn_ready(struct loop_fd *f, uint32_t events)
{
    struct http2_conn *c = (struct http2_conn *)f;
    struct http2_server *s = c->server;
    enum status st = STATUS_OK;

    (void)events; /* reading or writing reports errors */
    for (int i = 0; i < READS && st == STATUS_OK && !c->over; i++) {
        size_t n = 0;

        st = read_some(c, &n);
        if (st != STATUS_OK)
            break;
        count_up(&s->received, n);
        c->heard = loop_now(s->loop);
        c->asked = 0;
        take_input(c, bytes_of(s->chunk, n));
        if (n < HTTP2_READ_CHUNK && c->tls == NULL)
            break;
    }
    if (st == STATUS_CLOSED)
        http2_conn_free(c);
    else
        http2_conn_mark(c);
}

/* False: no socket, no session, or no memory for them. */
static bool set_up(struct http2_conn *c)
{
    struct http2_server *s = c->server;
    int on = 1;

    setsockopt(c->socket.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return (s->options.tls == NULL ||
            tls_accept(&c->tls, s->options.tls, c->socket.fd) == STATUS_OK) &&
           http2_session_new(&c->session, s->handler, &s->options.limits, c) ==
               STATUS_OK &&
           loop_watch(s->loop, &c->socket, EPOLLIN) == STATUS_OK;
}

/* Takes over the descriptor; closes it at once if there is no place. */
static void http2_conn_new(struct http2_server *s, int fd,
                           const struct sockaddr *from)
{
    struct http2_conn *c = xcalloc(1, sizeof *c);

    c->socket.fd = fd;
    c->socket.ready = conn_ready;
    c->server = s;
    c->events = EPOLLIN;
    buf_init(&c->out, OUT_CEILING);
    http2_let_go(places_take(&s->places, &c->place, from, loop_now(s->loop)));
    if (!set_up(c)) {
        places_leave(&s->places, &c->place);
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
    http2_deadline_begin(c);
    if (s->draining)
        http2_session_goaway(c->session, true);
    http2_conn_mark(c);
}

#define ACCEPTS      32 /* most in one turn */
#define ACCEPT_PAUSE (100 * NS_PER_MS)

void http2_server_options_init(struct http2_server_options *o)
{
    *o = (struct http2_server_options){
        .limits = {.streams = 256,
                   .window = 256 * 1024,
                   .header_most = 16384,
                   .out_most = 65536},
        .connections = 1000,
        .preface_ns = 60 * NS_PER_S,
        .head_ns = 60 * NS_PER_S,
        .idle_ns = 600 * NS_PER_S,
        .stranger_ns = 60 * NS_PER_S,
        .quiet_ns = 120 * NS_PER_S,
        .answer_ns = 20 * NS_PER_S,
    };
}

/* ---- the listener ---- */

static void listener_ready(struct loop_fd *f, uint32_t events)
{
    struct http2_server *s = (struct http2_server *)f;

    (void)events;
    for (int i = 0; i < ACCEPTS; i++) {
        struct sockaddr_storage from = {0};
        socklen_t len = sizeof from;
        int fd = accept4(f->fd, (struct sockaddr *)&from, &len,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            http2_conn_new(s, fd, (struct sockaddr *)&from);
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
    struct http2_server *s = HTTP2_OF(struct http2_server, accept_again, t);

    if (s->listening)
        loop_change(s->loop, &s->listener, EPOLLIN);
}

enum status http2_server_new(struct http2_server **out, struct loop *l,
                             struct http2_handler *h,
                             const struct http2_server_options *o)
{
    struct http2_server *s = xcalloc(1, sizeof *s);
    enum status st;

    h->wake = http2_conn_mark;
    s->loop = l;
    s->handler = h;
    s->options = *o;
    s->listener = (struct loop_fd){.fd = -1, .ready = listener_ready};
    s->accept_again.fire = accept_again;
    places_init(&s->places, o->connections, o->address_most);
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
    loop_at_turn_end(l, http2_conns_flush, s);
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
        /* It removes itself from the list.
         * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        http2_conn_free(c);
    stop_listening(s);
    loop_timer_cancel(s->loop, &s->goaway);
    loop_at_turn_end(s->loop, NULL, NULL);
    free(s);
}

const char *http2_server_address(const struct http2_server *s)
{
    return s->address;
}

void http2_server_get_stats(const struct http2_server *s,
                            struct http2_stats *out)
{
    *out = (struct http2_stats){
        .open = atomic_load_explicit(&s->open, memory_order_relaxed),
        .accepted = atomic_load_explicit(&s->accepted, memory_order_relaxed),
        .received = atomic_load_explicit(&s->received, memory_order_relaxed),
        .sent = atomic_load_explicit(&s->sent, memory_order_relaxed),
    };
    for (unsigned i = 0; i < PLACE_ENDS_; i++)
        out->closed[i] = places_counted(&s->places, (enum place_end)i);
}

static void send_goaway(struct loop_timer *t)
{
    struct http2_server *s = HTTP2_OF(struct http2_server, goaway, t);
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
    loop_timer_set(s->loop, &s->goaway, loop_now(s->loop) + HTTP2_NOTICE_TIME);
}

void http2_server_each(struct http2_server *s,
                       void (*visit)(struct http2_stream *t))
{
    struct http2_conn *c;

    for (c = TAILQ_FIRST(&s->all); c != NULL; c = TAILQ_NEXT(c, all))
        http2_session_each(c->session, visit);
}
