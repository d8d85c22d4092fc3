/*
 * service.h - puts the frontier service together: the store, its gRPC port,
 * tokens, TLS, the signals that stop and reload it.
 *
 * service_open listens and opens the store; service_run serves until it is
 * told to stop. In between the caller may add servers that share its frontier
 * and its tokens, such as the HTTP one.
 *
 * To stop, it takes no new connections, sends GOAWAY and finishes the calls
 * that run, for at most `drain_ms` (streams of puts acknowledge what they took,
 * then end with UNAVAILABLE); then it checkpoints the store. A second signal
 * ends the wait.
 */
#ifndef URLWEIR_SERVICE_SERVICE_H
#define URLWEIR_SERVICE_SERVICE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "service/calls/frontier_service.h"
#include "service/calls/router.h"
#include "service/net/auth.h"
#include "service/net/tls.h"

struct grpc_server;
struct served_shards;
struct service;

struct service_options {
    const char *dir;              /* exists, and the caller has locked it */
    struct served_shards *shards; /* where the URLs are, instead; the service's
                                     from the open on, even a failed one; NULL:
                                     in `dir` */
    const char *listen;           /* "127.0.0.1:7071" */
    const char *token_file;       /* NULL: none */
    struct tls_files tls;         /* .cert NULL: none */
    unsigned connections;         /* at once */
    int64_t drain_ms;
    uint64_t memory;       /* bytes the frontier may hold; 0: its default */
    double fpr;            /* of its filter; 0: its default */
    int64_t checkpoint_ms; /* 0: its default */
};

/* Logs each failure. The caller has blocked the signals. STATUS_ARG: no address
 * to listen on; STATUS_BUSY: the address is in use; STATUS_FORMAT: a bad token
 * file, certificate or key; else as frontier_service_open. */
MUST_CHECK enum status service_open(struct service **out,
                                    const struct service_options *o);
/* Serves until one of `signals` comes; SIGHUP among them rereads tokens and
 * certificates instead. */
MUST_CHECK enum status service_run(struct service *s, const sigset_t *signals);
/* Makes service_run stop, as SIGTERM does. Any thread, between service_open and
 * service_close; call it once. */
void service_end(struct service *s);
/* Returns the status of the last checkpoint. NULL is fine. */
enum status service_close(struct service *s);

/* "127.0.0.1:7071", with the port that was bound. */
const char *service_address(const struct service *s);
struct frontier_service *service_frontier(struct service *s);
/* The router of its calls. Give it our own crawls (router_set_crawls) before
 * service_run; take them away (router_end_crawls) and close them between
 * service_run and service_close. */
struct router *service_router(struct service *s);
/* The gRPC server, for its stats. */
const struct grpc_server *service_grpc(const struct service *s);
/* NULL: there are no tokens, and everybody may do everything. */
struct auth *service_auth(const struct service *s);
/* Set it before service_run, which calls `call` on its thread when a stop
 * begins, and again for each further signal, which means: do not wait. It then
 * returns when gRPC calls have ended and `over` reports that the rest has, at
 * the latest after drain_ms or a second signal. */
void service_on_stop(struct service *s, void (*call)(void *ctx),
                     bool (*over)(void *ctx), void *ctx);
/* Set it before service_run, which calls it on its thread on SIGHUP. `call`
 * logs the settings that it could not change. */
void service_on_reload(struct service *s, enum status (*call)(void *ctx),
                       void *ctx);

#endif
