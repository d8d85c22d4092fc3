/* SPDX-License-Identifier: MIT */
/*
 * grpc_server.c - finds methods by path, decides which requests become a call,
 * and takes each to its trailers.
 *
 * A refused request is answered at once, with a status alone; the rest of it is
 * dropped.
 */
#include "service/grpc/grpc_server.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "service/grpc/grpc_frame.h"

struct grpc_server {
    struct loop *loop;
    struct grpc_options options;
    struct http2_handler handler;
    struct http2_server *http2;
    struct map *methods; /* path to struct entry of grpc_server.c */
    size_t calls;        /* that need a role */
    size_t coming;
    TAILQ_HEAD(grpc_idle, grpc_call) idle; /* for longest first */
    bool draining;
    /* written by the loop's thread, read by any */
    struct {
        _Atomic uint64_t open, strangers, received, sent;
        _Atomic uint64_t ended[GRPC_CODES_];
    } tally;
};

struct grpc_call {
    struct grpc_server *server;
    const struct grpc_method *method;
    void *ctx;
    struct http2_stream *stream; /* NULL: ended */
    void *user;
    unsigned refs; /* one for the stream, one for each holder */
    struct grpc_reader reader;
    size_t received; /* octets not consumed */
    size_t reserved; /* of server->coming */
    struct bytes single;
    struct loop_timer timer;
    TAILQ_ENTRY(grpc_call) idle_entry;
    int64_t deadline; /* 0: none */
    bool has_single;  /* the request of a GRPC_SINGLE is here */
    bool no_more;     /* the caller has half-closed */
    bool half_closed; /* the method was told so */
    bool anonymous;   /* counted in its connection's standing */
    bool paused;
    bool idle;      /* in server->idle, counted in its connection's standing */
    bool responded; /* headers have been sent */
    bool finished;  /* or reset after its deadline */
};

static inline void grpc_count(_Atomic uint64_t *to, uint64_t by)
{
    atomic_fetch_add_explicit(to, by, memory_order_relaxed);
}

static inline struct http2_header grpc_header(const char *name,
                                              const char *value)
{
    return (struct http2_header){bytes_of_str(name), bytes_of_str(value)};
}

/* ---- unpacks and sends messages, or ends the call ---- */

const void *grpc_unpack(struct grpc_call *c,
                        const ProtobufCMessageDescriptor *d, struct arena *a,
                        struct bytes m)
{
    const void *p = proto_unpack(d, a, m);

    if (p == NULL)
        grpc_call_finish(c, GRPC_INTERNAL, "not a message of type %s", d->name);
    return p;
}

void grpc_pack(struct grpc_call *c, const ProtobufCMessage *m)
{
    size_t len = protobuf_c_message_get_packed_size(m);
    char *at = grpc_call_answer(c, len);

    if (at != NULL)
        protobuf_c_message_pack(m, (uint8_t *)at);
}

void grpc_reply(struct grpc_call *c, const ProtobufCMessage *m)
{
    grpc_pack(c, m);
    grpc_call_finish(c, GRPC_OK, NULL);
}

bool grpc_is_text(struct grpc_call *c, ProtobufCBinaryData d)
{
    if (bytes_is_utf8(proto_bytes(d)))
        return true;
    grpc_call_finish(c, GRPC_INTERNAL, "a string is not UTF-8");
    return false;
}

/* ---- a call from its headers to its trailers ----
 *
 *   headers ─► refused
 *      └─────► open ─► messages ─► half closed ─► finished ─► trailers ─► ended
 *                └── deadline, RST_STREAM, connection gone ─────────────► ended
 *
 * A stream's octets are consumed as their messages are passed to the method: a
 * paused call consumes nothing, so its caller can send one window and no more.
 */

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

