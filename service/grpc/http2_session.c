/* SPDX-License-Identifier: MIT */
/*
 * http2_session.c - frames and windows, on top of nghttp2.
 *
 * nghttp2 frames, checks and keeps the windows; its automatic WINDOW_UPDATE is
 * off. The connection's window opens at once for everything received, since a
 * stream whose owner waits must not stop the others; a stream's own window
 * opens as its owner consumes. If the peer is still sending when an answer is
 * complete, RST_STREAM with NO_ERROR tells it to stop (RFC 9113 section 8.1).
 *
 * nghttp2 ends the connection for a stream over the limit that it has told the
 * peer; all other calls on it would pay for that. So it knows of a higher
 * limit, up to which streams are refused here one by one, and our SETTINGS
 * frame, which is the first frame that goes out, says ours instead.
 */
#include "service/grpc/http2_session.h"

#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/mem.h"

/* ---- heads of frames (RFC 9113 section 4.1), as they come in, cut anywhere ----
 *
 * nghttp2 silently skips frames that it does not know or need; this sees every
 * frame. It checks nothing: octets that are not HTTP/2 give heads too, and
 * nghttp2 refuses them.
 */

struct http2_frame_head {
    uint32_t len, stream;
    uint8_t type, flags;
};

struct http2_frames {
    uint32_t skip; /* octets until the next head */
    uint8_t head[9];
    unsigned have;      /* octets of `head` */
    bool in_block;      /* in a block of header fields */
    bool block_is_last; /* no CONTINUATION follows */
    uint64_t blocks;    /* blocks that have begun */
};

/* ---- a session and its streams ---- */

#define HTTP2_FIELDS_MOST   128 /* fields of a block that are kept */
#define HTTP2_GREETING_MOST 64  /* octets of our SETTINGS frame */

struct http2_stream {
    struct http2_session *session;
    TAILQ_ENTRY(http2_stream) all, touched, low;
    int32_t id;
    void *user;
    struct buf out;
    size_t out_at;      /* octets of it already sent */
    bool is_touched;    /* in session->touched */
    bool is_low;        /* in session->low */
    bool over;          /* the owner waits for `drained` */
    bool responded;     /* headers are on their way */
    bool waiting;       /* nghttp2 asked for data and there was none */
    bool finished;      /* trailers are set */
    bool remote_ended;  /* the peer sends no more */
    struct buf trailer; /* name \0 value \0 ... */
    size_t trailer_count;
};

TAILQ_HEAD(http2_streams, http2_stream);

struct http2_block {
    struct buf text; /* names and values, one after another */
    struct {
        size_t name, name_len, value, value_len;
    } field[HTTP2_FIELDS_MOST];
    size_t count, octets; /* octets as RFC 9113 6.5.2 counts */
};

struct http2_session {
    nghttp2_session *ng;
    const struct http2_handler *handler;
    struct http2_limits limits;
    void *conn;
    struct http2_standing standing;
    struct http2_streams all, touched, low;
    size_t streams;
    struct http2_block block; /* at most one at a time (RFC 9113 4.3) */
    int64_t now, refilled;
    int64_t allowance;
    int64_t windows; /* WINDOW_UPDATE frames still free */
    struct http2_frames frames;
    int64_t head_since; /* 0: no block is incomplete */
    uint64_t opened;    /* streams */
    bool inside;        /* inside a call from outside: no wake needed */
    bool calm;          /* the allowance was overdrawn */
    bool ready;         /* the peer's settings are here */
    bool greeted;       /* our settings have been sent */
    uint8_t greeting[HTTP2_GREETING_MOST];
};

/* ---- a block of header fields, as it comes in ----
 *
 * nghttp2 gives field after field. Past the limit, fields are counted and
 * dropped, so that the request can still be answered, and a peer that sends a
 * few fields too many can be told from one that sends nothing else.
 */

static void http2_stream_new(struct http2_session *s, int32_t id);
static void http2_stream_forget(struct http2_stream *t);

static void http2_block_clear(struct http2_block *b)
{
    buf_clear(&b->text);
    b->count = b->octets = 0;
}

/* Adds a field; past `most` octets or HTTP2_FIELDS_MOST fields it is only
 * counted. */
