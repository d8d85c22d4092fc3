/*
 * tls.h - the server's side of TLS for HTTP/2 (RFC 9113 section 9.2).
 *
 * TLS 1.2 and 1.3, "h2" by ALPN and nothing else, forward secrecy with
 * authenticated ciphers only, no renegotiation. With a client CA each peer must
 * show a certificate of it. Files are read anew by tls_reload; connections that
 * stand keep what they began with.
 *
 * The loop's thread alone.
 */
#ifndef URLWEIR_SERVICE_NET_TLS_H
#define URLWEIR_SERVICE_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"
#include "service/net/tls_files.h"

struct tls;
struct tls_conn;

/* What is wrong is logged. STATUS_FORMAT, STATUS_IO. */
MUST_CHECK enum status tls_new(struct tls **out, const struct tls_files *files);
void tls_free(struct tls *t); /* NULL is fine */
/* On failure, logged, all stays as it was. */
MUST_CHECK enum status tls_reload(struct tls *t);

/* The descriptor stays the caller's, and does not block. */
MUST_CHECK enum status tls_accept(struct tls_conn **out, struct tls *t, int fd);
void tls_conn_free(struct tls_conn *c); /* NULL is fine */

/* Up to `len` octets, at least one. STATUS_AGAIN: `*wants_write` says what the
 * socket must become first, readable or writable. STATUS_CLOSED. */
MUST_CHECK enum status tls_read(struct tls_conn *c, void *to, size_t len,
                                size_t *n, bool *wants_write);
MUST_CHECK enum status tls_write(struct tls_conn *c, struct bytes b, size_t *n,
                                 bool *wants_write);
/* The close_notify alert, as far as it goes. */
void tls_shutdown(struct tls_conn *c);

#endif
