/*
 * http_server_impl.h - the inside of the HTTP server, shared by its files.
 *
 *   http_server.c    starts, stops and ends the library's daemon
 *   http_exchange.c  one request, from its first line to its answer
 *   http_head.c      refuses heads that servers read differently
 *   http_guard.c     access checks
 *   http_answer.c    makes answers and problems and sends them
 *   http_conns.c     connections: their places, their deadlines
 *   http_tls.c       certificates, and reloading them
 *   http_text.c      paths, queries, times, names
 *   http_route.c     paths, and reading queries and members
 *   http_api.c       URLs and leases; http_queues.c queues
 *   http_crawls.c    crawls; http_crawl_json.c a crawl as JSON
 *   http_filters.c   filters by name
 *   http_upload.c    bodies that become files
 *   http_export.c    answers from a report
 *   http_events.c    the event stream; http_pump.c wakes both
 *   http_dashboard.c the page at "/"
 *   http_openapi.c   the description of all paths
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
    unsigned reports; /* threads of http_export.c */
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

/* Answers 400 to a head that other servers may read differently (http_head.c);
 * `version` is the library's pointer. */
void http_head_check(struct http_request *r, const char *version);

/* ---- access (http_guard.c); refusals are answered with a problem ---- */

/* Checks the Host header, and the client certificate if one is needed. */
void http_guard_caller(struct http_request *r);
/* Refuses what a page of another site asks for, unless anybody may. */
void http_guard_site(struct http_request *r);
/* Checks the token's role against r->route. */
void http_guard_role(struct http_request *r);

/* ---- reports (http_server.c) ---- */

/* False: HTTP_REPORTS_MOST are running. */
bool http_server_report_begins(struct http_server *s);
void http_server_report_ended(struct http_server *s);

/* ---- both ---- */

/* The value of a header field; empty: there is none. */
struct bytes http_header(struct http_request *r, const char *name);
/* Sends the answer (http_answer.c). */
enum MHD_Result http_send(struct http_request *r);

#endif