static void http2_block_add(struct http2_block *b, struct bytes name,
                            struct bytes value, size_t most)
{
    b->octets += name.len + value.len + 32;
    if (b->octets > most || b->count == HTTP2_FIELDS_MOST)
        return;
    b->field[b->count].name = b->text.len;
    b->field[b->count].name_len = name.len;
    buf_add_bytes(&b->text, name);
    b->field[b->count].value = b->text.len;
    b->field[b->count].value_len = value.len;
    buf_add_bytes(&b->text, value);
    b->count++;
}

/* Fills in *out from the block; `headers` has room for HTTP2_FIELDS_MOST, and
 * *out lives as long as it and the block. */
static void http2_block_read(const struct http2_block *b, size_t most,
                             struct http2_header *headers,
                             struct http2_request *out)
{
    struct http2_request r = {.headers = headers};

    r.too_large =
        b->octets > most || b->count == HTTP2_FIELDS_MOST || b->text.failed;
    for (size_t i = 0; i < b->count && !b->text.failed; i++) {
        struct http2_header h = {
            bytes_of(b->text.at + b->field[i].name, b->field[i].name_len),
            bytes_of(b->text.at + b->field[i].value, b->field[i].value_len),
        };

        if (bytes_is(h.name, ":method"))
            r.method = h.value;
        else if (bytes_is(h.name, ":path"))
            r.path = h.value;
        else if (h.name.len > 0 && h.name.at[0] != ':')
            headers[r.count++] = h;
    }
    *out = r;
}

struct bytes http2_request_header(const struct http2_request *r,
                                  const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (bytes_is(r->headers[i].name, name))
            return r->headers[i].value;
    return bytes_of(NULL, 0);
}

/* ---- the heads of frames among the octets of a connection ---- */

/* For the beginning of a connection, which starts with the preface. */
static void http2_frames_init(struct http2_frames *f)
{
    *f = (struct http2_frames){.skip = NGHTTP2_CLIENT_MAGIC_LEN};
}

static void skip(struct http2_frames *f, struct bytes *in)
{
    size_t n = f->skip < in->len ? f->skip : in->len;

    f->skip -= (uint32_t)n;
    *in = bytes_of(in->at + n, in->len - n);
    if (f->skip == 0 && f->have == 0 && f->block_is_last)
        f->in_block = false;
}

static void note_block(struct http2_frames *f, const struct http2_frame_head *h)
{
    if (h->type == NGHTTP2_HEADERS)
        f->blocks++;
    else if (h->type != NGHTTP2_CONTINUATION)
        return;
    f->in_block = true;
    f->block_is_last = (h->flags & NGHTTP2_FLAG_END_HEADERS) != 0;
    if (h->len == 0 && f->block_is_last)
        f->in_block = false;
}

static struct http2_frame_head read_head(const uint8_t b[9])
{
    return (struct http2_frame_head){
        .len = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2],
        .type = b[3],
        .flags = b[4],
        .stream = ((uint32_t)b[5] << 24 | (uint32_t)b[6] << 16 |
                   (uint32_t)b[7] << 8 | b[8]) &
                  INT32_MAX,
    };
}

/* Finds the next head in `*in` and moves *in past it. False: all of `in` is
 * read; then `in_block` and `blocks` are valid for its end. */
static bool http2_frames_next(struct http2_frames *f, struct bytes *in,
                              struct http2_frame_head *out)
{
    size_t n;

    skip(f, in);
    n = sizeof f->head - f->have;
    n = n < in->len ? n : in->len;
    if (n > 0)
        memcpy(f->head + f->have, in->at, n);
    *in = bytes_of(in->at + n, in->len - n);
    f->have += (unsigned)n;
    if (f->have < sizeof f->head)
        return false;
    f->have = 0;
    *out = read_head(f->head);
    f->skip = out->len;
    note_block(f, out);
    return true;
}

/* ---- frames and windows, on top of nghttp2 ---- */

#define BOMB            16   /* blocks this many times too large end it */
#define ALLOWANCE       2000 /* frames that cost the peer nothing ... */
#define ALLOWANCE_A_S   200  /* ... and how many more each second */
#define ACKS_MOST       1000 /* of PING and SETTINGS that wait to go */
#define REFUSED_MOST    2000 /* streams whose refusal waits to go */
#define WINDOWS_A_FRAME 16 /* WINDOW_UPDATE free for a frame of DATA we sent */
#define WINDOWS_MOST    (1 << 20)

