/* SPDX-License-Identifier: MIT */
/*
 * grpc_call.c - a call from its headers to its trailers.
 *
 *   headers ─► refused (grpc_server.c)
 *      └─────► open ─► messages ─► half closed ─► finish() ─► trailers ─► ended
 *                └── deadline, RST_STREAM, connection gone ─────────────► ended
 *
 * A stream's octets are consumed as their messages are passed to the method: a
 * paused call consumes nothing, so its caller can send one window and no more.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "service/grpc/grpc_server_impl.h"

#define LARGE     65536 /* larger messages are counted in `coming` */
#define TEXT_MOST 512   /* octets of a status message */

/* ---- status ---- */

static size_t status_headers(struct http2_header *h, enum grpc_code code,
                             struct buf *text, char digits[12])
{
    snprintf(digits, 12, "%d", (int)code);
    h[0] = grpc_header("grpc-status", digits);
    if (text->len == 0)
        return 1;
    h[1] = (struct http2_header){bytes_of_str("grpc-message"), buf_bytes(text)};
    return 2;
}

static void send_status_alone(struct http2_stream *t, enum grpc_code code,
                              struct buf *text)
{
    struct http2_header h[5] = {grpc_header(":status", "200"),
                                grpc_header("content-type", "application/grpc"),
                                grpc_header("grpc-accept-encoding",
                                            "identity,gzip")};
    char digits[12];
    size_t n = 3 + status_headers(h + 3, code, text, digits);

    http2_stream_respond(t, h, n, true);
}

void grpc_refuse(struct grpc_server *s, struct http2_stream *t,
                 enum grpc_code code, const char *why)
{
    struct buf text;

    grpc_count(&s->tally.ended[code], 1);
    buf_init(&text, 3 * TEXT_MOST);
    grpc_percent_encode(&text, bytes_of_str(why));
    send_status_alone(t, code, &text);
    buf_fini(&text);
}

static void respond(struct grpc_call *c)
{
    const struct http2_header h[] = {
        grpc_header(":status", "200"),
        grpc_header("content-type", "application/grpc"),
        grpc_header("grpc-accept-encoding", "identity,gzip"),
    };

    if (c->responded)
        return;
    http2_stream_respond(c->stream, h, sizeof h / sizeof *h, false);
    c->responded = true;
}

/* Makes room for another call that needs no token. */
static void leave_anonymous(struct grpc_call *c)
{
    if (c->anonymous)
        http2_stream_standing(c->stream)->anonymous--;
    c->anonymous = false;
}

static void set_timer(struct grpc_call *c)
{
    int64_t at = c->deadline, request;

    if (c->method->kind == GRPC_SINGLE && !c->no_more) {
        request = loop_now(c->server->loop) + c->server->options.request_ns;
        at = at == 0 || request < at ? request : at;
    }
    if (at != 0)
        loop_timer_set(c->server->loop, &c->timer, at);
    else
        loop_timer_cancel(c->server->loop, &c->timer);
}

void grpc_call_finish(struct grpc_call *c, enum grpc_code code, const char *fmt,
                      ...)
{
    char plain[TEXT_MOST] = "", digits[12];
    struct http2_header h[2];
    struct buf text;
    va_list ap;

    if (c->stream == NULL || c->finished)
        return;
    if (fmt != NULL) {
        va_start(ap, fmt);
        vsnprintf(plain, sizeof plain, fmt, ap);
        va_end(ap);
    }
    buf_init(&text, 3 * TEXT_MOST);
    grpc_percent_encode(&text, bytes_of_str(plain));
    c->finished = true;
    leave_anonymous(c);
    grpc_idle_leave(c);
    grpc_count(&c->server->tally.ended[code], 1);
    loop_timer_cancel(c->server->loop, &c->timer);
    if (c->responded)
        http2_stream_finish(c->stream, h,
                            status_headers(h, code, &text, digits));
    else
        send_status_alone(c->stream, code, &text);
    buf_fini(&text);
    http2_stream_consume(c->stream, c->received);
    c->received = 0;
}

/* The call has ended from here on, although the reset is sent, and the stream
 * closed, only when a peer that reads nothing has closed its connection. */
