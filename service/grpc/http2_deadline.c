/* SPDX-License-Identifier: MIT */
/*
 * http2_deadline.c - the deadlines of a connection.
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
#include <stdint.h>

#include "service/grpc/http2_server_impl.h"

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

void http2_deadline_check(struct http2_conn *c)
{
    int64_t at;

    note_streams(c);
    at = earlier(said_by(c), earlier(gone_by(c), heard_by(c)));
    if (c->armed != 0 && c->armed <= at)
        return; /* it will fire earlier and check again */
    c->armed = at;
    loop_timer_set(c->server->loop, &c->timer, at);
}

static void end(struct http2_conn *c, enum place_end why)
{
    places_count(&c->server->places, why);
    http2_conn_free(c);
}

/* Streams that were on their way when the notice was sent may still come. */
static void leave(struct http2_conn *c, int64_t now)
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
        end(c, PLACE_SLOW);
        return;
    }
    if (now >= gone_by(c)) {
        if (c->leaving) {
            http2_conn_free(c); /* the peer reads nothing */
            return;
        }
        leave(c, now);
    }
    if (now >= heard_by(c)) {
        if (c->asked != 0) {
            end(c, PLACE_SILENT);
            return;
        }
        c->asked = now;
        http2_session_ping(c->session);
    }
    http2_deadline_check(c);
}

void http2_deadline_begin(struct http2_conn *c)
{
    c->began = c->heard = loop_now(c->server->loop);
    c->timer.fire = fire;
    http2_deadline_check(c);
}