/* There is something to send. Within a call from outside this does nothing,
 * since the caller sends afterwards. */
static void http2_session_wake(struct http2_session *s)
{
    if (!s->inside)
        s->handler->wake(s->conn);
}

static void touch(struct http2_stream *t)
{
    if (t->is_touched)
        return;
    t->is_touched = true;
    TAILQ_INSERT_TAIL(&t->session->touched, t, touched);
}

/* ---- frames that cost the peer nothing ---- */

static void refill(struct http2_session *s)
{
    int64_t more = (s->now - s->refilled) / (NS_PER_S / ALLOWANCE_A_S);

    if (more <= 0)
        return;
    s->refilled = s->now;
    s->allowance =
        s->allowance + more < ALLOWANCE ? s->allowance + more : ALLOWANCE;
}

static void calm_down(struct http2_session *s)
{
    s->calm = true;
    nghttp2_session_terminate_session(s->ng, NGHTTP2_ENHANCE_YOUR_CALM);
}

static void charge(struct http2_session *s)
{
    if (--s->allowance < 0 && !s->calm)
        calm_down(s);
}

static void allow_windows(struct http2_session *s)
{
    s->windows += WINDOWS_A_FRAME;
    if (s->windows > WINDOWS_MOST)
        s->windows = WINDOWS_MOST;
}

/* Charges a frame by its head, whatever nghttp2 does with the rest. Requests
 * are not charged, since the limit of streams bounds their cost. */
static void charge_frame(struct http2_session *s,
                         const struct http2_frame_head *h)
{
    switch (h->type) {
    case NGHTTP2_DATA:
        if (h->len == 0 && (h->flags & NGHTTP2_FLAG_END_STREAM) == 0)
            charge(s);
        break;
    case NGHTTP2_HEADERS:
        allow_windows(s); /* some clients open a window for each request */
        break;
    case NGHTTP2_WINDOW_UPDATE:
        if (s->windows > 0)
            s->windows--;
        else
            charge(s);
        break;
    default:
        charge(s);
    }
}

/* ---- called by nghttp2 ---- */

static struct http2_stream *stream_of(nghttp2_session *ng, int32_t id)
{
    return nghttp2_session_get_stream_user_data(ng, id);
}

