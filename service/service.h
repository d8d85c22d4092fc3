/*
 * service.h - the frontier as a service, put together: the store, its gRPC
 * port, tokens, TLS, the signals that stop and reload it.
 *
 * service_open listens and opens the store; service_run serves until it is
 * told to stop. In between others may be put beside it, as the HTTP side is:
 * they share its frontier and its tokens.
 *
 * Stopping: no new connections, GOAWAY, calls that run are finished (streams of
 * puts acknowledge what they took, then end with UNAVAILABLE), at most for
 * `drain_ms`; then the store is checkpointed. Told twice, it does not wait.
 */
#ifndef URLWEIR_SERVICE_SERVICE_H
#define URLWEIR_SERVICE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "service/calls/frontier_service.h"
#include "service/calls/router.h"
#include "service/net/auth.h"
#include "service/net/tls_files.h"

struct grpc_server;
struct service;

struct service_options {
    const char *dir;        /* there, and locked by the caller */
    const char *listen;     /* "127.0.0.1:7071" */
    const char *token_file; /* NULL: none */
    struct tls_files tls;   /* .cert NULL: none */
    unsigned connections;   /* at once */
    int64_t drain_ms;
    uint64_t memory;       /* bytes the frontier may hold; 0: its default */
    double fpr;            /* of its filter; 0: its default */
    int64_t checkpoint_ms; /* 0: its default */
};

/* What is wrong is logged. Signals are blocked by the caller.
 * STATUS_ARG: no address to listen on; STATUS_BUSY: it is taken; STATUS_FORMAT:
 * a token file, certificate or key; else as frontier_service_open. */
MUST_CHECK enum status service_open(struct service **out,
                                    const struct service_options *o);
/* Until SIGTERM or SIGINT; SIGHUP reads tokens and certificates anew.
 * `hangup` false: SIGHUP is left alone, as nohup(1) asks. */
MUST_CHECK enum status service_run(struct service *s, bool hangup);
/* Any thread, between the two: has service_run stop, as SIGTERM does. Called
 * once. */
void service_end(struct service *s);
/* The status of the last checkpoint. NULL is fine. */
enum status service_close(struct service *s);

/* "127.0.0.1:7071", the port as it was found. */
const char *service_address(const struct service *s);
struct frontier_service *service_frontier(struct service *s);
/* Where calls go; crawls of our own are made known to it (router_set_crawls)
 * before service_run, and taken from it (router_end_crawls) and closed between
 * that and service_close. */
struct router *service_router(struct service *s);
/* Its gRPC port, for a sample of it. */
const struct grpc_server *service_grpc(const struct service *s);
/* NULL: there are none, everybody may do everything. */
struct auth *service_auth(const struct service *s);
/* Before service_run: called when a stop begins, on its thread, and again by
 * each further signal, which is to say: do not wait. service_run then returns
 * when calls over gRPC have ended and `over` says that the rest has, at the
 * latest after drain_ms, or by the second signal. */
void service_on_stop(struct service *s, void (*call)(void *ctx),
                     bool (*over)(void *ctx), void *ctx);
/* Before service_run: called on SIGHUP, on its thread. What it keeps as it was
 * it has logged. */
void service_on_reload(struct service *s, enum status (*call)(void *ctx),
                       void *ctx);

#endif
