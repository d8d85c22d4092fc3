/* SPDX-License-Identifier: MIT */
/*
 * tls.c - OpenSSL on a socket that does not block.
 *
 * Read-ahead stays off, so that after a read whatever else has come is still in
 * the socket, where the event loop sees it.
 */
#include "service/net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "base/process/sandbox.h"

/* RFC 9113 appendix A forbids the rest for TLS 1.2. */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

struct tls {
    SSL_CTX *ctx;
    struct tls_files files;
};

struct tls_conn {
    SSL *ssl;
};

static int choose_h2(SSL *ssl, const unsigned char **out,
                     unsigned char *out_len, const unsigned char *in,
                     unsigned in_len, void *ctx)
{
    (void)ssl;
    (void)ctx;
    for (unsigned i = 0; i < in_len; i += 1u + in[i])
        if (in[i] == 2 && i + 2 < in_len && memcmp(in + i + 1, "h2", 2) == 0) {
            *out = in + i + 1;
            *out_len = 2;
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* The first of several errors is the cause ("No such file or directory", "no
 * start line"); the last names the layer that passed it on. */
static enum status tls_complain(const char *what, const char *path)
{
    unsigned long first = ERR_peek_error();
    const char *why = ERR_SYSTEM_ERROR(first) ? strerror(ERR_GET_REASON(first))
                                              : ERR_reason_error_string(first);

    log_error(what, "path=\"%s\" why=\"%s\"", path,
              why != NULL ? why : "unknown");
    ERR_clear_error();
    return STATUS_FORMAT;
}

static enum status trust(SSL_CTX *ctx, const char *client_ca)
{
    STACK_OF(X509_NAME) * names;

    if (SSL_CTX_load_verify_locations(ctx, client_ca, NULL) != 1 ||
        (names = SSL_load_client_CA_file(client_ca)) == NULL)
        return tls_complain("cannot use the client CA", client_ca);
    SSL_CTX_set_client_CA_list(ctx, names);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       NULL);
    return STATUS_OK;
}

static enum status tls_fill(SSL_CTX *ctx, const struct tls_files *f)
{
    static const unsigned char id[] = "urlweir";

    secret_held();
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(ctx, choose_h2, NULL);
    SSL_CTX_set_session_id_context(ctx, id, sizeof id - 1);
    if (SSL_CTX_set_cipher_list(ctx, CIPHERS) != 1)
        return tls_complain("cannot set up TLS", "");
    if (SSL_CTX_use_certificate_chain_file(ctx, f->cert) != 1)
        return tls_complain("cannot use the TLS certificate", f->cert);
    if (SSL_CTX_use_PrivateKey_file(ctx, f->key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(ctx) != 1)
        return tls_complain("cannot use the TLS key", f->key);
    return f->client_ca != NULL ? trust(ctx, f->client_ca) : STATUS_OK;
}

enum status tls_reload(struct tls *t)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    enum status st;

    if (ctx == NULL)
        return STATUS_NOMEM;
    st = tls_fill(ctx, &t->files);
    if (st != STATUS_OK) {
        SSL_CTX_free(ctx);
        return st;
    }
    SSL_CTX_free(t->ctx); /* connections hold their own reference */
    t->ctx = ctx;
    return STATUS_OK;
}

enum status tls_new(struct tls **out, const struct tls_files *files)
{
    struct tls *t = xcalloc(1, sizeof *t);
    enum status st;

    t->files = tls_files_copy(files);
    st = tls_reload(t);
    if (st != STATUS_OK) {
        tls_free(t);
        return st;
    }
    *out = t;
    return STATUS_OK;
}

void tls_free(struct tls *t)
{
    if (t == NULL)
        return;
    SSL_CTX_free(t->ctx);
    tls_files_fini(&t->files);
    free(t);
}

enum status tls_accept(struct tls_conn **out, struct tls *t, int fd)
{
    SSL *ssl = SSL_new(t->ctx);

    if (ssl == NULL || SSL_set_fd(ssl, fd) != 1) {
        SSL_free(ssl);
        ERR_clear_error();
        return STATUS_NOMEM;
    }
    SSL_set_accept_state(ssl);
    *out = xmalloc(sizeof **out);
    (*out)->ssl = ssl;
    return STATUS_OK;
}

void tls_conn_free(struct tls_conn *c)
{
    if (c == NULL)
        return;
    SSL_free(c->ssl);
    free(c);
}

static enum status result(struct tls_conn *c, int rc, bool *wants_write)
{
    int error = SSL_get_error(c->ssl, rc);

    ERR_clear_error();
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
        return STATUS_CLOSED;
    *wants_write = error == SSL_ERROR_WANT_WRITE;
    return STATUS_AGAIN;
}

enum status tls_read(struct tls_conn *c, void *to, size_t len, size_t *n,
                     bool *wants_write)
{
    int rc = SSL_read_ex(c->ssl, to, len, n);

    return rc == 1 ? STATUS_OK : result(c, rc, wants_write);
}

enum status tls_write(struct tls_conn *c, struct bytes b, size_t *n,
                      bool *wants_write)
{
    int rc = SSL_write_ex(c->ssl, b.at, b.len, n);

    return rc == 1 ? STATUS_OK : result(c, rc, wants_write);
}

void tls_shutdown(struct tls_conn *c)
{
    SSL_shutdown(c->ssl);
    ERR_clear_error();
}

/* ---- copies of paths, for as long as a port may be told to reload ---- */

static const char *tls_copy(const char *path)
{
    return path != NULL ? xstrdup(path) : NULL;
}

struct tls_files tls_files_copy(const struct tls_files *f)
{
    return (struct tls_files){tls_copy(f->cert), tls_copy(f->key),
                              tls_copy(f->client_ca)};
}

void tls_files_fini(struct tls_files *f)
{
    free((void *)(uintptr_t)f->cert);
    free((void *)(uintptr_t)f->key);
    free((void *)(uintptr_t)f->client_ca);
    *f = (struct tls_files){0};
}