static int on_begin_headers(nghttp2_session *ng, const nghttp2_frame *f,
                            void *ctx)
{
    struct http2_session *s = ctx;

    http2_block_clear(&s->block);
    if (f->hd.type != NGHTTP2_HEADERS || f->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    if (s->streams >= s->limits.streams) {
        nghttp2_submit_rst_stream(ng, NGHTTP2_FLAG_NONE, f->hd.stream_id,
                                  NGHTTP2_REFUSED_STREAM);
        charge(s);
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* drops its fields */
    }
    http2_stream_new(s, f->hd.stream_id);
    return 0;
}

static int on_header(nghttp2_session *ng, const nghttp2_frame *f,
                     const uint8_t *name, size_t name_len, const uint8_t *value,
                     size_t value_len, uint8_t flags, void *ctx)
{
    struct http2_session *s = ctx;

    (void)ng;
    (void)f;
    (void)flags;
    http2_block_add(&s->block, bytes_of(name, name_len),
                    bytes_of(value, value_len), s->limits.header_most);
    if (s->block.octets / BOMB > s->limits.header_most && !s->calm)
        calm_down(s);
    return 0;
}

static void peer_ended(struct http2_session *s, struct http2_stream *t)
{
    t->remote_ended = true;
    if (t->finished)
        return;
    s->handler->end(t);
    touch(t);
}

static void give_request(struct http2_session *s, struct http2_stream *t)
{
    struct http2_header headers[HTTP2_FIELDS_MOST];
    struct http2_request r;

    http2_block_read(&s->block, s->limits.header_most, headers, &r);
    s->handler->request(s->handler->ctx, t, &r);
}

static void got_headers(struct http2_session *s, const nghttp2_frame *f)
{
    struct http2_stream *t = stream_of(s->ng, f->hd.stream_id);

    if (t == NULL)
        return;
    if (f->headers.cat == NGHTTP2_HCAT_REQUEST)
        give_request(s, t);
    if ((f->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
        peer_ended(s, t);
}

static void got_data(struct http2_session *s, const nghttp2_frame *f)
{
    struct http2_stream *t = stream_of(s->ng, f->hd.stream_id);

    if ((f->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) {
        if (f->hd.length > 0 && f->hd.length == f->data.padlen)
            charge(s);
    } else if (t != NULL) {
        peer_ended(s, t);
    }
}

static int on_frame_recv(nghttp2_session *ng, const nghttp2_frame *f, void *ctx)
{
    struct http2_session *s = ctx;

    (void)ng;
    switch (f->hd.type) {
    case NGHTTP2_HEADERS:
        got_headers(s, f);
        break;
    case NGHTTP2_DATA:
        got_data(s, f);
        break;
    case NGHTTP2_SETTINGS:
        s->ready = true;
        break;
    default:
        break;
    }
    return 0;
}

static int on_data_chunk(nghttp2_session *ng, uint8_t flags, int32_t id,
                         const uint8_t *data, size_t len, void *ctx)
{
    struct http2_session *s = ctx;
    struct http2_stream *t = stream_of(ng, id);

    (void)flags;
    nghttp2_session_consume_connection(ng, len);
    if (t == NULL || t->finished) {
        nghttp2_session_consume_stream(ng, id, len);
        return 0;
    }
    s->handler->data(t, bytes_of(data, len));
    touch(t);
    return 0;
}

static int on_stream_close(nghttp2_session *ng, int32_t id, uint32_t error,
                           void *ctx)
{
    struct http2_stream *t = stream_of(ng, id);

    (void)error;
    (void)ctx;
    if (t != NULL)
        http2_stream_forget(t);
    return 0;
}

static int on_frame_send(nghttp2_session *ng, const nghttp2_frame *f, void *ctx)
{
    struct http2_session *s = ctx;
    struct http2_stream *t;

    if (f->hd.type == NGHTTP2_DATA) {
        allow_windows(s);
        if (s->allowance < ALLOWANCE)
            s->allowance++; /* peers measure their window with PING as data
                               comes */
    }
    if (f->hd.type != NGHTTP2_HEADERS ||
        (f->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0)
        return 0;
    t = stream_of(ng, f->hd.stream_id);
    if (t != NULL && !t->remote_ended)
        nghttp2_submit_rst_stream(ng, NGHTTP2_FLAG_NONE, t->id,
                                  NGHTTP2_NO_ERROR);
    return 0;
}

/* ---- life ---- */

static void set_callbacks(nghttp2_session_callbacks *cb)
{
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb,
                                                            on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb,
                                                              on_data_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_frame_send);
}

static enum status make_session(struct http2_session *s)
{
    nghttp2_session_callbacks *cb = NULL;
    nghttp2_option *option = NULL;
    enum status st = STATUS_NOMEM;

    if (nghttp2_session_callbacks_new(&cb) != 0 ||
        nghttp2_option_new(&option) != 0)
        goto out;
    set_callbacks(cb);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_outbound_ack(option, ACKS_MOST);
    if (nghttp2_session_server_new2(&s->ng, cb, s, option) == 0)
        st = STATUS_OK;
out:
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(cb);
    return st;
}

static enum status say_settings(struct http2_session *s)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
         s->limits.streams + REFUSED_MOST}, /* see set_limit */
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, s->limits.window},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, s->limits.header_most},
    };

    if (nghttp2_submit_settings(s->ng, NGHTTP2_FLAG_NONE, settings,
                                sizeof settings / sizeof *settings) != 0 ||
        nghttp2_session_set_local_window_size(s->ng, NGHTTP2_FLAG_NONE, 0,
                                              4 * (int32_t)s->limits.window) !=
            0)
        return STATUS_NOMEM;
    return STATUS_OK;
}

