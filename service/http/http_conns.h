/*
 * http_conns.h - the connections of the HTTP port: their places (places.h) and
 * the time they may take.
 *
 * The library ends a connection on which nothing moves for a while, and any
 * octet starts that while anew. So each has a deadline of ours as well: for the
 * first request line with the handshake of TLS, for the next one after an
 * answer, for the rest of a head; and for all of a request while its caller is
 * not known. A connection that is out of time, or has lost its place, is shut
 * down, and the library closes it as it closes those whose callers leave.
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
    int64_t idle_ns; /* for the next request line, and for the request of a
                        stranger */
    void (*nudge)(void *ctx); /* http_conns_check is to be called anew */
    void *ctx;
};

struct http_conns *http_conns_new(const struct http_conns_options *o);
void http_conns_free(struct http_conns *s); /* none is left; NULL is fine */

/* One has come, `fd` from `from`, and goes by `tls`, which may be NULL. It may
 * have been shut down already, as there is no place for it. */
struct http_conn *http_conns_begin(struct http_conns *s, int fd,
                                   const struct sockaddr *from,
                                   struct http_tls_set *tls);
/* Before its descriptor is closed; returns what it went by. */
struct http_tls_set *http_conns_end(struct http_conns *s, struct http_conn *c);

/* Its request line is there; its head; its answer has been sent. NULL is fine,
 * here and below. */
void http_conns_asked(struct http_conns *s, struct http_conn *c);
void http_conns_read(struct http_conns *s, struct http_conn *c);
void http_conns_answered(struct http_conns *s, struct http_conn *c);
/* Its caller has a token that is known, or asked where none is needed for what
 * would need one. */
void http_conns_know(struct http_conns *s, struct http_conn *c);

/* Shuts down those that are out of time; when it should next be called, in
 * monotonic time, or INT64_MAX. */
int64_t http_conns_check(void *conns);

/* Any thread. */
uint64_t http_conns_closed(const struct http_conns *s, enum place_end why);

#endif
