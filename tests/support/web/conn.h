/*
 * conn.h - one client connection of the server, from accept to close.
 *
 * A state machine driven by the server's loop: conn_event when its socket can
 * be read, written or is gone, conn_timer at its time. Either may free it.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_CONN_H
#define URLWEIR_TESTS_SUPPORT_WEB_CONN_H

#include <stdint.h>

#include "base/heap.h"
#include "tests/support/web/http.h"

/* What an epoll event belongs to: the first field of each such thing. */
enum source { SOURCE_LISTENER, SOURCE_CONN, SOURCE_SIGNAL, SOURCE_STDIN };

struct conn;

/* What all connections share. */
struct hub {
    const struct http_options *o;
    int epoll;
    struct heap timers; /* struct conn, by their first field after source */
    struct answer scratch;
    struct conn *all; /* list of those open */
    uint64_t opened;
};

/* Takes over `fd`, which came in on address number `host`. */
void conn_open(struct hub *h, int fd, uint32_t host);
/* `events` are epoll's. */
void conn_event(struct hub *h, struct conn *c, uint32_t events);
/* The connection whose timer this is; it has been taken out of the heap. */
void conn_timer(struct hub *h, struct heap_item *timer);
/* Close them all; unfinished answers are written to the journal as cut. */
void conn_close_all(struct hub *h);

#endif
