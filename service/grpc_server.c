/* SPDX-License-Identifier: MIT */
/*
 * grpc_server.c - a call from its headers to its trailers.
 *
 *   headers ─► refused: status alone, what still comes is dropped
 *      └─────► open ─► messages ─► half closed ─► finish() ─► trailers ─► ended
 *                └── deadline, RST_STREAM, connection gone ─────────────► ended
 *
 * A stream's octets are consumed as the messages among them are given out: a
 * paused call consumes nothing, so its caller can send one window and no more.
 */
#include "service/grpc_server.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "service/grpc_frame.h"

#define CALLS_MOST    4096
#define MESSAGES_MOST (128u << 20)
#define REQUEST_TIME  (60 * NS_PER_S)
#define LARGE         65536 /* messages beyond it are counted in `coming` */
#define TEXT_MOST     512   /* octets of a status message */

struct grpc_call {
    struct grpc_server *server;
    const struct grpc_method *method;
    void *ctx;
    struct http2_stream *stream; /* NULL: ended */
    void *user;
    unsigned refs; /* one of the stream, one of each holder */
    struct grpc_reader reader;
    size_t received; /* and not consumed */
    size_t reserved; /* of server->coming */
    struct bytes single;
    struct loop_timer timer;
    int64_t deadline; /* 0: none */
    bool has_single;  /* the request of a GRPC_SINGLE is here */
    bool no_more;     /* the caller has half-closed */
    bool half_closed; /* and the method was told */
    bool paused;
    bool responded; /* headers have been sent */
    bool finished;  /* or reset, as its time is over */
};

struct entry {
    const struct grpc_method *method;
    void *ctx;
};

struct grpc_server {
    struct loop *loop;
    struct grpc_options options;
    struct http2_handler handler;
    struct http2_server *http2;
    struct map *methods; /* path to struct entry */
    size_t calls, coming;
    bool draining;
    /* written by the loop's thread, read by any */
    struct {
        _Atomic uint64_t open, strangers, received, sent;
        _Atomic uint64_t ended[GRPC_CODES_];
    } tally;
};

static void count_up(_Atomic uint64_t *to, uint64_t by)
{
    atomic_fetch_add_explicit(to, by, memory_order_relaxed);
}

/* ---- status ---- */

static struct http2_header header(const char *name, const char *value)
{
    return (struct http2_header){bytes_of_str(name), bytes_of_str(value)};
}

static size_t status_headers(struct http2_header *h, enum grpc_code code,
                             struct buf *text, char digits[12])
{
    snprintf(digits, 12, "%d", (int)code);
    h[0] = header("grpc-status", digits);
    if (text->len == 0)
        return 1;
    h[1] = (struct http2_header){bytes_of_str("grpc-message"), buf_bytes(text)};
    return 2;
}

/* Status alone, where nothing has been answered (Trailers-Only). */
static void send_status_alone(struct http2_stream *t, enum grpc_code code,
                              struct buf *text)
{
    struct http2_header h[5] = {header(":status", "200"),
                                header("content-type", "application/grpc"),
                                header("grpc-accept-encoding",
                                       "identity,gzip")};
    char digits[12];
    size_t n = 3 + status_headers(h + 3, code, text, digits);

    http2_stream_respond(t, h, n, true);
}

static void refuse(struct grpc_server *s, struct http2_stream *t,
                   enum grpc_code code, const char *why)
{
    struct buf text;

    count_up(&s->tally.ended[code], 1);
    buf_init(&text, 3 * TEXT_MOST);
    grpc_percent_encode(&text, bytes_of_str(why));
    send_status_alone(t, code, &text);
    buf_fini(&text);
}

static void refuse_http(struct grpc_server *s, struct http2_stream *t,
                        const char *status, const char *name, const char *value)
{
    const struct http2_header h[] = {header(":status", status),
                                     header(name, value)};

    count_up(&s->tally.strangers, 1);
    http2_stream_respond(t, h, 2, true);
}

static void respond(struct grpc_call *c)
{
    const struct http2_header h[] = {
        header(":status", "200"),
        header("content-type", "application/grpc"),
        header("grpc-accept-encoding", "identity,gzip"),
    };

    if (c->responded)
        return;
    http2_stream_respond(c->stream, h, sizeof h / sizeof *h, false);
    c->responded = true;
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
    count_up(&c->server->tally.ended[code], 1);
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

/* It has ended from here on, although a peer that takes nothing is told of the
 * reset, and the stream closed, only when its connection is. */
static void cut_off(struct grpc_call *c)
{
    c->finished = true;
    count_up(&c->server->tally.ended[GRPC_DEADLINE_EXCEEDED], 1);
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
                                          : "the request did not come");
}

