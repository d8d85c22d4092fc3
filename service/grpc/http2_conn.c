/* SPDX-License-Identifier: MIT */
/*
 * http2_conn.c - one connection: its socket, in and out of its session.
 *
 * A connection reads when its socket is readable. Calls that change its session
 * mark it as having something to send; at the end of each turn of the loop the
 * marked connections write, so that all answers of a turn leave in as few
 * segments as possible.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/mem.h"
#include "service/grpc/http2_server_impl.h"

#define READS       4         /* most reads of a connection in one turn */
#define OUT_MARK    65536     /* octets gathered before a write */
#define OUT_CEILING (1 << 20) /* OUT_MARK and one frame fit in it */

static void count_up(_Atomic uint64_t *to, uint64_t by)
{
    atomic_fetch_add_explicit(to, by, memory_order_relaxed);
}

void http2_conn_free(struct http2_conn *c)
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

void http2_conn_mark(void *conn)
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

/* Writes, and frees the connection if it is over. */
static void flush(struct http2_conn *c)
{
    if (!write_all(c) ||
        (!c->write_blocked && (c->over || http2_session_over(c->session)))) {
        http2_conn_free(c);
        return;
    }
    watch(c);
    http2_deadline_check(c);
}

void http2_conns_flush(void *server)
{
    struct http2_server *s = server;
    struct http2_conn *c;

    while ((c = TAILQ_FIRST(&s->marked)) != NULL) {
        TAILQ_REMOVE(&s->marked, c, marked);
        c->is_marked = false;
        flush(c);
    }
}

/* One that has lost its place; NULL: none has. */
static void let_go(struct place *gone)
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
        let_go(places_know(places, &c->place, c->heard));
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

void http2_conn_new(struct http2_server *s, int fd, const struct sockaddr *from)
{
    struct http2_conn *c = xcalloc(1, sizeof *c);

    c->socket.fd = fd;
    c->socket.ready = conn_ready;
    c->server = s;
    c->events = EPOLLIN;
    buf_init(&c->out, OUT_CEILING);
    let_go(places_take(&s->places, &c->place, from, loop_now(s->loop)));
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
