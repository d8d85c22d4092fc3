/*
 * tls_sessions.h - TLS sessions of a crawl, resumed by later connections.
 *
 * A resumed handshake (RFC 8446, 2.2; RFC 5077) sends and checks no
 * certificates. libcurl keeps few sessions (5 in an easy handle, or 8 in a
 * share handle, up to 8.11; 25 since), and before 8.12 they go with the handle.
 * So this cache stands in for libcurl's: it has the latest session of each
 * origin, up to a number of octets, and forgets those that were used longest
 * ago. All fetchers of a crawl share it.
 *
 * A session is as good as the handshake it stems from: OpenSSL does not check
 * the chain of certificates again, and libcurl checks the host name only. So a
 * cache belongs to one crawl, whose settings for TLS do not change, and a
 * session is used only for the origin that it was made with, with the same
 * client certificate or none. There is no cache behind a proxy, whose own
 * handshake could not be told from that of the origin.
 *
 * Threads: any.
 */
#ifndef URLWEIR_CRAWLER_TRANSFER_TLS_SESSIONS_H
#define URLWEIR_CRAWLER_TRANSFER_TLS_SESSIONS_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "crawler/transfer/limits.h"

#define TLS_SESSION_MOST ((size_t)16 << 10) /* octets of one session */

struct tls_sessions;

/* `bytes`: room for sessions with their keys. */
struct tls_sessions *tls_sessions_new(uint64_t bytes);
void tls_sessions_free(struct tls_sessions *s); /* NULL is fine */

/* Keeps a session in place of the key's older one. One that is longer than
 * TLS_SESSION_MOST, or than the room, is dropped. */
void tls_sessions_put(struct tls_sessions *s, struct bytes key,
                      struct bytes session);
/* Moves the key's session into `out`: it should be used once (RFC 8446, C.4).
 * False: there is none. */
bool tls_sessions_take(struct tls_sessions *s, struct bytes key,
                       struct buf *out);

/* ---- makes libcurl's connections resume TLS sessions ---- */

/*
 * Works through CURLOPT_SSL_CTX_FUNCTION, with libcurl over the OpenSSL that
 * this program is linked with; with another TLS library nothing is resumed.
 */

/* What the connections of one easy handle need; the owner keeps it as long as
 * its handle. */
struct tls_resume {
    struct tls_sessions *sessions;    /* NULL: none is kept; outlives all */
    struct connection_counts *counts; /* of handshakes; outlives all */
    const char *client;               /* the client certificate, or NULL */
};

/* Call it once for each easy handle. `r->client` may change before each
 * transfer. */
void tls_resume_adopt(CURL *easy, struct tls_resume *r);

#endif