enum status http2_session_new(struct http2_session **out,
                              const struct http2_handler *h,
                              const struct http2_limits *limits, void *conn)
{
    struct http2_session *s = xcalloc(1, sizeof *s);
    enum status st;

    s->handler = h;
    s->limits = *limits;
    s->conn = conn;
    s->allowance = ALLOWANCE;
    http2_frames_init(&s->frames);
    s->inside = true;
    TAILQ_INIT(&s->all);
    TAILQ_INIT(&s->touched);
    TAILQ_INIT(&s->low);
    buf_init(&s->block.text, limits->header_most);
    st = make_session(s);
    if (st == STATUS_OK)
        st = say_settings(s);
    if (st != STATUS_OK) {
        http2_session_free(s);
        return st;
    }
    s->inside = false;
    *out = s;
    return STATUS_OK;
}

void http2_session_free(struct http2_session *s)
{
    struct http2_stream *t, *next;

    if (s == NULL)
        return;
    s->inside = true;
    for (t = TAILQ_FIRST(&s->all); t != NULL; t = next) {
        next = TAILQ_NEXT(t, all);
        http2_stream_forget(t);
    }
    nghttp2_session_del(s->ng);
    buf_fini(&s->block.text);
    free(s);
}

/* ---- octets ---- */

/* Looks at frame heads before nghttp2 reads the octets. */
static void look_through(struct http2_session *s, struct bytes in)
{
    uint64_t blocks = s->frames.blocks;
    struct http2_frame_head h;

    while (http2_frames_next(&s->frames, &in, &h))
        charge_frame(s, &h);
    if (!s->frames.in_block)
        s->head_since = 0;
    else if (s->head_since == 0 || s->frames.blocks != blocks)
        s->head_since = s->now;
}

static void take_turns(struct http2_session *s)
{
    struct http2_stream *t;

    while ((t = TAILQ_FIRST(&s->touched)) != NULL) {
        TAILQ_REMOVE(&s->touched, t, touched);
        t->is_touched = false;
        if (!t->finished)
            s->handler->turn(t);
    }
}

/* nghttp2 also has limits: on resets, on CONTINUATION frames in a block, and on
 * waiting answers to PING and SETTINGS. */
static bool is_flood(ssize_t error)
{
    return error == NGHTTP2_ERR_FLOODED ||
           error == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS;
}

enum status http2_session_receive(struct http2_session *s, struct bytes in,
                                  int64_t now)
{
    ssize_t n;

    s->now = now;
    if (s->refilled == 0)
        s->refilled = now;
    refill(s);
    s->inside = true;
    look_through(s, in);
    if (s->calm) {
        s->inside = false;
        return STATUS_CLOSED;
    }
    n = nghttp2_session_mem_recv(s->ng, (const uint8_t *)in.at, in.len);
    if (is_flood(n) && !s->calm)
        calm_down(s);
    take_turns(s);
    s->inside = false;
    return n == (ssize_t)in.len && !s->calm ? STATUS_OK : STATUS_CLOSED;
}

/* Tells owners that waited for room; true if there were any. */
static bool tell_drained(struct http2_session *s)
{
    struct http2_stream *t;
    bool any = false;

    while ((t = TAILQ_FIRST(&s->low)) != NULL) {
        TAILQ_REMOVE(&s->low, t, low);
        t->is_low = t->over = false;
        any = true;
        if (!t->finished)
            s->handler->drained(t);
    }
    return any;
}

/* Puts our limit of streams into the SETTINGS frame that nghttp2 has made (RFC
 * 9113 section 6.5.1): 9 octets, then for each setting 2 of its name and 4 of
 * its value. */
