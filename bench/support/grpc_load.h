/*
 * grpc_load.h - a cheap gRPC client, to put load on a server.
 *
 * One connection, any number of streams, one thread; only nghttp2. Answers are
 * passed on message by message. Any failure ends the program, since figures of
 * half a run are worthless.
 */
#ifndef URLWEIR_BENCH_GRPC_LOAD_H
#define URLWEIR_BENCH_GRPC_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

struct load;

struct load_stream {
    /* Append the next request's message; false: there is none now (with `done`
     * set: none any more, the stream is half-closed). */
    bool (*next)(struct load_stream *s, struct buf *message);
    void (*answer)(struct load_stream *s, struct bytes message);
    void *user;
    bool done;

    /* used by the client */
    int32_t id;
    struct buf out, in, message;
    size_t out_at;
    bool waiting, closed;
    int status; /* grpc-status, -1: none came */
};

struct load *load_connect(unsigned port);
void load_free(struct load *l);

/* Set next, answer, user and done, and zero the rest. The struct must live
 * until it has closed. */
void load_start(struct load *l, struct load_stream *s, const char *method);
/* `next` has something again. */
void load_resume(struct load *l, struct load_stream *s);
/* Runs until `over` returns true. */
void load_run(struct load *l, bool (*over)(void *ctx), void *ctx);
/* Sends as much as the socket takes at once, and reads nothing, like a client
 * that never reads. */
void load_send(struct load *l);
/* Runs until the stream has closed, with status OK. */
void load_finish(struct load *l, struct load_stream *s);

#endif
