/*
 * http2_server.h - listens, and keeps the connections: plaintext HTTP/2 with
 * prior knowledge (RFC 9113 section 3.3), or TLS.
 *
 * It bounds the number of connections (listener.h), the time a peer may take for
 * handshake, preface and header fields, the time it may stay without a stream
 * (even if it sends PING), and the time it may leave our PING unanswered.
 * http2_session.h bounds what one connection may cost. Threads: the loop's
 * only.
 */
#ifndef URLWEIR_SERVICE_GRPC_HTTP2_SERVER_H
#define URLWEIR_SERVICE_GRPC_HTTP2_SERVER_H

#include <stdint.h>

#include "service/grpc/http2_session.h"
#include "service/net/listener.h"
#include "service/net/loop.h"
#include "service/net/tls.h"

struct http2_server;
struct http2_conn;

struct http2_server_options {
    const char *listen; /* "127.0.0.1:7071", "[::]:0", "name:port" */
    struct tls *tls;    /* NULL: plaintext */
    struct http2_limits limits;
    unsigned connections;  /* most at once (listener.h) */
    unsigned address_most; /* from one address; 0: by `connections` */
    /* A client may be honest and get no time from its machine, so both are long:
     * it is listener.h that keeps those who say nothing from taking all. */
    int64_t preface_ns;  /* until the peer's first SETTINGS, TLS included */
    int64_t head_ns;     /* for a block of header fields, from its first frame
                            to the end of its last */
    int64_t idle_ns;     /* without a stream, whatever else is sent ... */
    int64_t stranger_ns; /* ... while no caller is known */
    int64_t quiet_ns;    /* without an octet, then PING ... */
    int64_t answer_ns;   /* ... and this long for any octet */
};

/* Sets defaults for all options but listen and tls. */
void http2_server_options_init(struct http2_server_options *o);

/* Starts to listen, and sets `h->wake`. STATUS_ARG: no such address;
 * STATUS_BUSY: it is in use; STATUS_IO. Everything except the options' strings
 * is borrowed for the server's life. */
MUST_CHECK enum status http2_server_new(struct http2_server **out,
                                        struct loop *l, struct http2_handler *h,
                                        const struct http2_server_options *o);
/* Closes all connections at once and frees the server. */
void http2_server_free(struct http2_server *s);

/* "127.0.0.1:7071": numeric, with the real port if 0 was asked for. */
const char *http2_server_address(const struct http2_server *s);

/* Counts for monitoring; octets are those of HTTP/2, without TLS. Any thread,
 * until the server is freed. */
struct http2_stats {
    uint64_t open, accepted;      /* connections */
    uint64_t closed[PLACE_ENDS_]; /* by us */
    uint64_t received, sent;      /* octets */
};
void http2_server_get_stats(const struct http2_server *s,
                            struct http2_stats *out);

/* Stops listening and sends GOAWAY; a connection closes after its last stream.
 * Calls `ended` when none is left. */
void http2_server_drain(struct http2_server *s, void (*ended)(void *ctx),
                        void *ctx);
/* Visits each open stream of each connection. */
void http2_server_each(struct http2_server *s,
                       void (*visit)(struct http2_stream *t));

#endif
