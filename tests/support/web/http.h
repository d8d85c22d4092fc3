/*
 * http.h - a small HTTP/1.1 server on many loopback addresses.
 *
 * One thread, epoll. Keep-alive and pipelined requests are served in order,
 * one at a time per connection. It carries out what a handler answers, faults
 * included (answer.h), and writes each arrival to a journal. A client that
 * closes its side while it is being answered has left: the answer is dropped.
 * Requests with a body are refused.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_HTTP_H
#define URLWEIR_TESTS_SUPPORT_WEB_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "tests/support/web/answer.h"
#include "tests/support/web/journal.h"

struct http_options {
    const uint32_t *addresses; /* IPv4 in host byte order; number = place */
    uint32_t count;
    uint16_t port;       /* 0: any that is free on all addresses */
    int64_t latency_ns;  /* added before each answer */
    int64_t max_time_ns; /* it ends by itself after this */
    bool stdin_guard;    /* it also ends when its standard input does */
    struct journal *journal;
    void *ctx;
    /* Called once it listens. */
    void (*ready)(void *ctx, uint16_t port);
    /* Called on SIGUSR1, once the journal has all that had arrived by then. */
    void (*logged)(void *ctx);
    void (*answer)(void *ctx, const struct request *rq, struct answer *an);
};

/* Serve until SIGTERM, SIGINT or the end of max_time. STATUS_BUSY: the port is
 * taken; STATUS_IO: cannot listen. Both are printed on stderr. */
MUST_CHECK enum status http_serve(const struct http_options *o);

#endif
