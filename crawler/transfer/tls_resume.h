/*
 * tls_resume.h - makes libcurl's connections resume TLS sessions.
 *
 * Works through CURLOPT_SSL_CTX_FUNCTION, with libcurl over the OpenSSL that
 * this program is linked with; with another TLS library nothing is resumed.
 */
#ifndef URLWEIR_CRAWLER_TRANSFER_TLS_RESUME_H
#define URLWEIR_CRAWLER_TRANSFER_TLS_RESUME_H

#include <curl/curl.h>

#include "crawler/transfer/connection_budget.h"
#include "crawler/transfer/tls_sessions.h"

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
