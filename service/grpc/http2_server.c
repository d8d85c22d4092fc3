/* SPDX-License-Identifier: MIT */
/* http2_server.c - the listener, and all connections. */
#include "service/grpc/http2_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/mem.h"
#include "service/grpc/http2_server_impl.h"

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