/* ---- messages ---- */

static void release(struct grpc_call *c)
{
    c->server->coming -= c->reserved;
    c->reserved = 0;
}

/* A large message has begun: is there memory for it? */
static bool reserve(struct grpc_call *c)
{
    size_t coming = grpc_reader_coming(&c->reader);

    if (coming <= LARGE || c->reserved > 0)
        return true;
    if (c->server->coming + coming > c->server->options.messages_most)
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
            count_up(&c->server->tally.received, 1);
            give(c, m);
        }
    }
    if (st == STATUS_AGAIN && !reserve(c))
        grpc_call_finish(c, GRPC_RESOURCE_EXHAUSTED,
                         "too many large messages at once");
    else if (st == STATUS_LIMIT)
        grpc_call_finish(c, GRPC_RESOURCE_EXHAUSTED,
                         "a message is larger than %u octets",
                         GRPC_MESSAGE_MOST);
    else if (st == STATUS_FORMAT)
        grpc_call_finish(c, GRPC_INTERNAL,
                         "a message is compressed in a way not named, or "
                         "does not decompress");
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

/* Gives out what is here, and opens the window by as much; of a message that
 * is still coming in, by what has come. */
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
    c->stream = NULL;
    if (!c->finished)
        count_up(&c->server->tally.ended[GRPC_CANCELLED], 1);
    count_up(&c->server->tally.open, UINT64_MAX);
    release(c);
    grpc_reader_fini(&c->reader);
    if (c->method->ended != NULL)
        c->method->ended(c);
    grpc_call_drop(c);
}

/* ---- the beginning ---- */

static void open_call(struct grpc_server *s, struct http2_stream *t,
                      const struct entry *e, bool gzip, int64_t timeout)
{
    const struct grpc_method *m = e->method;
    struct grpc_call *c = xcalloc(1, sizeof *c);

    c->server = s;
    c->method = m;
    c->ctx = e->ctx;
    c->stream = t;
    c->refs = 1;
    c->timer.fire = out_of_time;
    grpc_reader_init(&c->reader, gzip, s->options.http2.limits.window);
    s->calls++;
    count_up(&s->tally.open, 1);
    http2_stream_set_user(t, c);
    if (timeout >= 0)
        c->deadline = loop_now(s->loop) + timeout;
    set_timer(c);
    if (m->kind == GRPC_STREAM)
        respond(c);
    if (m->begun != NULL)
        m->begun(c);
}

/* False: refused. */
static bool may_call(struct grpc_server *s, struct http2_stream *t,
                     const struct http2_request *r, const struct entry *e)
{
    enum auth_role need = e != NULL ? e->method->role : AUTH_READ, has;
    struct bytes token;

    if (s->options.auth == NULL || need == AUTH_NONE)
        return true;
    token = auth_bearer(http2_request_header(r, "authorization"));
    has = auth_role_of(s->options.auth, token);
    if (has >= need)
        return true;
    if (token.len == 0)
        refuse(s, t, GRPC_UNAUTHENTICATED,
               "metadata authorization: Bearer TOKEN is missing");
    else if (has == AUTH_NONE)
        refuse(s, t, GRPC_UNAUTHENTICATED, "this token is not known");
    else
        refuse(s, t, GRPC_PERMISSION_DENIED,
               "this token's role does not allow the call");
    return false;
}

/* False: refused. *timeout -1: none. */
static bool read_metadata(struct grpc_server *s, struct http2_stream *t,
                          const struct http2_request *r, bool *gzip,
                          int64_t *timeout)
{
    struct bytes encoding = http2_request_header(r, "grpc-encoding");
    struct bytes time = http2_request_header(r, "grpc-timeout");

    *timeout = -1;
    *gzip = bytes_is(encoding, "gzip");
    if (time.at != NULL && !grpc_parse_timeout(time, timeout)) {
        refuse(s, t, GRPC_INTERNAL, "metadata grpc-timeout is malformed");
        return false;
    }
    if (encoding.len > 0 && !*gzip && !bytes_is(encoding, "identity")) {
        refuse(s, t, GRPC_UNIMPLEMENTED,
               "this grpc-encoding is not known; gzip is");
        return false;
    }
    return true;
}

