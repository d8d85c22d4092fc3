/*
 * http_conns.h - the connections of the HTTP port: their places (places.h) and
 * the time they may take.
 *
 * The library closes a connection after a while without traffic, but any octet
 * restarts that time. So each connection also has a deadline of ours: for the
 * TLS handshake and the first request line, for the next one after an answer,
 * for the rest of a head, and for the whole request while its caller is not
 * known. A connection that misses its deadline, or has lost its place, is shut
 * down, and the library closes it as if the caller had left.
 *
 * Threads: http_conns_check on the pump's, the rest on the server's.
 */
#ifndef URLWEIR_SERVICE_HTTP_CONNS_H
#define URLWEIR_SERVICE_HTTP_CONNS_H

#include <stdint.h>

#include "service/http/http_tls.h"
#include "service/net/places.h"

struct http_conns;
struct http_conn;

struct http_conns_options {
    unsigned connections, address_most; /* as places_init */
    int64_t head_ns; /* for a head, and for the first request line */
    int64_t
        idle_ns; /* for the next request line, and for a stranger's request */
    void (*nudge)(void *ctx); /* asks for a call of http_conns_check */
    void *ctx;
};

struct http_conns *http_conns_new(const struct http_conns_options *o);
void http_conns_free(
    struct http_conns *s); /* when none is left; NULL is fine */

/* A connection has come: `fd` from `from`, which uses `tls` (may be NULL). It
 * may take the place of another, which is shut down. */
struct http_conn *http_conns_begin(struct http_conns *s, int fd,
                                   const struct sockaddr *from,
                                   struct http_tls_set *tls);
/* Call it before the descriptor is closed; returns the connection's `tls`. */
struct http_tls_set *http_conns_end(struct http_conns *s, struct http_conn *c);

/* Its request line has arrived; its head has; its answer was sent. NULL is
 * fine, here and below. */
void http_conns_asked(struct http_conns *s, struct http_conn *c);
void http_conns_read(struct http_conns *s, struct http_conn *c);
void http_conns_answered(struct http_conns *s, struct http_conn *c);
/* Its request has come whole; its answer begins, which may go on for as long as
 * the caller likes. */
void http_conns_use(struct http_conns *s, struct http_conn *c);
void http_conns_rest(struct http_conns *s, struct http_conn *c);
/* Its caller has a known token or, on a port without tokens, has made a request
 * that would need one. */
void http_conns_know(struct http_conns *s, struct http_conn *c);

/* Shuts down connections past their deadline. Returns when to call it next, in
 * monotonic time, or INT64_MAX. */
int64_t http_conns_check(void *conns);

/* Any thread. */
uint64_t http_conns_closed(const struct http_conns *s, enum place_end why);

#endif
