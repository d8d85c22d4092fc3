/*
 * http_tls.h - the certificates of the HTTP port, and reading them anew.
 *
 * One set of certificate, key and CA of callers is in force; each connection
 * keeps the one it began with. GnuTLS, since libmicrohttpd stands on it.
 *
 * Threads: http_tls_use and http_tls_leave on the server's, http_tls_reload on
 * any other.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_TLS_H
#define URLWEIR_SERVICE_HTTP_HTTP_TLS_H

#include <gnutls/gnutls.h>

#include "base/status.h"
#include "service/net/tls_files.h"

struct http_tls;
struct http_tls_set;

/* What is wrong is logged. STATUS_FORMAT: certificate, key or CA, or they do
 * not belong together; else of reading a file. */
MUST_CHECK enum status http_tls_new(struct http_tls **out,
                                    const struct tls_files *files);
/* No connection is left; NULL is fine. */
void http_tls_free(struct http_tls *t);

/* Reads the files again, for connections to come. After an error the set stays
 * that was there. */
MUST_CHECK enum status http_tls_reload(struct http_tls *t);

/* The session, before its handshake, goes by the set in force; left when it has
 * ended. NULL: GnuTLS refused, and its handshake will fail. */
struct http_tls_set *http_tls_use(struct http_tls *t, gnutls_session_t session);
void http_tls_leave(struct http_tls *t, struct http_tls_set *set);

#endif
