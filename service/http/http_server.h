/*
 * http_server.h - the service over HTTP/1.1, for people, scripts and monitors.
 *
 * libmicrohttpd on one thread of its own. A request is checked, then asks the
 * frontier and is suspended until the answer is there; so one that waits for
 * the disk holds up no other. The paths and bodies are those of
 * docs/formats/http-api.md, errors are problem details (RFC 9457).
 *
 * Tokens and their roles are those of gRPC. On loopback addresses the Host
 * header must name one, so that no page in somebody's browser gets here under a
 * name of its own (DNS rebinding); what changes something needs a JSON body
 * type or DELETE, which browsers do not send across origins unasked.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_SERVER_H
#define URLWEIR_SERVICE_HTTP_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "job/crawls.h"
#include "service/calls/call.h"
#include "service/net/auth.h"
#include "service/net/tls_files.h"

struct grpc_server;
struct http_server;
struct router;

struct http_options {
    const char *listen;   /* "127.0.0.1:7072" */
    bool loopback;        /* it names loopback addresses alone */
    struct auth *auth;    /* NULL: no tokens */
    struct tls_files tls; /* .cert NULL: none */
    unsigned connections; /* at once; 0: 1000 */
    int64_t head_ns;      /* for a head; 0: 20 s */
    int64_t idle_ns;      /* from an answer to the next request; 0: 60 s */
    int64_t drain_ms;
    /* Both outlive the server; one may be NULL, and what needs it is 404. */
    struct frontier_service *frontier;
    struct crawls *crawls;
    struct router *router; /* of both, shared with gRPC; NULL: one is made */
    /* What /metrics tells of as well; either may be NULL. */
    const struct grpc_server *grpc;
    const char *dir; /* whose disk */
    /* A Unix socket instead of `listen` (socket_file.h), for this user alone;
     * the Host header must be a local one. Outlives the server. NULL: none. */
    const char *socket;
    /* The role of callers where there is no `auth`; AUTH_NONE: AUTH_ADMIN. */
    enum auth_role open_role;
};

/* Serves at once. What is wrong is logged. STATUS_ARG: no such address;
 * STATUS_BUSY: it is taken; STATUS_FORMAT: certificate or key; STATUS_IO. */
MUST_CHECK enum status http_server_open(struct http_server **out,
                                        const struct http_options *o);
/* Reads the files of TLS again, for connections to come; those that are there
 * go on. After an error, which is logged, all stays as it was. Any thread. For
 * service_on_reload. */
MUST_CHECK enum status http_server_reload(void *server);
/* Takes no more connections and answers 503 to what comes on old ones. Again:
 * requests that have not ended are cut off. Any thread. For service_on_stop. */
void http_server_stop(void *server);
/* After the stop: there is no request any more. Any thread. */
bool http_server_is_over(struct http_server *s);
/* Lets requests finish, until drain_ms after the stop, then ends. Before the
 * frontier is closed. NULL is fine. */
void http_server_close(struct http_server *s);

/* "127.0.0.1:7072", the port as it was found; or the path of the socket. */
const char *http_server_address(const struct http_server *s);

#endif
