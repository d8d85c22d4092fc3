/*
 * grpc_load.h - a gRPC client that costs little, for loading a server.
 *
 * One connection, any number of streams, one thread; nghttp2 and nothing else.
 * Answers are given out message by message. What does not work ends the
 * program: a figure from half a run is none.
 */
#ifndef URLWEIR_BENCH_GRPC_LOAD_H
#define URLWEIR_BENCH_GRPC_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

struct load;

struct load_stream {
    /* Append the next request's message; false: there is none now (`done`
     * set: nor ever, the stream is half-closed). */
    bool (*next)(struct load_stream *s, struct buf *message);
    void (*answer)(struct load_stream *s, struct bytes message);
    void *user;
    bool done;

    /* the client's */
    int32_t id;
    struct buf out, in, message;
    size_t out_at;
    bool waiting, closed;
    int status; /* grpc-status, -1: none came */
};

struct load *load_connect(unsigned port);
void load_free(struct load *l);

/* Zero but for next, answer, user and done. It lives until it has closed. */
void load_start(struct load *l, struct load_stream *s, const char *method);
/* `next` has something again. */
void load_resume(struct load *l, struct load_stream *s);
/* Until `over` says so. */
void load_run(struct load *l, bool (*over)(void *ctx), void *ctx);
/* Send what there is, as far as the socket takes it at once, and read nothing:
 * the client that a server has to bear. */
void load_send(struct load *l);
/* Until the stream has closed, with status OK. */
void load_finish(struct load *l, struct load_stream *s);

#endif
