/*
 * http_server.h - the service over HTTP/1.1, for people, scripts and monitors.
 *
 * Runs libmicrohttpd on one thread. A request is checked, then submitted to the
 * frontier and suspended until the answer is there; so a request that waits for
 * the disk does not hold up others. The paths and bodies are those of
 * docs/formats/http-api.md, errors are problem details (RFC 9457).
 *
 * Tokens and their roles are those of gRPC. On loopback addresses the Host
 * header must name one, so that a web page in a local browser cannot reach it
 * under its own host name (DNS rebinding). Requests that change something need
 * a JSON content type or DELETE, which browsers do not send across origins
 * without a preflight.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_SERVER_H
#define URLWEIR_SERVICE_HTTP_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "job/registry/crawls.h"
#include "service/calls/call.h"
#include "service/net/auth.h"
#include "service/net/tls.h"

struct cluster_board;
struct filter_shelf;
struct grpc_server;
struct http_server;
struct router;

struct http_options {
    const char *listen;   /* "127.0.0.1:7072" */
    bool loopback;        /* it names only loopback addresses */
    struct auth *auth;    /* NULL: no tokens */
    struct tls_files tls; /* .cert NULL: none */
    unsigned connections; /* most at once; 0: 1000 */
    int64_t head_ns;      /* for a head; 0: 60 s */
    int64_t idle_ns;      /* from an answer to the next request; 0: 60 s */
    int64_t drain_ms;
    /* Both outlive the server; one may be NULL, and paths that need it are
     * 404. */
    struct frontier_service *frontier;
    struct crawls *crawls;
    struct filter_shelf *shelf; /* outlives it too; NULL: none */
    /* Of a crawl on many machines, of which this process is a worker; the same.
     */
    struct cluster_board *cluster;
    struct router *router; /* to both, shared with gRPC; NULL: make one */
    /* Also shown by /metrics; either may be NULL. */
    const struct grpc_server *grpc;
    const char *dir; /* whose disk is shown */
    /* A Unix socket instead of `listen` (listener.h), for this user alone;
     * the Host header must be a local one. Outlives the server. NULL: none. */
    const char *socket;
    /* The role of callers if there is no `auth`; AUTH_NONE: AUTH_ADMIN. */
    enum auth_role open_role;
};

/* Opens the server and serves at once. Errors are logged. STATUS_ARG: no such
 * address; STATUS_BUSY: it is in use; STATUS_FORMAT: bad certificate or key;
 * STATUS_IO. */
MUST_CHECK enum status http_server_open(struct http_server **out,
                                        const struct http_options *o);
/* Reads the TLS files again, for new connections; open ones go on. After an
 * error, which is logged, nothing changes. Any thread. For
 * service_on_reload. */
MUST_CHECK enum status http_server_reload(void *server);
/* Accepts no more connections and answers 503 to new requests on old ones. A
 * second call cuts off requests that have not ended. Any thread. For
 * service_on_stop. */
void http_server_stop(void *server);
/* After the stop: have all requests ended? Any thread. */
bool http_server_is_over(struct http_server *s);
/* Lets requests finish, until drain_ms after the stop, then ends. Call it
 * before the frontier is closed. NULL is fine. */
void http_server_close(struct http_server *s);

/* "127.0.0.1:7072", with the real port; or the path of the socket. */
const char *http_server_address(const struct http_server *s);

#endif
