/*
 * http_tls.h - the certificates of the HTTP port, and reloading them.
 *
 * One set of certificate, key and client CA is current; each connection keeps
 * the one it began with. It uses GnuTLS because libmicrohttpd does.
 *
 * Threads: http_tls_use and http_tls_leave on the server's, http_tls_reload on
 * any other.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_TLS_H
#define URLWEIR_SERVICE_HTTP_HTTP_TLS_H

#include <gnutls/gnutls.h>

#include "base/status.h"
#include "service/net/tls.h"

struct http_tls;
struct http_tls_set;

/* Errors are logged. STATUS_FORMAT: a bad certificate, key or CA, or they do
 * not match; others: a file cannot be read. */
MUST_CHECK enum status http_tls_new(struct http_tls **out,
                                    const struct tls_files *files);
/* Call it when no connection is left; NULL is fine. */
void http_tls_free(struct http_tls *t);

/* Reads the files again, for new connections. After an error the current set
 * stays. */
MUST_CHECK enum status http_tls_reload(struct http_tls *t);

/* Gives the session the current set, before its handshake; http_tls_leave
 * releases it at the end. NULL: GnuTLS refused, and the handshake will fail. */
struct http_tls_set *http_tls_use(struct http_tls *t, gnutls_session_t session);
void http_tls_leave(struct http_tls *t, struct http_tls_set *set);

#endif
