/*
 * grpc_server.h - gRPC calls on HTTP/2 streams: a table of methods, each with
 * functions that are called as its requests come in.
 *
 * Handles what every method needs: content type, metadata, roles, deadlines,
 * message framing and its ceiling, status and trailers, back-pressure. It knows
 * nothing about protobuf.
 *
 * A method answers at any time, on the loop's thread. Code that keeps a call
 * after its functions return must hold it (grpc_call_hold); after a call has
 * ended, messages and status have no effect.
 *
 * Source: grpc/doc/PROTOCOL-HTTP2.md.
 */
#ifndef URLWEIR_SERVICE_GRPC_GRPC_SERVER_H
#define URLWEIR_SERVICE_GRPC_GRPC_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "service/grpc/grpc_frame.h"
#include "service/grpc/http2_server.h"
#include "service/net/auth.h"
#include "service/net/loop.h"
#include "service/net/proto.h"

/* Most open calls of methods without a token (AUTH_NONE) on one connection.
 * They have a limit of their own, so that callers without a token cannot use up
 * the room of the others; their messages are small. */
#define GRPC_ANONYMOUS_MOST 8

struct grpc_server;
struct grpc_call;

enum grpc_kind {
    GRPC_SINGLE, /* one request; one answer, or a stream of them */
    GRPC_STREAM  /* requests as they come */
};

struct grpc_method {
    const char *path; /* "/package.Service/Method" */
    enum grpc_kind kind;
    enum auth_role role; /* the least role of a caller */
    /* A request has come. GRPC_SINGLE: the only one, after the caller has
     * half-closed. The bytes live until this returns. */
    void (*message)(struct grpc_call *c, struct bytes m);
    /* The rest may be NULL. */
    void (*begun)(struct grpc_call *c);
    void (*half_closed)(struct grpc_call *c); /* GRPC_STREAM: no more come */
    void (*turn)(struct grpc_call *c);     /* after the messages of one read */
    void (*drained)(struct grpc_call *c);  /* room again, see grpc_call_room */
    void (*stopping)(struct grpc_call *c); /* the server stops: end soon */
    /* The call was finished, cancelled, timed out or cut off. */
    void (*ended)(struct grpc_call *c);
    const void *spec; /* for the method's own use */
};

struct grpc_table {
    const struct grpc_method *methods; /* the last has no path */
    void *ctx;                         /* for grpc_call_ctx */
};

struct grpc_options {
    const struct grpc_table *tables; /* the last has no methods */
    struct auth *auth;               /* NULL: every caller may do everything */
    struct http2_server_options http2;
    size_t calls_most;    /* open calls that need a role; 0: 4096 */
    size_t messages_most; /* octets of large messages coming in; 0: 128 MiB */
    int64_t request_ns;   /* for the request of a GRPC_SINGLE; 0: 60 s */
};

/* Starts to listen, as http2_server_new. */
MUST_CHECK enum status grpc_server_new(struct grpc_server **out, struct loop *l,
                                       const struct grpc_options *o);
/* Closes all connections at once. */
void grpc_server_cut(struct grpc_server *s);
/* Cuts and frees. No call may be held any more. NULL is fine. */
void grpc_server_free(struct grpc_server *s);
struct http2_server *grpc_server_http2(struct grpc_server *s);

/* Stops gracefully: refuses new calls, tells methods, and calls `ended` when
 * the last connection is closed. */
void grpc_server_drain(struct grpc_server *s, void (*ended)(void *ctx),
                       void *ctx);
/* The number of calls that need a role and are held or open. */
size_t grpc_server_calls(const struct grpc_server *s);

/* Counts for monitoring. A stream is counted when it ends, by its status:
 * cancelled, reset and cut off streams count as CANCELLED. Any thread, until
 * the server is cut. */
struct grpc_stats {
    struct http2_stats http2;
    uint64_t open; /* streams */
    uint64_t ended[GRPC_CODES_];
    uint64_t strangers;      /* requests that were not gRPC: 405, 415 */
    uint64_t received, sent; /* messages */
};
void grpc_server_get_stats(const struct grpc_server *s, struct grpc_stats *out);

/* ---- one call ---- */

/* The ctx of the method's table. */
void *grpc_call_ctx(const struct grpc_call *c);
const struct grpc_method *grpc_call_method(const struct grpc_call *c);
void grpc_call_set_user(struct grpc_call *c, void *user);
void *grpc_call_user(const struct grpc_call *c);
bool grpc_call_has_ended(const struct grpc_call *c);

/* Room for an answer of `len` octets, which the caller fills at once. NULL: the
 * call has ended, or this ended it since the answer is too large. */
char *grpc_call_answer(struct grpc_call *c, size_t len);
/* How many octets may be sent before waiting for `drained`; 0: wait, `drained`
 * will be called, unless the call ends first. */
size_t grpc_call_room(struct grpc_call *c);
/* Ends the call with a status and a message for people; `fmt` NULL: none. */
void grpc_call_finish(struct grpc_call *c, enum grpc_code code, const char *fmt,
                      ...) PRINTF_LIKE(3, 4);

/* `pause`: take no more messages, so that the caller's window closes. `resume`:
 * go on; it calls `message` and `turn` for what came meanwhile. */
void grpc_call_pause(struct grpc_call *c);
void grpc_call_resume(struct grpc_call *c);

/* The caller has had an answer to all it has sent, and may have forgotten the
 * call: it may be ended with OK where there is little room for others, unless
 * more comes first. */
void grpc_call_set_idle(struct grpc_call *c);

/* `hold` keeps the struct after `ended`; `drop` releases it. */
void grpc_call_hold(struct grpc_call *c);
void grpc_call_drop(struct grpc_call *c);

/* ---- protobuf-c messages in and out of gRPC calls (proto.h) ---- */

/* proto_unpack; NULL: it failed, and the call has been finished. */
const void *grpc_unpack(struct grpc_call *c,
                        const ProtobufCMessageDescriptor *d, struct arena *a,
                        struct bytes m);

/* Answer with `m`. */
void grpc_pack(struct grpc_call *c, const ProtobufCMessage *m);
/* Sends the only answer of a call, then OK. */
void grpc_reply(struct grpc_call *c, const ProtobufCMessage *m);

/* Is it UTF-8? If not, the call has been finished. */
bool grpc_is_text(struct grpc_call *c, ProtobufCBinaryData d);

/* Makes a server without a port: its handler may be given to sessions, and then
 * needs a `wake`. Freed by grpc_server_free. */
struct grpc_server *grpc_server_without_port(struct loop *l,
                                             const struct grpc_options *o,
                                             struct http2_handler **handler);

#endif
