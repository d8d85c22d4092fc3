/*
 * grpc_server.h - gRPC calls on HTTP/2 streams: a table of methods, each with
 * functions that are called as its requests come in.
 *
 * Takes care of what is the same for every method: content type, metadata,
 * who may call, deadlines, message framing and its ceiling, status and
 * trailers, back-pressure. Knows nothing of protobuf.
 *
 * A method answers when it likes, on the loop's thread. Whoever keeps a call
 * beyond its functions holds it (grpc_call_hold); a call that has ended takes
 * messages and status without effect.
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
#include "service/grpc/grpc_text.h"
#include "service/grpc/http2_server.h"
#include "service/net/auth.h"
#include "service/net/loop.h"

/* Calls of methods that need no token (AUTH_NONE), open at once on one
 * connection. They have room of their own, so that callers without a token
 * cannot take that of the others; their messages are small. */
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
    enum auth_role role; /* what the caller must at least have */
    /* A request; of GRPC_SINGLE the only one, after the caller said that it
     * is. The bytes live until this returns. */
    void (*message)(struct grpc_call *c, struct bytes m);
    /* The rest may be NULL. */
    void (*begun)(struct grpc_call *c);
    void (*half_closed)(struct grpc_call *c); /* GRPC_STREAM: no more come */
    void (*turn)(struct grpc_call *c);     /* behind the messages of one read */
    void (*drained)(struct grpc_call *c);  /* room again, see grpc_call_room */
    void (*stopping)(struct grpc_call *c); /* the server is: come to an end */
    /* Finished, cancelled, timed out or cut off: nobody listens any more. */
    void (*ended)(struct grpc_call *c);
    const void *spec; /* the method's own */
};

struct grpc_table {
    const struct grpc_method *methods; /* the last has no path */
    void *ctx;                         /* for grpc_call_ctx */
};

struct grpc_options {
    const struct grpc_table *tables; /* the last has no methods */
    struct auth *auth;               /* NULL: everybody may do everything */
    struct http2_server_options http2;
    size_t calls_most;    /* at once, of those that need a role; 0: 4096 */
    size_t messages_most; /* octets of large messages coming in; 0: 128 MiB */
    int64_t request_ns;   /* for the request of a GRPC_SINGLE; 0: 60 s */
};

/* Listens. As http2_server_new. */
MUST_CHECK enum status grpc_server_new(struct grpc_server **out, struct loop *l,
                                       const struct grpc_options *o);
/* Ends all connections as they are. */
void grpc_server_cut(struct grpc_server *s);
/* Cuts, and frees: no call is held any more. NULL is fine. */
void grpc_server_free(struct grpc_server *s);
struct http2_server *grpc_server_http2(struct grpc_server *s);

/* Stop in good order: no new calls, methods are told, `ended` when the last
 * connection has gone. */
void grpc_server_drain(struct grpc_server *s, void (*ended)(void *ctx),
                       void *ctx);
bool grpc_server_is_draining(const struct grpc_server *s);
/* Calls that are held or open, of those that need a role. */
size_t grpc_server_calls(const struct grpc_server *s);

/* What a monitor shows. A stream is counted when it ends, by the status it was
 * given: cancelled, reset and cut off ones are CANCELLED. Any thread, while the
 * server is not cut. */
struct grpc_stats {
    struct http2_stats http2;
    uint64_t open; /* streams */
    uint64_t ended[GRPC_CODES_];
    uint64_t strangers;      /* requests that were no gRPC: 405, 415 */
    uint64_t received, sent; /* messages */
};
void grpc_server_get_stats(const struct grpc_server *s, struct grpc_stats *out);

/* ---- one call ---- */

/* That of the method's table. */
void *grpc_call_ctx(const struct grpc_call *c);
const struct grpc_method *grpc_call_method(const struct grpc_call *c);
void grpc_call_set_user(struct grpc_call *c, void *user);
void *grpc_call_user(const struct grpc_call *c);
bool grpc_call_has_ended(const struct grpc_call *c);
bool grpc_call_is_stopping(const struct grpc_call *c);

/* Room for an answer of `len` octets, to be filled at once. NULL: the call has
 * ended, or has been ended by this because the answer is too large. */
char *grpc_call_answer(struct grpc_call *c, size_t len);
/* Octets that may be answered before the caller should wait for `drained`; 0:
 * wait, `drained` will come. It comes no more when the call has ended. */
size_t grpc_call_room(struct grpc_call *c);
/* The status; `fmt` for people, NULL for none. */
void grpc_call_finish(struct grpc_call *c, enum grpc_code code, const char *fmt,
                      ...) PRINTF_LIKE(3, 4);

/* Take no more messages, so that the caller's window closes; go on. `resume`
 * calls `message` and `turn` for what has come meanwhile. */
void grpc_call_pause(struct grpc_call *c);
void grpc_call_resume(struct grpc_call *c);

/* Keep the struct after `ended`; let it go. */
void grpc_call_hold(struct grpc_call *c);
void grpc_call_drop(struct grpc_call *c);

#endif
