/*
 * http2_session.h - the server's side of one HTTP/2 connection, without its
 * socket: octets in, octets out, streams in between (RFC 9113, by nghttp2).
 *
 * What a peer may cost is bounded here. A stream's window opens only as its
 * owner consumes, so that an owner who stops taking stops the peer. Header
 * blocks are counted as RFC 9113 section 6.5.2 counts them; those over the
 * limit reach the owner as `too_large`, without their fields. Frames that cost
 * us work and the peer nothing (PING, SETTINGS, RST_STREAM, PRIORITY, GOAWAY,
 * CONTINUATION, empty DATA, frames of types that are not known) come from an
 * allowance that refills, and so does WINDOW_UPDATE beyond what our own DATA
 * explains. A peer that overdraws it is sent GOAWAY with ENHANCE_YOUR_CALM.
 *
 * One thread. Callbacks may call anything here but http2_session_free.
 */
#ifndef URLWEIR_SERVICE_GRPC_HTTP2_SESSION_H
#define URLWEIR_SERVICE_GRPC_HTTP2_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

struct http2_session;
struct http2_stream;

struct http2_header {
    struct bytes name, value;
};

struct http2_request {
    struct bytes method, path;
    const struct http2_header *headers; /* without the pseudo headers */
    size_t count;
    bool too_large; /* fields are missing */
};

/* The first header of that name, or {NULL, 0}. */
struct bytes http2_request_header(const struct http2_request *r,
                                  const char *name);

struct http2_limits {
    uint32_t streams;     /* open at once */
    uint32_t window;      /* octets of a stream that may wait for its owner */
    uint32_t header_most; /* octets of a header block */
    uint32_t out_most;    /* octets of a stream's answer held here, as a mark:
                             see http2_stream_room */
};

/* Who serves the streams. `turn` comes after `data` and `end` of a piece of
 * input have all been called, once for each stream that got any. `drained`
 * comes when a stream that was over its mark has room again. `closed` is the
 * last call for a stream. */
struct http2_handler {
    void (*request)(void *ctx, struct http2_stream *s,
                    const struct http2_request *r);
    void (*data)(struct http2_stream *s, struct bytes b);
    void (*end)(struct http2_stream *s);
    void (*turn)(struct http2_stream *s);
    void (*drained)(struct http2_stream *s);
    void (*closed)(struct http2_stream *s);
    void *ctx;
    /* There is something to send, by a call from outside. */
    void (*wake)(void *conn);
};

/* `conn` is handed to `wake`. All are borrowed for the session's life. */
MUST_CHECK enum status http2_session_new(struct http2_session **out,
                                         const struct http2_handler *h,
                                         const struct http2_limits *limits,
                                         void *conn);
void http2_session_free(struct http2_session *s); /* closes its streams */

/* STATUS_CLOSED: this connection is over; what is left to send should go. */
MUST_CHECK enum status http2_session_receive(struct http2_session *s,
                                             struct bytes in, int64_t now);
/* The next octets to send; none: {NULL, 0}. They live until the next call. */
struct bytes http2_session_send(struct http2_session *s);
/* Nothing more to send or to receive. */
bool http2_session_over(const struct http2_session *s);
size_t http2_session_streams(const struct http2_session *s);
/* What the owner of the streams notes of their connection; all zero at first.
 */
struct http2_standing {
    bool known;         /* a call with a token that is known came on it */
    unsigned anonymous; /* open calls of methods that need no token */
};
const struct http2_standing *http2_session_standing(
    const struct http2_session *s);
/* Streams that were ever opened. */
uint64_t http2_session_opened(const struct http2_session *s);
/* When a block of header fields began of which the end is still to come; 0:
 * there is none. */
int64_t http2_session_head_since(const struct http2_session *s);
/* It was ended for frames that cost work and say nothing. */
bool http2_session_flooded(const struct http2_session *s);
/* The peer has said its preface and settings. */
bool http2_session_ready(const struct http2_session *s);

/* Ask the peer for a sign of life; any octet from it is one. */
void http2_session_ping(struct http2_session *s);
/* No new streams: GOAWAY. `at_once` false: first the notice that lets streams
 * on their way come in (RFC 9113 section 6.8). */
void http2_session_goaway(struct http2_session *s, bool at_once);
/* Each stream that is open. `visit` may end streams, not start any. */
void http2_session_each(struct http2_session *s,
                        void (*visit)(struct http2_stream *s));

/* ---- one stream; NULL is refused, a stream is gone after `closed` ---- */

/* The owner's own. */
void http2_stream_set_user(struct http2_stream *s, void *user);
void *http2_stream_user(const struct http2_stream *s);
/* What http2_session_new was given. */
void *http2_stream_conn(const struct http2_stream *s);
/* That of its connection. */
struct http2_standing *http2_stream_standing(struct http2_stream *s);
/* So many octets of `data` are done with. */
void http2_stream_consume(struct http2_stream *s, size_t n);
/* Once; `end`: nothing follows. Names are lower case. */
void http2_stream_respond(struct http2_stream *s, const struct http2_header *h,
                          size_t n, bool end);
/* Room for `len` octets of the answer, which the caller fills before any other
 * call. NULL: memory is gone. */
char *http2_stream_write(struct http2_stream *s, size_t len);
/* Octets that may still be written before the mark; 0: wait for `drained`. */
size_t http2_stream_room(struct http2_stream *s);
/* The answer is complete: trailers end it. Input that still comes is dropped.
 */
void http2_stream_finish(struct http2_stream *s, const struct http2_header *h,
                         size_t n);
/* Does some of the answer wait for the peer to take it? */
bool http2_stream_waits(const struct http2_stream *s);
/* Ends the stream as it is: RST_STREAM, CANCEL. */
void http2_stream_reset(struct http2_stream *s);

#endif