/* Sends only a status, before any answer (Trailers-Only), and counts it. */
static void grpc_refuse(struct grpc_server *s, struct http2_stream *t,
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

/* Something has come for the call, or it ends: it is not idle. */
static void grpc_idle_leave(struct grpc_call *c)
{
    if (!c->idle)
        return;
    c->idle = false;
    http2_stream_standing(c->stream)->idle--;
    TAILQ_REMOVE(&c->server->idle, c, idle_entry);
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

static void grpc_release(struct grpc_call *c)
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

static void grpc_give(struct grpc_call *c, struct bytes m)
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
            grpc_release(c);
            grpc_count(&c->server->tally.received, 1);
            grpc_give(c, m);
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

static void grpc_on_end(struct http2_stream *t)
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
    grpc_release(c);
    grpc_reader_fini(&c->reader);
    if (c->method->ended != NULL)
        c->method->ended(c);
    grpc_call_drop(c);
}

/* Fills in all functions of a handler except `request`. */
static void grpc_call_handle(struct http2_handler *h)
{
    h->data = on_data;
    h->end = grpc_on_end;
    h->turn = on_turn;
    h->drained = on_drained;
    h->closed = on_closed;
}

/* ---- the beginning ---- */

/* `timeout` in ns; -1: none. */
static void grpc_call_open(struct grpc_server *s, struct http2_stream *t,
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

/* ---- calls that may be ended to make room for others ----
 *
 * There are callers that open a stream for each message and never close it:
 * crawler4j's adapter completes each page on a PutURLs stream of its own. A
 * client of gRPC keeps further calls back when its connection has as many
 * streams as we allow, so such a caller would wait for ever. More streams would
 * only let it wait later; so, before the limit is reached, the stream that has
 * been idle for longest ends with OK.
 *
 * A caller may also keep a stream for all it will ever put, as StormCrawler
 * does, and would not expect its end. So the last few idle streams of each
 * connection are left alone, however long they have been idle.
 */

#define KEPT 16 /* idle calls that a connection keeps */

void grpc_call_set_idle(struct grpc_call *c)
{
    if (c->idle || c->paused || grpc_call_has_ended(c) ||
        grpc_reader_held(&c->reader) > 0)
        return;
    grpc_reader_fini(&c->reader); /* it holds nothing */
    c->idle = true;
    http2_stream_standing(c->stream)->idle++;
    TAILQ_INSERT_TAIL(&c->server->idle, c, idle_entry);
}

/* Ends the call that has been idle for longest, of those on the connection of
 * `t`; NULL: of all. False: there is none that may be ended. */
static bool end_one(struct grpc_server *s, const struct http2_stream *t)
{
    struct grpc_call *c;

    for (c = TAILQ_FIRST(&s->idle); c != NULL; c = TAILQ_NEXT(c, idle_entry)) {
        if (http2_stream_standing(c->stream)->idle > KEPT &&
            (t == NULL ||
             http2_stream_conn(c->stream) == http2_stream_conn(t))) {
            grpc_call_finish(c, GRPC_OK, NULL);
            return true;
        }
    }
    return false;
}

/* A call is about to begin on `t`: ends an idle one if there is little room
 * left on the connection, or in all. */
static void grpc_idle_make_room(struct grpc_server *s,
                                const struct http2_stream *t)
{
    size_t streams = s->options.http2.limits.streams;
    size_t calls = s->options.calls_most;

    if (http2_stream_siblings(t) > streams - streams / 4 && end_one(s, t))
        return;
    if (s->calls >= calls - calls / 8)
        (void)end_one(s, NULL);
}

#define CALLS_MOST    4096
#define MESSAGES_MOST (128u << 20)
#define REQUEST_TIME  (60 * NS_PER_S)

struct entry {
    const struct grpc_method *method;
    void *ctx;
};

/* ---- which requests become a call ---- */

static void refuse_http(struct grpc_server *s, struct http2_stream *t,
                        const char *status, const char *name, const char *value)
{
    const struct http2_header h[] = {grpc_header(":status", status),
                                     grpc_header(name, value)};

    grpc_count(&s->tally.strangers, 1);
    http2_stream_respond(t, h, 2, true);
}

static void refuse_role(struct grpc_server *s, struct http2_stream *t,
                        enum auth_role need)
{
    char why[64];

    snprintf(why, sizeof why, "this needs a token with the role %s",
             auth_role_name(need));
    grpc_refuse(s, t, GRPC_PERMISSION_DENIED, why);
}

/* False: refused. */
static bool may_call(struct grpc_server *s, struct http2_stream *t,
                     const struct http2_request *r, const struct entry *e)
{
    enum auth_role need = e != NULL ? e->method->role : AUTH_READ, has;
    struct bytes token;

    if (need == AUTH_NONE)
        return true;
    if (s->options.auth == NULL) {
        http2_stream_standing(t)->known = true; /* without tokens all are */
        return true;
    }
    token = auth_bearer(http2_request_header(r, "authorization"));
    has = auth_role_of(s->options.auth, token);
    if (has != AUTH_NONE)
        http2_stream_standing(t)->known = true;
    if (has >= need)
        return true;
    if (token.len == 0)
        grpc_refuse(s, t, GRPC_UNAUTHENTICATED,
                    "metadata authorization: Bearer TOKEN is missing");
    else if (has == AUTH_NONE)
        grpc_refuse(s, t, GRPC_UNAUTHENTICATED, "this token is not known");
    else
        refuse_role(s, t, need);
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
        grpc_refuse(s, t, GRPC_INTERNAL, "metadata grpc-timeout is malformed");
        return false;
    }
    if (encoding.len > 0 && !*gzip && !bytes_is(encoding, "identity")) {
        grpc_refuse(s, t, GRPC_UNIMPLEMENTED,
                    "unknown grpc-encoding; gzip is supported");
        return false;
    }
    return true;
}

/* Is it a request of gRPC at all? False: it was refused. */
static bool is_grpc(struct grpc_server *s, struct http2_stream *t,
                    const struct http2_request *r)
{
    if (r->too_large)
        grpc_refuse(s, t, GRPC_RESOURCE_EXHAUSTED, "too much metadata");
    else if (!bytes_is(r->method, "POST"))
        refuse_http(s, t, "405", "allow", "POST");
    else if (!grpc_content_type(http2_request_header(r, "content-type")))
        refuse_http(s, t, "415", "accept", "application/grpc");
    else
        return true;
    return false;
}

static bool grpc_has_room(const struct grpc_server *s, struct http2_stream *t,
                          const struct grpc_method *m)
{
    if (m->role == AUTH_NONE)
        return http2_stream_standing(t)->anonymous < GRPC_ANONYMOUS_MOST;
    return s->calls < s->options.calls_most;
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
    grpc_idle_make_room(s, t);
    if (e == NULL)
        grpc_refuse(s, t, GRPC_UNIMPLEMENTED, "no such method here");
    else if (s->draining)
        grpc_refuse(s, t, GRPC_UNAVAILABLE, "the service is stopping");
    else if (!grpc_has_room(s, t, e->method))
        grpc_refuse(s, t, GRPC_RESOURCE_EXHAUSTED, "too many calls at once");
    else
        grpc_call_open(s, t, e->method, e->ctx, gzip, timeout);
}

/* ---- life ---- */

static void add_table(struct grpc_server *s, const struct grpc_table *t)
{
    for (const struct grpc_method *m = t->methods; m->path != NULL; m++) {
        struct entry *e = xmalloc(sizeof *e);

        *e = (struct entry){m, t->ctx};
        free(map_put(s->methods, bytes_of_str(m->path), e));
    }
}

/* Makes a server without a port: its handler may be given to sessions, and then
 * needs a `wake`. Freed by grpc_server_free. */
struct grpc_server *grpc_server_without_port(struct loop *l,
                                             const struct grpc_options *o,
                                             struct http2_handler **handler)
{
    struct grpc_server *s = xcalloc(1, sizeof *s);

    s->loop = l;
    s->options = *o;
    if (s->options.calls_most == 0)
        s->options.calls_most = CALLS_MOST;
    if (s->options.messages_most == 0)
        s->options.messages_most = MESSAGES_MOST;
    if (s->options.request_ns == 0)
        s->options.request_ns = REQUEST_TIME;
    s->methods = map_new();
    TAILQ_INIT(&s->idle);
    for (const struct grpc_table *t = o->tables; t->methods != NULL; t++)
        add_table(s, t);
    s->handler = (struct http2_handler){.request = on_request, .ctx = s};
    grpc_call_handle(&s->handler);
    *handler = &s->handler;
    return s;
}

enum status grpc_server_new(struct grpc_server **out, struct loop *l,
                            const struct grpc_options *o)
{
    struct http2_handler *handler;
    struct grpc_server *s = grpc_server_without_port(l, o, &handler);
    enum status st;

    st = http2_server_new(&s->http2, l, handler, &s->options.http2);
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
    assert(atomic_load(&s->tally.open) == 0 && s->coming == 0);
    map_free(s->methods, free);
    free(s);
}

struct http2_server *grpc_server_http2(struct grpc_server *s)
{
    return s->http2;
}

void grpc_server_get_stats(const struct grpc_server *s, struct grpc_stats *out)
{
    const memory_order relaxed = memory_order_relaxed;

    *out = (struct grpc_stats){
        .open = atomic_load_explicit(&s->tally.open, relaxed),
        .strangers = atomic_load_explicit(&s->tally.strangers, relaxed),
        .received = atomic_load_explicit(&s->tally.received, relaxed),
        .sent = atomic_load_explicit(&s->tally.sent, relaxed),
    };
    for (unsigned i = 0; i < GRPC_CODES_; i++)
        out->ended[i] = atomic_load_explicit(&s->tally.ended[i], relaxed);
    http2_server_get_stats(s->http2, &out->http2);
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
    if (s->http2 == NULL)
        return; /* its sessions are the caller's */
    http2_server_each(s->http2, tell_stopping);
    http2_server_drain(s->http2, ended, ctx);
}

size_t grpc_server_calls(const struct grpc_server *s)
{
    return s->calls;
}
