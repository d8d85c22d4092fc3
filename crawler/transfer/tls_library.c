/* SPDX-License-Identifier: MIT */
/*
 * tls_library.c - OpenSSL's library contexts for threads with connections.
 *
 * For each handshake OpenSSL 3 looks up some hundred algorithms, each under
 * locks and counters of the library context, which all threads share unless
 * they are given others. Two fetchers on two cores so spent a tenth of a crawl
 * of hosts behind TLS on passing those to and fro.
 *
 * Contexts are never freed, since what was made in one (sessions, certificates,
 * the generator of random numbers of each thread) keeps a pointer to it. They
 * are few, since each takes two of the 1,024 keys that a process has for data
 * of its threads, and a service may have many crawls.
 *
 * A context of our own has the built-in provider alone. That is what the
 * default has, unless openssl.cnf says otherwise; to load that file into a
 * second context replaces settings that other threads read meanwhile.
 */
#include "crawler/transfer/tls_library.h"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t mtx;
    OSSL_LIB_CTX *own[TLS_CONTEXTS_MOST]; /* NULL: the default, or not made */
    unsigned count;                       /* 0: not known yet */
    unsigned next;
} contexts = {.mtx = PTHREAD_MUTEX_INITIALIZER};

bool tls_library_is_ours(void)
{
    const char *theirs = curl_version_info(CURLVERSION_NOW)->ssl_version;
    char ours[16];

    snprintf(ours, sizeof ours, "OpenSSL/%u.", OPENSSL_version_major());
    return theirs != NULL && strncmp(theirs, ours, strlen(ours)) == 0;
}

/* Callback of OSSL_PROVIDER_do_all; 1: go on. */
static int note_other(OSSL_PROVIDER *p, void *other)
{
    if (strcmp(OSSL_PROVIDER_get0_name(p), "default") != 0)
        *(bool *)other = true;
    return 1;
}

static bool is_default_as_built(void)
{
    bool other = false;

    return OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL) == 1 &&
           OSSL_PROVIDER_do_all(NULL, note_other, &other) == 1 && !other &&
           EVP_default_properties_is_fips_enabled(NULL) == 0;
}

static unsigned count_contexts(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    if (n < 2 || !tls_library_is_ours() || !is_default_as_built())
        return 1;
    return n < TLS_CONTEXTS_MOST ? (unsigned)n : TLS_CONTEXTS_MOST;
}

/* NULL: the default. */
static OSSL_LIB_CTX *next_context(void)
{
    unsigned i;

    if (contexts.count == 0)
        contexts.count = count_contexts();
    i = contexts.next++ % contexts.count;
    if (i > 0 && contexts.own[i] == NULL)
        contexts.own[i] = OSSL_LIB_CTX_new();
    return contexts.own[i];
}

void tls_library_enter(void)
{
    OSSL_LIB_CTX *own;

    pthread_mutex_lock(&contexts.mtx);
    own = next_context();
    pthread_mutex_unlock(&contexts.mtx);
    if (own != NULL)
        (void)OSSL_LIB_CTX_set0_default(own);
}
