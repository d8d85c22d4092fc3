/*
 * http2_server_impl.h - the inside of the HTTP/2 server, shared by its files.
 *
 *   http2_server.c    the listener, and all connections
 *   http2_conn.c      the socket of one connection, in and out
 *   http2_deadline.c  the deadlines of a connection
 *
 * No other file includes this.
 */
#ifndef URLWEIR_SERVICE_HTTP2_SERVER_IMPL_H
#define URLWEIR_SERVICE_HTTP2_SERVER_IMPL_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/clock.h"
#include "service/grpc/http2_server.h"
#include "service/net/listener.h"
#include "service/net/places.h"

#define HTTP2_READ_CHUNK  65536             /* one read */
#define HTTP2_NOTICE_TIME (100 * NS_PER_MS) /* between the notice and GOAWAY */

struct http2_conn {
    struct loop_fd socket; /* first */
    struct http2_server *server;
    struct place place;
    TAILQ_ENTRY(http2_conn) all, marked;
    struct tls_conn *tls;
    struct http2_session *session;
    struct buf out;
    size_t out_at;
    uint32_t events; /* watched by the loop */
    bool is_marked;
    bool over; /* no more input; closed when `out` is sent */
    bool read_wants_write, write_blocked;

    /* for http2_deadline.c; times are monotonic, 0: none */
    int64_t began, heard;
    int64_t idle;    /* no stream is open since then */
    uint64_t opened; /* streams opened, as of then */
    int64_t asked;   /* when a PING was sent */
    int64_t noticed; /* when the notice was sent ...... */
    bool leaving;    /* ... and GOAWAY was sent too */
    int64_t armed;   /* when `timer` fires */
    struct loop_timer timer;
};

TAILQ_HEAD(http2_conns, http2_conn);

struct http2_server {
    struct loop_fd listener; /* first */
    struct loop *loop;
    struct http2_handler *handler;
    struct http2_server_options options;
    char address[LISTENER_ADDRESS_SIZE];
    struct places places;
    struct http2_conns all, marked;
    unsigned count;
    /* written by the loop's thread, read by any */
    _Atomic uint64_t open, accepted, received, sent;
    struct loop_timer accept_again, goaway;
    bool listening, draining;
    void (*ended)(void *ctx);
    void *ended_ctx;
    char chunk[HTTP2_READ_CHUNK];
};

#define HTTP2_OF(type, member, p) ((type *)((char *)(p)-offsetof(type, member)))

/* ---- one connection (http2_conn.c) ---- */

/* Takes over the descriptor; closes it at once if there is no place. */
void http2_conn_new(struct http2_server *s, int fd,
                    const struct sockaddr *from);
void http2_conn_free(struct http2_conn *c);
/* Marks the connection as having something to send; for http2_handler.wake. */
void http2_conn_mark(void *conn);
/* Lets all marked connections write. */
void http2_conns_flush(void *server);

/* ---- its deadlines (http2_deadline.c) ---- */

void http2_deadline_begin(struct http2_conn *c);
/* Call it after anything was received or sent: moves the timer if it must fire
 * earlier. */
void http2_deadline_check(struct http2_conn *c);

#endif