static void cut_off(struct grpc_call *c)
{
    c->finished = true;
    leave_anonymous(c);
    grpc_idle_leave(c);
    grpc_count(&c->server->tally.ended[GRPC_DEADLINE_EXCEEDED], 1);
    http2_stream_reset(c->stream);
}

static void out_of_time(struct loop_timer *t)
{
    struct grpc_call *c =
        (struct grpc_call *)((char *)t - offsetof(struct grpc_call, timer));

    if (http2_stream_waits(c->stream))
        cut_off(c);
    else
        grpc_call_finish(c, GRPC_DEADLINE_EXCEEDED,
                         c->deadline != 0 ? "deadline exceeded"
                                          : "the request did not arrive");
}

/* ---- messages ---- */

static void release(struct grpc_call *c)
{
    c->server->coming -= c->reserved;
    c->reserved = 0;
}

/* Reserves memory for a large message that has begun; false: there is none. */
static bool reserve(struct grpc_call *c)
{
    size_t coming = grpc_reader_coming(&c->reader);

    if (coming <= LARGE || c->reserved > 0)
        return true;
    if (c->method->role == AUTH_NONE ||
        c->server->coming + coming > c->server->options.messages_most)
        return false;
    c->reserved = coming;
    c->server->coming += coming;
    return true;
}

static void give(struct grpc_call *c, struct bytes m)
{
    if (c->method->kind == GRPC_STREAM) {
        c->method->message(c, m);
    } else if (c->has_single) {
        grpc_call_finish(c, GRPC_INTERNAL, "more than one request message");
    } else {
        c->has_single = true;
        c->single = m;
    }
}

static void give_all(struct grpc_call *c)
{
    enum status st = STATUS_OK;
    struct bytes m;

    while (st == STATUS_OK && !c->paused && !c->finished) {
        st = grpc_reader_next(&c->reader, &m);
        if (st == STATUS_OK) {
            release(c);
            grpc_count(&c->server->tally.received, 1);
            give(c, m);
        }
    }
    if (st == STATUS_AGAIN && !reserve(c))
        grpc_call_finish(c, GRPC_RESOURCE_EXHAUSTED,
                         c->method->role == AUTH_NONE
                             ? "this method accepts only small messages"
                             : "too many large messages at once");
    else if (st == STATUS_LIMIT)
        grpc_call_finish(c, GRPC_RESOURCE_EXHAUSTED,
                         "a message is larger than %u octets",
                         GRPC_MESSAGE_MOST);
    else if (st == STATUS_FORMAT)
        grpc_call_finish(c, GRPC_INTERNAL,
                         "a message is compressed in a way that was not "
                         "declared, or does not decompress");
    else if (st == STATUS_NOMEM)
        grpc_call_finish(c, GRPC_RESOURCE_EXHAUSTED, "out of memory");
}

static void give_half_close(struct grpc_call *c)
{
    c->half_closed = true;
    set_timer(c);
    if (grpc_reader_held(&c->reader) > 0)
        grpc_call_finish(c, GRPC_INTERNAL, "a message is cut short");
    else if (c->method->kind == GRPC_STREAM)
        c->method->half_closed(c);
    else if (c->has_single)
        c->method->message(c, c->single);
    else
        grpc_call_finish(c, GRPC_INTERNAL, "no request message");
}

/* Passes on all complete messages and opens the window by their size, and by
 * the part of an incomplete message that has arrived. */
static void pump(struct grpc_call *c)
{
    size_t kept;

    give_all(c);
    if (c->finished)
        return;
    kept = c->paused ? grpc_reader_held(&c->reader) : 0;
    if (kept > c->received)
        kept = c->received;
    http2_stream_consume(c->stream, c->received - kept);
    c->received = kept;
    if (c->paused)
        return;
    if (c->no_more && !c->half_closed)
        give_half_close(c);
}

/* ---- called by http2_session ---- */

static void on_data(struct http2_stream *t, struct bytes b)
{
    struct grpc_call *c = http2_stream_user(t);

    if (c == NULL || c->finished || b.len == 0)
        return;
    grpc_idle_leave(c);
    c->received += b.len;
    if (grpc_reader_feed(&c->reader, b) != STATUS_OK)
        grpc_call_finish(c, GRPC_RESOURCE_EXHAUSTED, "out of memory");
    else
        pump(c);
}

