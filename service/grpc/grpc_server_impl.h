/* grpc_server_impl.h - the inside of the server of gRPC, for grpc_server.c and
 * its fuzzer. */
#ifndef URLWEIR_SERVICE_GRPC_GRPC_SERVER_IMPL_H
#define URLWEIR_SERVICE_GRPC_GRPC_SERVER_IMPL_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "base/map.h"
#include "service/grpc/grpc_frame.h"
#include "service/grpc/grpc_server.h"

struct grpc_server {
    struct loop *loop;
    struct grpc_options options;
    struct http2_handler handler;
    struct http2_server *http2;
    struct map *methods; /* path to struct entry of grpc_server.c */
    size_t calls;        /* that need a role */
    size_t coming;
    TAILQ_HEAD(grpc_idle, grpc_call) idle; /* for longest first */
    bool draining;
    /* written by the loop's thread, read by any */
    struct {
        _Atomic uint64_t open, strangers, received, sent;
        _Atomic uint64_t ended[GRPC_CODES_];
    } tally;
};

struct grpc_call {
    struct grpc_server *server;
    const struct grpc_method *method;
    void *ctx;
    struct http2_stream *stream; /* NULL: ended */
    void *user;
    unsigned refs; /* one for the stream, one for each holder */
    struct grpc_reader reader;
    size_t received; /* octets not consumed */
    size_t reserved; /* of server->coming */
    struct bytes single;
    struct loop_timer timer;
    TAILQ_ENTRY(grpc_call) idle_entry;
    int64_t deadline; /* 0: none */
    bool has_single;  /* the request of a GRPC_SINGLE is here */
    bool no_more;     /* the caller has half-closed */
    bool half_closed; /* the method was told so */
    bool anonymous;   /* counted in its connection's standing */
    bool paused;
    bool idle;      /* in server->idle, counted in its connection's standing */
    bool responded; /* headers have been sent */
    bool finished;  /* or reset after its deadline */
};

static inline void grpc_count(_Atomic uint64_t *to, uint64_t by)
{
    atomic_fetch_add_explicit(to, by, memory_order_relaxed);
}

static inline struct http2_header grpc_header(const char *name,
                                              const char *value)
{
    return (struct http2_header){bytes_of_str(name), bytes_of_str(value)};
}

/* Makes a server without a port: its handler may be given to sessions, and then
 * needs a `wake`. Freed by grpc_server_free. */
struct grpc_server *grpc_server_without_port(struct loop *l,
                                             const struct grpc_options *o);

#endif
