/*
 * http2_session_impl.h - the inside of an HTTP/2 session, shared by its files.
 *
 *   http2_session.c  frames and windows, on top of nghttp2; octets in and out
 *   http2_stream.c   one stream, and its answer until nghttp2 asks for it
 *
 * No other file includes this.
 */
#ifndef URLWEIR_SERVICE_GRPC_HTTP2_SESSION_IMPL_H
#define URLWEIR_SERVICE_GRPC_HTTP2_SESSION_IMPL_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "service/grpc/http2_session.h"

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

/* For the beginning of a connection, which starts with the preface. */
void http2_frames_init(struct http2_frames *f);
/* Finds the next head in `*in` and moves *in past it. False: all of `in` is
 * read; then `in_block` and `blocks` are valid for its end. */
bool http2_frames_next(struct http2_frames *f, struct bytes *in,
                       struct http2_frame_head *out);

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

/* There is something to send. Within a call from outside this does nothing,
 * since the caller sends afterwards. */
void http2_session_wake(struct http2_session *s);

/* ---- one stream ---- */

/* Makes a stream, in s->all and as nghttp2's user data of its id. */
void http2_stream_new(struct http2_session *s, int32_t id);
/* Tells its owner, takes it out of all lists and frees it. */
void http2_stream_forget(struct http2_stream *t);

#endif
