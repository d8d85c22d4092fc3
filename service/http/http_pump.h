/*
 * http_pump.h - wakes answers that are written over time.
 *
 * The server's thread asks for the next part of an answer and must not wait: if
 * there is none yet, the connection sleeps (the library suspends it) until its
 * descriptor is readable or, without a descriptor, until the next beat. There
 * is a beat every second while a connection waits for one.
 *
 * The library does not watch the socket of a sleeping connection. One with a
 * descriptor may sleep for long, so it is also woken when its caller leaves.
 *
 * Threads: it has its own.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_PUMP_H
#define URLWEIR_SERVICE_HTTP_HTTP_PUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/status.h"

struct MHD_Connection;
struct http_pump;

/* One connection; before its first sleep set `conn`, `fd` and `socket`, and
 * zero the rest.
 */
struct http_sleeper {
    struct MHD_Connection *conn;
    int fd;     /* -1: woken by beats */
    int socket; /* the caller's; not watched if `fd` is -1 */
    bool left;  /* result: the caller has closed its side, so it has left */

    LIST_ENTRY(http_sleeper) others; /* used by the pump */
};

/* Other work of the pump's thread. */
struct http_pump_work {
    void (*beat)(void *ctx); /* at each beat, before it wakes connections */
    void *beat_ctx;
    /* Called at each turn, and at the time it returned: monotonic, or
     * INT64_MAX. */
    int64_t (*look)(void *ctx);
    void *look_ctx;
};
MUST_CHECK enum status http_pump_open(struct http_pump **out,
                                      const struct http_pump_work *w);
/* Calls `look` sooner than it asked. Any thread. */
void http_pump_nudge(void *pump);
/* Call it after http_pump_cut, when no connection sleeps. NULL is fine. */
void http_pump_close(struct http_pump *p);

/* The number of beats so far. Any thread. */
uint64_t http_pump_beats(struct http_pump *p);

enum http_pump_slept {
    HTTP_ASLEEP,
    HTTP_AWAKE, /* there was a beat since `beats`: check again */
    HTTP_CUT    /* it failed, or the pump was cut: do not sleep */
};
/* Call it on the server's thread, in a callback of the library that then
 * returns. `beats`: for a sleeper without a descriptor, the number of beats
 * when there was nothing to send. While asleep, the connection cannot end, nor
 * can what belongs to it. */
enum http_pump_slept http_pump_sleep(struct http_pump *p,
                                     struct http_sleeper *s, uint64_t beats);

/* Makes an extra beat. Any thread; returns at once. */
void http_pump_beat(struct http_pump *p);
/* Wakes all connections for good: none sleeps when it returns. Any thread
 * except the pump's. */
void http_pump_cut(struct http_pump *p);

#endif
