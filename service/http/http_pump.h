/*
 * http_pump.h - wakes answers that are written as there is something to write.
 *
 * A part of an answer is asked for on the server's thread, which waits for
 * nothing: where there is nothing yet, the connection sleeps (the library
 * suspends it) until its descriptor is readable, or, for one without, until the
 * next beat. Beats come once a second while anybody waits for one.
 *
 * The library does not look at the socket of one that sleeps. One with a
 * descriptor may sleep for long, so it is woken, too, when its caller leaves.
 *
 * One thread of its own.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_PUMP_H
#define URLWEIR_SERVICE_HTTP_HTTP_PUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct MHD_Connection;
struct http_pump;

/* One connection; zeroed but for `conn`, `fd`, `socket` before its first sleep.
 */
struct http_sleeper {
    struct MHD_Connection *conn;
    int fd;     /* -1: woken by beats */
    int socket; /* the caller's; not looked at where `fd` is -1 */
    bool left;  /* out: the caller sends no more, so it has left */

    struct http_sleeper *next, *before; /* the pump's */
};

/* What else the pump's thread calls. */
struct http_pump_work {
    void (*beat)(void *ctx); /* before each beat wakes anybody */
    void *beat_ctx;
    /* Every time it is up, and when it said: a monotonic time, or INT64_MAX. */
    int64_t (*look)(void *ctx);
    void *look_ctx;
};
MUST_CHECK enum status http_pump_open(struct http_pump **out,
                                      const struct http_pump_work *w);
/* `look` has something sooner than it said. Any thread. */
void http_pump_nudge(void *pump);
/* After http_pump_cut, and when nobody sleeps. NULL is fine. */
void http_pump_close(struct http_pump *p);

/* How many beats there were. Any thread. */
uint64_t http_pump_beats(struct http_pump *p);

enum http_pump_slept {
    HTTP_ASLEEP,
    HTTP_AWAKE, /* there was another beat since `beats`: look again */
    HTTP_CUT    /* it is over, or cannot be: nobody sleeps any more */
};
/* On the server's thread, in a callback of the library's that then returns.
 * `beats`: as they were when there was nothing, for one without a descriptor.
 * Asleep, the connection cannot end, nor can what belongs to it. */
enum http_pump_slept http_pump_sleep(struct http_pump *p,
                                     struct http_sleeper *s, uint64_t beats);

/* A beat out of turn. Any thread, soon over. */
void http_pump_beat(struct http_pump *p);
/* Wakes all, for good: nobody sleeps when it returns. Any thread but the
 * pump's. */
void http_pump_cut(struct http_pump *p);

#endif
