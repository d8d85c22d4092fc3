/*
 * http_server_impl.h - the inside of the HTTP server, shared by its files.
 *
 *   http_server.c    starts, stops and ends the library's daemon; connections,
 *                    certificates
 *   http_exchange.c  one request, from its first line to its answer; reports
 *   http_request.c   its route, its answer, and the count of it
 *   http_text.c      paths, queries, times, names
 *   http_api.c       URLs, leases, queues, calls of other shards
 *   http_crawls.c    crawls
 *   http_filters.c   filters by name, and bodies that become files
 *   http_events.c    the event stream; what wakes slow answers
 *   http_pages.c     dashboard, OpenAPI, metrics, health
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_SERVER_IMPL_H
#define URLWEIR_SERVICE_HTTP_HTTP_SERVER_IMPL_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "service/calls/router.h"
#include "service/http/http_request.h"
#include "service/http/http_server.h"
#include "service/net/listener.h"

#define HTTP_HEADERS_MOST ((size_t)32 << 10) /* with the request line */

struct http_server {
    struct http_options options;
    struct router *router, *own_router; /* own: made here, or NULL */
    struct MHD_Daemon *daemon;
    struct http_pump *pump;
    struct http_events *events;
    struct http_conns *conns;
    struct http_tls *tls; /* NULL: plain */
    char *host;           /* host part of the listening address */
    char address[LISTENER_ADDRESS_SIZE];
    struct socket_file *socket; /* NULL: `fd` is not a Unix socket */
    int fd;

    pthread_mutex_t mtx; /* guards what follows */
    pthread_cond_t fewer;
    unsigned open;    /* requests */
    unsigned waiting; /* requests at the frontier or the registry, and leases
                         being given back */
    unsigned reports; /* threads of http_exchange.c */
    bool stopping;
    int64_t stop_by; /* monotonic */
    bool over;       /* no more calls to the frontier */

    size_t bodies;              /* octets held; the server's thread */
    struct http_counters tally; /* written there, read by any thread */
};

/* ---- the library's callbacks (http_exchange.c); ctx: struct http_server -- */

/* The request line has arrived: makes the request. */
void *http_exchange_begin(void *server, const char *uri,
                          struct MHD_Connection *conn);
/* Called after the header fields, for each piece of the body, at its end, and
 * after a wait. */
enum MHD_Result http_exchange_step(void *server, struct MHD_Connection *conn,
                                   const char *url, const char *method,
                                   const char *version, const char *data,
                                   size_t *len, void **request);
void http_exchange_end(void *server, struct MHD_Connection *conn,
                       void **request, enum MHD_RequestTerminationCode how);

/* Our struct for the connection (http_server.c). */
struct http_conn *http_conn_of(struct MHD_Connection *conn);

/* ---- reports (http_server.c) ---- */

/* False: HTTP_REPORTS_MOST are running. */
bool http_server_report_begins(struct http_server *s);
void http_server_report_ended(struct http_server *s);

/* ---- both ---- */

/* The value of a header field; empty: there is none. */
struct bytes http_header(struct http_request *r, const char *name);
/* Sends the answer (http_request.c). */
enum MHD_Result http_send(struct http_request *r);

/* ---- connections: their places (listener.h) and the time they may take ----
 *
 * The library closes a connection after a while without traffic, but any octet
 * restarts that time. So each connection also has a deadline of ours: for the
 * TLS handshake and the first request line, for the next one after an answer,
 * for the rest of a head, and for the whole request while its caller is not
 * known. A connection that misses its deadline, or has lost its place, is shut
 * down, and the library closes it as if the caller had left.
 *
 * Threads: http_conns_check on the pump's, the rest on the server's.
 */

struct http_conns;
struct http_conn;

struct http_conns_options {
    unsigned connections, address_most; /* as places_init */
    int64_t head_ns; /* for a head, and for the first request line */
    int64_t
        idle_ns; /* for the next request line, and for a stranger's request */
    void (*nudge)(void *ctx); /* asks for a call of http_conns_check */
    void *ctx;
};

/* Its request line has arrived; its head has; its answer was sent. NULL is
 * fine, here and below. */
void http_conns_asked(struct http_conns *s, struct http_conn *c);
void http_conns_read(struct http_conns *s, struct http_conn *c);
void http_conns_answered(struct http_conns *s, struct http_conn *c);
/* Its request has come whole; its answer begins, which may go on for as long as
 * the caller likes. */
void http_conns_use(struct http_conns *s, struct http_conn *c);
void http_conns_rest(struct http_conns *s, struct http_conn *c);
/* Its caller has a known token or, on a port without tokens, has made a request
 * that would need one. */
void http_conns_know(struct http_conns *s, struct http_conn *c);

/* ---- wakes answers that are written over time ----
 *
 * The server's thread asks for the next part of an answer and must not wait: if
 * there is none yet, the connection sleeps (the library suspends it) until its
 * descriptor is readable or, without a descriptor, until the next beat. There
 * is a beat every second while a connection waits for one.
 *
 * The library does not watch the socket of a sleeping connection. One with a
 * descriptor may sleep for long, so it is also woken when its caller leaves.
 *
 * Threads: it has its own.
 */

struct MHD_Connection;
struct http_pump;

/* One connection; before its first sleep set `conn`, `fd` and `socket`, and
 * zero the rest.
 */
struct http_sleeper {
    struct MHD_Connection *conn;
    int fd;     /* -1: woken by beats */
    int socket; /* the caller's; not watched if `fd` is -1 */
    bool left;  /* result: the caller has closed its side, so it has left */

    LIST_ENTRY(http_sleeper) others; /* used by the pump */
};

/* Other work of the pump's thread. */
struct http_pump_work {
    void (*beat)(void *ctx); /* at each beat, before it wakes connections */
    void *beat_ctx;
    /* Called at each turn, and at the time it returned: monotonic, or
     * INT64_MAX. */
    int64_t (*look)(void *ctx);
    void *look_ctx;
};
MUST_CHECK enum status http_pump_open(struct http_pump **out,
                                      const struct http_pump_work *w);
/* Calls `look` sooner than it asked. Any thread. */
void http_pump_nudge(void *pump);
/* Call it after http_pump_cut, when no connection sleeps. NULL is fine. */
void http_pump_close(struct http_pump *p);

enum http_pump_slept {
    HTTP_ASLEEP,
    HTTP_AWAKE, /* there was a beat since `beats`: check again */
    HTTP_CUT    /* it failed, or the pump was cut: do not sleep */
};
/* Call it on the server's thread, in a callback of the library that then
 * returns. `beats`: for a sleeper without a descriptor, the number of beats
 * when there was nothing to send. While asleep, the connection cannot end, nor
 * can what belongs to it. */
enum http_pump_slept http_pump_sleep(struct http_pump *p,
                                     struct http_sleeper *s, uint64_t beats);

/* Makes an extra beat. Any thread; returns at once. */
void http_pump_beat(struct http_pump *p);
/* Wakes all connections for good: none sleeps when it returns. Any thread
 * except the pump's. */
void http_pump_cut(struct http_pump *p);

#endif
