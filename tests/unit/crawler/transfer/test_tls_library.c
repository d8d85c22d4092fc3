/* SPDX-License-Identifier: MIT */
/* OpenSSL's library contexts of threads. Each test has a process of its own. */
#include "crawler/transfer/tls_library.h"

#include <check.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entered {
    OSSL_LIB_CTX *context;
    bool makes_tls;
    long most; /* the highest protocol of an SSL_CTX made there */
};

static void *enter(void *out)
{
    struct entered *e = out;
    SSL_CTX *ssl;

    tls_library_enter();
    e->context = OSSL_LIB_CTX_set0_default(NULL); /* changes nothing */
    ssl = SSL_CTX_new(TLS_client_method());
    e->makes_tls = ssl != NULL;
    e->most = ssl != NULL ? SSL_CTX_get_max_proto_version(ssl) : -1;
    SSL_CTX_free(ssl);
    return NULL;
}

/* What the next thread gets. */
static struct entered next(void)
{
    struct entered e = {0};
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, enter, &e), 0);
    pthread_join(thread, NULL);
    ck_assert(e.makes_tls);
    return e;
}

static unsigned processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < TLS_CONTEXTS_MOST ? (unsigned)n : TLS_CONTEXTS_MOST;
}

/* Before OpenSSL reads its settings. */
static void configure(char path[32], const char *text)
{
    FILE *f;
    int fd;

    strcpy(path, "/tmp/urlweir.XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    f = fdopen(fd, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
    setenv("OPENSSL_CONF", path, 1);
}

START_TEST(as_many_contexts_as_processors_serve_all_threads_in_turn)
{
    OSSL_LIB_CTX *theirs = OSSL_LIB_CTX_set0_default(NULL);
    OSSL_LIB_CTX *contexts[TLS_CONTEXTS_MOST];
    unsigned n = processors();

    ck_assert(tls_library_is_ours());
    for (unsigned i = 0; i < n; i++) {
        contexts[i] = next().context;
        for (unsigned k = 0; k < i; k++)
            ck_assert_ptr_ne(contexts[i], contexts[k]);
    }
    ck_assert_ptr_eq(contexts[0], theirs);
    for (unsigned i = 0; i < 2 * n; i++)
        ck_assert_ptr_eq(next().context, contexts[i % n]);
    ck_assert_ptr_eq(OSSL_LIB_CTX_set0_default(NULL), theirs);
}
END_TEST

START_TEST(limits_of_openssl_cnf_apply_in_each_context)
{
    char path[32];

    configure(path, "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\n"
                    "system_default = here\n[here]\nMaxProtocol = TLSv1.2\n");
    for (unsigned i = 0; i < processors(); i++)
        ck_assert_int_eq(next().most, TLS1_2_VERSION);
    unlink(path);
}
END_TEST

START_TEST(providers_of_openssl_cnf_serve_every_thread)
{
    OSSL_LIB_CTX *theirs = OSSL_LIB_CTX_set0_default(NULL);
    char path[32];

    configure(path, "openssl_conf = all\n[all]\nproviders = these\n[these]\n"
                    "default = one\nbase = one\n[one]\nactivate = 1\n");
    for (unsigned i = 0; i < 3; i++)
        ck_assert_ptr_eq(next().context, theirs);
    unlink(path);
}
END_TEST

Suite *suite_tls_library(void);
Suite *suite_tls_library(void)
{
    Suite *s = suite_create("tls_library");
    TCase *t = tcase_create("tls_library");

    tcase_add_test(t, as_many_contexts_as_processors_serve_all_threads_in_turn);
    tcase_add_test(t, limits_of_openssl_cnf_apply_in_each_context);
    tcase_add_test(t, providers_of_openssl_cnf_serve_every_thread);
    suite_add_tcase(s, t);
    return s;
}
