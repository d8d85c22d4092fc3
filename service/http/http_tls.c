/* SPDX-License-Identifier: MIT */
/*
 * http_tls.c - the certificates of the HTTP port, and reloading them.
 *
 * libmicrohttpd reads certificate and CA once, when it starts. Its callback
 * (MHD_OPTION_HTTPS_CERT_CALLBACK) does not know which daemon calls it and
 * cannot change the CA. So we set our own credentials on each session when its
 * connection begins, before the handshake. GnuTLS does not copy them
 * (gnutls_credentials_set), so each set counts its sessions.
 *
 * The library may use a session after it has reported its end. So a set without
 * sessions is not freed at once but by the next reload.
 */
#include "service/http/http_tls.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/process/sandbox.h"

#define PEM_MOST ((size_t)1 << 20)

struct http_tls_set {
    gnutls_certificate_credentials_t creds;
    size_t sessions;
    struct http_tls_set *older;
};

struct http_tls {
    struct tls_files files;
    pthread_mutex_t mtx;         /* guards what follows */
    struct http_tls_set *newest; /* for new sessions; older ones follow */
};

/* ---- one set ---- */

static enum status read_pem(const char *path, struct buf *to)
{
    enum status st = file_read(path, to);

    if (st != STATUS_OK)
        log_error("cannot read a PEM file", "path=\"%s\" why=\"%s\"", path,
                  status_text(st));
    return st;
}

static enum status complain(const char *what, const char *path, int rc)
{
    log_error(what, "path=\"%s\" why=\"%s\"", path, gnutls_strerror(rc));
    return STATUS_FORMAT;
}

static gnutls_datum_t datum_of(const struct buf *b)
{
    return (gnutls_datum_t){(unsigned char *)b->at, (unsigned)b->len};
}

static enum status use_pair(struct http_tls_set *set, const struct tls_files *f,
                            struct buf *cert, struct buf *key)
{
    gnutls_datum_t c, k;
    enum status st = read_pem(f->cert, cert);
    int rc;

    if (st == STATUS_OK)
        st = read_pem(f->key, key);
    if (st != STATUS_OK)
        return st;
    c = datum_of(cert);
    k = datum_of(key);
    rc = gnutls_certificate_set_x509_key_mem(set->creds, &c, &k,
                                             GNUTLS_X509_FMT_PEM);
    return rc < 0 ? complain("cannot use the TLS certificate with its key",
                             f->cert, rc)
                  : STATUS_OK;
}

static enum status use_ca(struct http_tls_set *set, const struct tls_files *f,
                          struct buf *ca)
{
    gnutls_datum_t c;
    enum status st;
    int rc;

    if (f->client_ca == NULL)
        return STATUS_OK;
    st = read_pem(f->client_ca, ca);
    if (st != STATUS_OK)
        return st;
    c = datum_of(ca);
    rc = gnutls_certificate_set_x509_trust_mem(set->creds, &c,
                                               GNUTLS_X509_FMT_PEM);
    return rc <= 0 ? complain("cannot use the client CA", f->client_ca, rc)
                   : STATUS_OK;
}

static void set_free(struct http_tls_set *set)
{
    if (set->creds != NULL)
        gnutls_certificate_free_credentials(set->creds);
    free(set);
}

static enum status read_set(struct http_tls_set **out,
                            const struct tls_files *f)
{
    struct http_tls_set *set = xcalloc(1, sizeof *set);
    struct buf cert, key, ca;
    enum status st = STATUS_OK;

    secret_held();
    buf_init(&cert, PEM_MOST);
    buf_init(&key, PEM_MOST);
    buf_init(&ca, PEM_MOST);
    if (gnutls_certificate_allocate_credentials(&set->creds) < 0)
        st = STATUS_NOMEM;
    if (st == STATUS_OK)
        st = use_pair(set, f, &cert, &key);
    if (st == STATUS_OK)
        st = use_ca(set, f, &ca);
    if (key.at != NULL)
        OPENSSL_cleanse(key.at, key.cap);
    buf_fini(&cert);
    buf_fini(&key);
    buf_fini(&ca);
    if (st == STATUS_OK)
        *out = set;
    else
        set_free(set);
    return st;
}

/* ---- all sets ---- */

/* Frees older sets that no session uses. */
static void drop_unused(struct http_tls *t)
{
    struct http_tls_set **at = &t->newest->older;

    while (*at != NULL) {
        struct http_tls_set *set = *at;

        if (set->sessions > 0) {
            at = &set->older;
            continue;
        }
        *at = set->older;
        set_free(set);
    }
}

enum status http_tls_reload(struct http_tls *t)
{
    struct http_tls_set *set = NULL;
    enum status st = read_set(&set, &t->files);

    if (st != STATUS_OK)
        return st;
    pthread_mutex_lock(&t->mtx);
    set->older = t->newest;
    t->newest = set;
    drop_unused(t);
    pthread_mutex_unlock(&t->mtx);
    return STATUS_OK;
}

enum status http_tls_new(struct http_tls **out, const struct tls_files *files)
{
    struct http_tls *t = xcalloc(1, sizeof *t);
    enum status st;

    pthread_mutex_init(&t->mtx, NULL);
    t->files = tls_files_copy(files);
    st = http_tls_reload(t);
    if (st != STATUS_OK) {
        http_tls_free(t);
        return st;
    }
    *out = t;
    return STATUS_OK;
}

void http_tls_free(struct http_tls *t)
{
    if (t == NULL)
        return;
    while (t->newest != NULL) {
        struct http_tls_set *set = t->newest;

        t->newest = set->older;
        set_free(set);
    }
    pthread_mutex_destroy(&t->mtx);
    tls_files_fini(&t->files);
    free(t);
}

/* ---- sessions ---- */

struct http_tls_set *http_tls_use(struct http_tls *t, gnutls_session_t session)
{
    struct http_tls_set *set;

    pthread_mutex_lock(&t->mtx);
    set = t->newest;
    set->sessions++;
    pthread_mutex_unlock(&t->mtx);
    if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, set->creds) <
        0) {
        http_tls_leave(t, set);
        return NULL;
    }
    if (t->files.client_ca != NULL)
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
    return set;
}

void http_tls_leave(struct http_tls *t, struct http_tls_set *set)
{
    if (set == NULL)
        return;
    pthread_mutex_lock(&t->mtx);
    set->sessions--;
    pthread_mutex_unlock(&t->mtx);
}