static void on_end(struct http2_stream *t)
{
    struct grpc_call *c = http2_stream_user(t);

    if (c == NULL || c->finished)
        return;
    grpc_idle_leave(c);
    c->no_more = true;
    pump(c);
}

static void on_turn(struct http2_stream *t)
{
    struct grpc_call *c = http2_stream_user(t);

    if (c != NULL && !c->finished && c->method->turn != NULL)
        c->method->turn(c);
}

static void on_drained(struct http2_stream *t)
{
    struct grpc_call *c = http2_stream_user(t);

    if (c != NULL && !c->finished && c->method->drained != NULL)
        c->method->drained(c);
}

static void on_closed(struct http2_stream *t)
{
    struct grpc_call *c = http2_stream_user(t);

    if (c == NULL)
        return;
    loop_timer_cancel(c->server->loop, &c->timer);
    leave_anonymous(c);
    grpc_idle_leave(c);
    c->stream = NULL;
    if (!c->finished)
        grpc_count(&c->server->tally.ended[GRPC_CANCELLED], 1);
    grpc_count(&c->server->tally.open, UINT64_MAX);
    release(c);
    grpc_reader_fini(&c->reader);
    if (c->method->ended != NULL)
        c->method->ended(c);
    grpc_call_drop(c);
}

void grpc_call_handle(struct http2_handler *h)
{
    h->data = on_data;
    h->end = on_end;
    h->turn = on_turn;
    h->drained = on_drained;
    h->closed = on_closed;
}

/* ---- the beginning ---- */

void grpc_call_open(struct grpc_server *s, struct http2_stream *t,
                    const struct grpc_method *m, void *ctx, bool gzip,
                    int64_t timeout)
{
    struct grpc_call *c = xcalloc(1, sizeof *c);

    c->server = s;
    c->method = m;
    c->ctx = ctx;
    c->stream = t;
    c->refs = 1;
    c->timer.fire = out_of_time;
    grpc_reader_init(&c->reader, gzip, s->options.http2.limits.window);
    c->anonymous = m->role == AUTH_NONE;
    if (c->anonymous)
        http2_stream_standing(t)->anonymous++;
    else
        s->calls++;
    grpc_count(&s->tally.open, 1);
    http2_stream_set_user(t, c);
    if (timeout >= 0)
        c->deadline = loop_now(s->loop) + timeout;
    set_timer(c);
    if (m->kind == GRPC_STREAM)
        respond(c);
    if (m->begun != NULL)
        m->begun(c);
}

/* ---- called by its method ---- */

void *grpc_call_ctx(const struct grpc_call *c)
{
    return c->ctx;
}

const struct grpc_method *grpc_call_method(const struct grpc_call *c)
{
    return c->method;
}

void grpc_call_set_user(struct grpc_call *c, void *user)
{
    c->user = user;
}

void *grpc_call_user(const struct grpc_call *c)
{
    return c->user;
}

bool grpc_call_has_ended(const struct grpc_call *c)
{
    return c->stream == NULL || c->finished;
}

char *grpc_call_answer(struct grpc_call *c, size_t len)
{
    char *at;

    if (grpc_call_has_ended(c))
        return NULL;
    respond(c);
    at = len <= UINT32_MAX ? http2_stream_write(c->stream, GRPC_PREFIX + len)
                           : NULL;
    if (at == NULL) {
        grpc_call_finish(c, GRPC_RESOURCE_EXHAUSTED, "the answer is too large");
        return NULL;
    }
    grpc_prefix(at, len);
    grpc_count(&c->server->tally.sent, 1);
    return at + GRPC_PREFIX;
}

size_t grpc_call_room(struct grpc_call *c)
{
    return grpc_call_has_ended(c) ? 0 : http2_stream_room(c->stream);
}

void grpc_call_pause(struct grpc_call *c)
{
    c->paused = true;
}

void grpc_call_resume(struct grpc_call *c)
{
    if (!c->paused)
        return;
    c->paused = false;
    if (grpc_call_has_ended(c))
        return;
    pump(c);
    if (c->method->turn != NULL && !grpc_call_has_ended(c))
        c->method->turn(c);
}

void grpc_call_hold(struct grpc_call *c)
{
    c->refs++;
}

void grpc_call_drop(struct grpc_call *c)
{
    if (--c->refs > 0)
        return;
    if (c->method->role != AUTH_NONE)
        c->server->calls--;
    free(c);
}
