/*
 * http2_session.h - the server's side of one HTTP/2 connection, without its
 * socket: octets in, octets out, streams in between (RFC 9113, by nghttp2).
 *
 * It bounds what a peer may cost. A stream's window opens only as its owner
 * consumes, so that an owner that stops reading stops the peer. Header blocks
 * are measured as in RFC 9113 section 6.5.2; those over the limit reach the
 * owner as `too_large`, with fields missing. Frames that cost us work and the
 * peer nothing (PING, SETTINGS, RST_STREAM, PRIORITY, GOAWAY, CONTINUATION,
 * empty DATA, frames of unknown types, streams over the limit) are charged to
 * an allowance that refills, and so is WINDOW_UPDATE beyond what our own DATA
 * explains. A peer that overdraws it gets GOAWAY with ENHANCE_YOUR_CALM.
 *
 * Threads: one. Callbacks may call everything here except http2_session_free.
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
    uint32_t streams;     /* open at once; one more is REFUSED_STREAM */
    uint32_t window;      /* octets of a stream that wait for its owner */
    uint32_t header_most; /* octets of a header block */
    uint32_t out_most;    /* mark for the octets of a stream's answer held here:
                             see http2_stream_room */
};

/* The functions of the owner of the streams. `turn` is called after all `data`
 * and `end` calls for a piece of input, once for each stream that got any.
 * `drained` is called when a stream that was over its mark has room again.
 * `closed` is the last call for a stream. */
struct http2_handler {
    void (*request)(void *ctx, struct http2_stream *s,
                    const struct http2_request *r);
    void (*data)(struct http2_stream *s, struct bytes b);
    void (*end)(struct http2_stream *s);
    void (*turn)(struct http2_stream *s);
    void (*drained)(struct http2_stream *s);
    void (*closed)(struct http2_stream *s);
    void *ctx;
    /* A call from outside has given the session something to send. */
    void (*wake)(void *conn);
};

/* `conn` is passed to `wake`. All arguments are borrowed for the session's
 * life. */
MUST_CHECK enum status http2_session_new(struct http2_session **out,
                                         const struct http2_handler *h,
                                         const struct http2_limits *limits,
                                         void *conn);
void http2_session_free(struct http2_session *s); /* closes its streams */

/* STATUS_CLOSED: the connection is over, except for what is left to send. */
MUST_CHECK enum status http2_session_receive(struct http2_session *s,
                                             struct bytes in, int64_t now);
/* The next octets to send; none: {NULL, 0}. They live until the next call. */
struct bytes http2_session_send(struct http2_session *s);
/* Is there nothing more to send or to receive? */
bool http2_session_over(const struct http2_session *s);
size_t http2_session_streams(const struct http2_session *s);
/* Notes of the streams' owner on the connection; all zero at first. */
struct http2_standing {
    bool known;         /* it had a call with a known token */
    unsigned anonymous; /* open calls of methods that need no token */
    unsigned idle;      /* calls that may be ended to make room */
};
const struct http2_standing *http2_session_standing(
    const struct http2_session *s);
/* Streams opened since the beginning. */
uint64_t http2_session_opened(const struct http2_session *s);
/* When the current, incomplete block of header fields began; 0: there is
 * none. */
int64_t http2_session_head_since(const struct http2_session *s);
/* Was it ended for frames that only cost us work? */
bool http2_session_flooded(const struct http2_session *s);
/* Has the peer sent its preface and settings? */
bool http2_session_ready(const struct http2_session *s);

/* Sends a PING; any octet from the peer counts as an answer. */
void http2_session_ping(struct http2_session *s);
/* Refuses new streams with GOAWAY. `at_once` false: sends the notice first,
 * which still allows streams that are on their way (RFC 9113 section 6.8). */
void http2_session_goaway(struct http2_session *s, bool at_once);
/* Visits each open stream. `visit` may end streams but not start any. */
void http2_session_each(struct http2_session *s,
                        void (*visit)(struct http2_stream *s));

/* ---- one stream; never NULL; invalid after `closed` ---- */

/* For the owner's own use. */
void http2_stream_set_user(struct http2_stream *s, void *user);
void *http2_stream_user(const struct http2_stream *s);
/* The `conn` of http2_session_new. */
void *http2_stream_conn(const struct http2_stream *s);
/* The number of streams of its connection, it included. */
size_t http2_stream_siblings(const struct http2_stream *s);
/* The standing of its connection. */
struct http2_standing *http2_stream_standing(struct http2_stream *s);
/* The owner is done with `n` octets of `data`. */
void http2_stream_consume(struct http2_stream *s, size_t n);
/* Sends the response headers, once; `end`: nothing follows. Names are in lower
 * case. */
void http2_stream_respond(struct http2_stream *s, const struct http2_header *h,
                          size_t n, bool end);
/* Room for `len` octets of the answer, which the caller fills before any other
 * call. NULL: there is no memory. */
char *http2_stream_write(struct http2_stream *s, size_t len);
/* How many octets may be written up to the mark; 0: wait for `drained`. */
size_t http2_stream_room(struct http2_stream *s);
/* Ends the answer with trailers. Further input is dropped. */
void http2_stream_finish(struct http2_stream *s, const struct http2_header *h,
                         size_t n);
/* Is part of the answer still waiting for the peer to read it? */
bool http2_stream_waits(const struct http2_stream *s);
/* Ends the stream at once: RST_STREAM, CANCEL. */
void http2_stream_reset(struct http2_stream *s);

#endif
