/*
 * tls.h - the server's side of TLS for HTTP/2 (RFC 9113 section 9.2).
 *
 * TLS 1.2 and 1.3, "h2" by ALPN and nothing else, forward secrecy with
 * authenticated ciphers only, no renegotiation. With a client CA each peer must
 * show a certificate from it. tls_reload reads the files again; open
 * connections keep what they began with.
 *
 * Threads: the loop's only.
 */
#ifndef URLWEIR_SERVICE_NET_TLS_H
#define URLWEIR_SERVICE_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"

/* ---- the PEM files of a port with TLS, gRPC's and HTTP's alike ---- */

struct tls_files {
    const char *cert, *key; /* the certificate with its chain; its key */
    const char
        *client_ca; /* CAs of client certificates; NULL: clients need none */
};

/* A copy with paths of its own, for tls_files_fini. */
struct tls_files tls_files_copy(const struct tls_files *f);
void tls_files_fini(struct tls_files *f);

/* ---- the server ---- */

struct tls;
struct tls_conn;

/* Errors are logged. STATUS_FORMAT, STATUS_IO. */
MUST_CHECK enum status tls_new(struct tls **out, const struct tls_files *files);
void tls_free(struct tls *t); /* NULL is fine */
/* On failure, which is logged, nothing changes. */
MUST_CHECK enum status tls_reload(struct tls *t);

/* The caller still owns the descriptor, which must be non-blocking. */
MUST_CHECK enum status tls_accept(struct tls_conn **out, struct tls *t, int fd);
void tls_conn_free(struct tls_conn *c); /* NULL is fine */

/* Reads up to `len` octets, at least one. STATUS_AGAIN: the socket must first
 * become writable if `*wants_write`, else readable. STATUS_CLOSED. */
MUST_CHECK enum status tls_read(struct tls_conn *c, void *to, size_t len,
                                size_t *n, bool *wants_write);
MUST_CHECK enum status tls_write(struct tls_conn *c, struct bytes b, size_t *n,
                                 bool *wants_write);
/* Sends the close_notify alert, if the socket takes it now. */
void tls_shutdown(struct tls_conn *c);

#endif