/* Is it a request of gRPC at all? False: it was refused. */
static bool is_grpc(struct grpc_server *s, struct http2_stream *t,
                    const struct http2_request *r)
{
    if (r->too_large)
        refuse(s, t, GRPC_RESOURCE_EXHAUSTED, "too much metadata");
    else if (!bytes_is(r->method, "POST"))
        refuse_http(s, t, "405", "allow", "POST");
    else if (!grpc_content_type(http2_request_header(r, "content-type")))
        refuse_http(s, t, "415", "accept", "application/grpc");
    else
        return true;
    return false;
}

static void on_request(void *ctx, struct http2_stream *t,
                       const struct http2_request *r)
{
    struct grpc_server *s = ctx;
    const struct entry *e = map_get(s->methods, r->path);
    int64_t timeout;
    bool gzip;

    if (!is_grpc(s, t, r) || !may_call(s, t, r, e) ||
        !read_metadata(s, t, r, &gzip, &timeout))
        return;
    if (e == NULL)
        refuse(s, t, GRPC_UNIMPLEMENTED, "no such method here");
    else if (s->draining)
        refuse(s, t, GRPC_UNAVAILABLE, "the service is stopping");
    else if (s->calls >= s->options.calls_most)
        refuse(s, t, GRPC_RESOURCE_EXHAUSTED, "too many calls at once");
    else
        open_call(s, t, e, gzip, timeout);
}

static void add_table(struct grpc_server *s, const struct grpc_table *t)
{
    for (const struct grpc_method *m = t->methods; m->path != NULL; m++) {
        struct entry *e = xmalloc(sizeof *e);

        *e = (struct entry){m, t->ctx};
        free(map_put(s->methods, bytes_of_str(m->path), e));
    }
}

enum status grpc_server_new(struct grpc_server **out, struct loop *l,
                            const struct grpc_options *o)
{
    struct grpc_server *s = xcalloc(1, sizeof *s);
    enum status st;

    s->loop = l;
    s->options = *o;
    if (s->options.calls_most == 0)
        s->options.calls_most = CALLS_MOST;
    if (s->options.messages_most == 0)
        s->options.messages_most = MESSAGES_MOST;
    if (s->options.request_ns == 0)
        s->options.request_ns = REQUEST_TIME;
    s->methods = map_new();
    for (const struct grpc_table *t = o->tables; t->methods != NULL; t++)
        add_table(s, t);
    s->handler = (struct http2_handler){.request = on_request,
                                        .data = on_data,
                                        .end = on_end,
                                        .turn = on_turn,
                                        .drained = on_drained,
                                        .closed = on_closed,
                                        .ctx = s};
    st = http2_server_new(&s->http2, l, &s->handler, &s->options.http2);
    if (st != STATUS_OK) {
        grpc_server_free(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void grpc_server_cut(struct grpc_server *s)
{
    http2_server_free(s->http2);
    s->http2 = NULL;
}

void grpc_server_free(struct grpc_server *s)
{
    if (s == NULL)
        return;
    grpc_server_cut(s);
    map_free(s->methods, free);
    free(s);
}

struct http2_server *grpc_server_http2(struct grpc_server *s)
{
    return s->http2;
}

void grpc_server_sample(const struct grpc_server *s, struct grpc_sample *out)
{
    const memory_order relaxed = memory_order_relaxed;

    *out = (struct grpc_sample){
        .open = atomic_load_explicit(&s->tally.open, relaxed),
        .strangers = atomic_load_explicit(&s->tally.strangers, relaxed),
        .received = atomic_load_explicit(&s->tally.received, relaxed),
        .sent = atomic_load_explicit(&s->tally.sent, relaxed),
    };
    for (unsigned i = 0; i < GRPC_CODES_; i++)
        out->ended[i] = atomic_load_explicit(&s->tally.ended[i], relaxed);
    http2_server_sample(s->http2, &out->http2);
}

/* ---- the end ---- */

static void tell_stopping(struct http2_stream *t)
{
    struct grpc_call *c = http2_stream_user(t);

    if (c != NULL && !c->finished && c->method->stopping != NULL)
        c->method->stopping(c);
}

void grpc_server_drain(struct grpc_server *s, void (*ended)(void *ctx),
                       void *ctx)
{
    s->draining = true;
    http2_server_each(s->http2, tell_stopping);
    http2_server_drain(s->http2, ended, ctx);
}

bool grpc_server_is_draining(const struct grpc_server *s)
{
    return s->draining;
}

size_t grpc_server_calls(const struct grpc_server *s)
{
    return s->calls;
}

/* ---- one call ---- */

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

bool grpc_call_is_stopping(const struct grpc_call *c)
{
    return c->server->draining;
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
    count_up(&c->server->tally.sent, 1);
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
    c->server->calls--;
    free(c);
}
