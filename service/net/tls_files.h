/*
 * tls_files.h - the PEM files of a port with TLS, gRPC's (tls.h) and HTTP's
 * (http_tls.h) alike: both read them at the start and again on request.
 */
#ifndef URLWEIR_SERVICE_NET_TLS_FILES_H
#define URLWEIR_SERVICE_NET_TLS_FILES_H

struct tls_files {
    const char *cert, *key; /* the certificate with its chain; its key */
    const char
        *client_ca; /* CAs of client certificates; NULL: clients need none */
};

/* A copy with paths of its own, for tls_files_fini. */
struct tls_files tls_files_copy(const struct tls_files *f);
void tls_files_fini(struct tls_files *f);

#endif