static const uint8_t *set_limit(struct http2_session *s, const uint8_t *at,
                                size_t n)
{
    assert(n >= 15 && n <= sizeof s->greeting);
    assert(at[3] == NGHTTP2_SETTINGS &&
           at[10] == NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    memcpy(s->greeting, at, n);
    for (unsigned i = 0; i < 4; i++)
        s->greeting[11 + i] = (uint8_t)(s->limits.streams >> (24 - 8 * i));
    s->greeted = true;
    return s->greeting;
}

struct bytes http2_session_send(struct http2_session *s)
{
    const uint8_t *at = NULL;
    ssize_t n;

    s->inside = true;
    do {
        n = nghttp2_session_mem_send(s->ng, &at);
    } while (n == 0 && tell_drained(s));
    s->inside = false;
    if (n > 0 && !s->greeted)
        at = set_limit(s, at, (size_t)n);
    return n > 0 ? bytes_of(at, (size_t)n) : bytes_of(NULL, 0);
}

bool http2_session_over(const struct http2_session *s)
{
    return nghttp2_session_want_read(s->ng) == 0 &&
           nghttp2_session_want_write(s->ng) == 0;
}

const struct http2_standing *http2_session_standing(
    const struct http2_session *s)
{
    return &s->standing;
}

uint64_t http2_session_opened(const struct http2_session *s)
{
    return s->opened;
}

int64_t http2_session_head_since(const struct http2_session *s)
{
    return s->head_since;
}

bool http2_session_flooded(const struct http2_session *s)
{
    return s->calm;
}

bool http2_session_ready(const struct http2_session *s)
{
    return s->ready;
}

size_t http2_session_streams(const struct http2_session *s)
{
    return s->streams;
}

void http2_session_ping(struct http2_session *s)
{
    nghttp2_submit_ping(s->ng, NGHTTP2_FLAG_NONE, NULL);
    http2_session_wake(s);
}

void http2_session_goaway(struct http2_session *s, bool at_once)
{
    if (at_once)
        nghttp2_submit_goaway(s->ng, NGHTTP2_FLAG_NONE,
                              nghttp2_session_get_last_proc_stream_id(s->ng),
                              NGHTTP2_NO_ERROR, NULL, 0);
    else
        nghttp2_submit_shutdown_notice(s->ng);
    http2_session_wake(s);
}

void http2_session_each(struct http2_session *s,
                        void (*visit)(struct http2_stream *t))
{
    struct http2_stream *t, *next;

    for (t = TAILQ_FIRST(&s->all); t != NULL; t = next) {
        next = TAILQ_NEXT(t, all);
        visit(t);
    }
}

/* ---- one stream, and its answer ----
 *
 * An answer waits in `out` until nghttp2 asks for it. After the whole answer
 * the trailers follow.
 */

#define TRAILERS_MOST 4
#define OUT_CEILING   (32u << 20) /* one stream's answer */
#define KEPT_CAP      4096        /* a larger `out` is freed when empty */

/* ---- life ---- */

/* Makes a stream, in s->all and as nghttp2's user data of its id. */
static void http2_stream_new(struct http2_session *s, int32_t id)
{
    struct http2_stream *t = xcalloc(1, sizeof *t);

    t->session = s;
    t->id = id;
    buf_init(&t->out, OUT_CEILING);
    buf_init(&t->trailer, s->limits.header_most);
    TAILQ_INSERT_TAIL(&s->all, t, all);
    s->streams++;
    s->opened++;
    nghttp2_session_set_stream_user_data(s->ng, id, t);
}

/* Tells its owner, takes it out of all lists and frees it. */
static void http2_stream_forget(struct http2_stream *t)
{
    struct http2_session *s = t->session;

    s->handler->closed(t);
    TAILQ_REMOVE(&s->all, t, all);
    if (t->is_touched)
        TAILQ_REMOVE(&s->touched, t, touched);
    if (t->is_low)
        TAILQ_REMOVE(&s->low, t, low);
    s->streams--;
    buf_fini(&t->out);
    buf_fini(&t->trailer);
    free(t);
}

void http2_stream_set_user(struct http2_stream *t, void *user)
{
    t->user = user;
}

void *http2_stream_user(const struct http2_stream *t)
{
    return t->user;
}

void *http2_stream_conn(const struct http2_stream *t)
{
    return t->session->conn;
}

size_t http2_stream_siblings(const struct http2_stream *t)
{
    return t->session->streams;
}

struct http2_standing *http2_stream_standing(struct http2_stream *t)
{
    return &t->session->standing;
}

void http2_stream_consume(struct http2_stream *t, size_t n)
{
    if (n == 0)
        return;
    nghttp2_session_consume_stream(t->session->ng, t->id, n);
    http2_session_wake(t->session);
}

/* ---- what nghttp2 asks for ---- */

static nghttp2_nv nv_of(struct bytes name, struct bytes value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name.at,
                        (uint8_t *)(uintptr_t)value.at, name.len, value.len,
                        NGHTTP2_NV_FLAG_NONE};
}

