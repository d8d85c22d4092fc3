/*
 * http_server_impl.h - the inside of the HTTP server, shared by its files.
 *
 *   http_server.c    the library's daemon, its beginning and end
 *   http_exchange.c  one request, from its first line to its answer
 *   http_head.c      is it a head that everybody reads alike
 *   http_guard.c     may this caller ask this
 *   http_answer.c    answers and problems, and sending them
 *   http_lost.c      leases whose answer did not get through
 *   http_conns.c     connections: their places, their deadlines
 *   http_tls.c       certificates, read anew
 *   http_text.c      paths, queries, times, names
 *   http_route.c     paths, and reading queries and members
 *   http_api.c       URLs and leases; http_queues.c queues
 *   http_crawls.c    those of crawls; http_crawl_json.c a crawl as JSON
 *   http_export.c    answers that a report writes
 *   http_events.c    the answer that goes on; http_pump.c wakes both
 *   http_dashboard.c the page at "/"
 *   http_openapi.c   all of this as a document
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_SERVER_IMPL_H
#define URLWEIR_SERVICE_HTTP_HTTP_SERVER_IMPL_H

#include <microhttpd.h>
#include <pthread.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "service/calls/router.h"
#include "service/http/http_conns.h"
#include "service/http/http_pump.h"
#include "service/http/http_request.h"
#include "service/http/http_server.h"
#include "service/http/http_tls.h"
#include "service/net/listener.h"
#include "service/net/socket_file.h"

#define HTTP_HEADERS_MOST ((size_t)32 << 10) /* with the request line */

struct http_server {
    struct http_options options;
    struct router *router, *own_router; /* own: made here; NULL: nobody */
    struct MHD_Daemon *daemon;
    struct http_pump *pump;
    struct http_events *events;
    struct http_conns *conns;
    struct http_tls *tls; /* NULL: plain */
    char *host;           /* of the address it listens on */
    char address[LISTENER_ADDRESS_SIZE];
    struct socket_file *socket; /* NULL: `fd` is not a Unix socket */
    int fd;

    pthread_mutex_t mtx; /* what follows */
    pthread_cond_t fewer;
    unsigned open;    /* requests */
    unsigned waiting; /* those that the frontier or the registry has, and leases
                         being given back */
    unsigned reports; /* threads of http_export.c */
    bool stopping;
    int64_t stop_by; /* monotonic */
    bool over;       /* nothing is handed to the frontier any more */

    size_t bodies;              /* octets held; the server's thread */
    struct http_counters tally; /* the same, read by any */
};

/* ---- the library's callbacks (http_exchange.c); ctx: struct http_server ----
 */

/* The request line is there: makes the request. */
void *http_exchange_begin(void *server, const char *uri,
                          struct MHD_Connection *conn);
/* Header fields, each piece of the body, its end, and after a wait. */
enum MHD_Result http_exchange_step(void *server, struct MHD_Connection *conn,
                                   const char *url, const char *method,
                                   const char *version, const char *data,
                                   size_t *len, void **request);
void http_exchange_end(void *server, struct MHD_Connection *conn,
                       void **request, enum MHD_RequestTerminationCode how);

/* The connection's own, for http_conns.h (http_server.c). */
struct http_conn *http_conn_of(struct MHD_Connection *conn);

/* 400 to a head that others may read in another way (http_head.c); `version`
 * as the library has it. */
void http_head_check(struct http_request *r, const char *version);

/* ---- who may (http_guard.c); a problem is answered where not ---- */

/* Host header, and certificate where one is needed. */
void http_guard_caller(struct http_request *r);
/* The token, against r->route. */
void http_guard_role(struct http_request *r);

/* ---- reports (http_server.c) ---- */

/* False: as many as may run do. */
bool http_server_report_begins(struct http_server *s);
void http_server_report_ended(struct http_server *s);

/* ---- both ---- */

/* The value of a header field; empty: there is none. */
struct bytes http_header(struct http_request *r, const char *name);
/* Sends what was answered (http_answer.c). */
enum MHD_Result http_send(struct http_request *r);

#endif