static void submit_trailer(struct http2_stream *t)
{
    nghttp2_nv nv[TRAILERS_MOST];
    const char *p = buf_str(&t->trailer);

    for (size_t i = 0; i < t->trailer_count; i++) {
        struct bytes name = bytes_of_str(p);
        struct bytes value = bytes_of_str(p + name.len + 1);

        nv[i] = nv_of(name, value);
        p = value.at + value.len + 1;
    }
    nghttp2_submit_trailer(t->session->ng, t->id, nv, t->trailer_count);
}

static size_t held(const struct http2_stream *t)
{
    return t->out.len - t->out_at;
}

static void sent(struct http2_stream *t, size_t n)
{
    t->out_at += n;
    if (held(t) == 0) {
        t->out_at = 0;
        if (t->out.cap > KEPT_CAP)
            buf_fini(&t->out);
        else
            buf_clear(&t->out);
    }
    if (t->over && !t->is_low && held(t) <= t->session->limits.out_most / 2) {
        t->is_low = true;
        TAILQ_INSERT_TAIL(&t->session->low, t, low);
    }
}

static ssize_t on_read(nghttp2_session *ng, int32_t id, uint8_t *to, size_t len,
                       uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    struct http2_stream *t = source->ptr;
    size_t n = held(t) < len ? held(t) : len;

    (void)ng;
    (void)id;
    (void)ctx;
    if (n == 0 && !t->finished) {
        t->waiting = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    if (n > 0)
        memcpy(to, t->out.at + t->out_at, n);
    sent(t, n);
    if (held(t) == 0 && t->finished) {
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        submit_trailer(t);
    }
    return (ssize_t)n;
}

/* ---- the answer ---- */

void http2_stream_respond(struct http2_stream *t, const struct http2_header *h,
                          size_t n, bool end)
{
    nghttp2_data_provider provider = {.source.ptr = t,
                                      .read_callback = on_read};
    nghttp2_nv nv[16];

    assert(!t->responded && n <= sizeof nv / sizeof *nv);
    for (size_t i = 0; i < n; i++)
        nv[i] = nv_of(h[i].name, h[i].value);
    nghttp2_submit_response(t->session->ng, t->id, nv, n,
                            end ? NULL : &provider);
    t->responded = true;
    t->finished = end;
    http2_session_wake(t->session);
}

static void resume(struct http2_stream *t)
{
    if (t->waiting) {
        t->waiting = false;
        nghttp2_session_resume_data(t->session->ng, t->id);
    }
    http2_session_wake(t->session);
}

char *http2_stream_write(struct http2_stream *t, size_t len)
{
    char *at;

    assert(t->responded && !t->finished);
    if (t->out_at > 0 && t->out.len + len + 1 > t->out.cap) {
        memmove(t->out.at, t->out.at + t->out_at, held(t));
        buf_truncate(&t->out, held(t));
        t->out_at = 0;
    }
    at = buf_room(&t->out, len);
    if (at == NULL)
        return NULL;
    buf_grew(&t->out, len);
    resume(t);
    return at;
}

size_t http2_stream_room(struct http2_stream *t)
{
    size_t most = t->session->limits.out_most;

    if (held(t) < most)
        return most - held(t);
    t->over = true;
    return 0;
}

void http2_stream_finish(struct http2_stream *t, const struct http2_header *h,
                         size_t n)
{
    assert(t->responded && !t->finished && n <= TRAILERS_MOST);
    for (size_t i = 0; i < n; i++) {
        buf_add_bytes(&t->trailer, h[i].name);
        buf_add_char(&t->trailer, '\0');
        buf_add_bytes(&t->trailer, h[i].value);
        buf_add_char(&t->trailer, '\0');
    }
    t->trailer_count = n;
    t->finished = true;
    resume(t);
}

bool http2_stream_waits(const struct http2_stream *t)
{
    return held(t) > 0;
}

void http2_stream_reset(struct http2_stream *t)
{
    t->finished = true;
    nghttp2_submit_rst_stream(t->session->ng, NGHTTP2_FLAG_NONE, t->id,
                              NGHTTP2_CANCEL);
    http2_session_wake(t->session);
}
