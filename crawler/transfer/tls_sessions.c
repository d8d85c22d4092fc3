/* SPDX-License-Identifier: MIT */
/* tls_sessions.c - a bounded map, and a list in order of use. */
#include "crawler/transfer/tls_sessions.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "base/mem.h"
#include "frontier/url/url.h"

#define SESSION_OVERHEAD 160 /* of an entry: map, list, malloc */

struct session {
    struct session *older, *newer;
    struct bytes key, data; /* in `text` */
    char text[];
};

struct tls_sessions {
    pthread_mutex_t mtx;
    uint64_t room;
    /* shared, under mtx */
    struct map *by_key;
    struct session *oldest, *newest;
    uint64_t used;
};

struct tls_sessions *tls_sessions_new(uint64_t bytes)
{
    struct tls_sessions *s = xcalloc(1, sizeof *s);

    pthread_mutex_init(&s->mtx, NULL);
    s->room = bytes;
    s->by_key = map_new();
    return s;
}

static uint64_t size_of(const struct session *one)
{
    return SESSION_OVERHEAD + 2 * one->key.len + one->data.len;
}

/* Takes it out of map and list. */
static void take_out(struct tls_sessions *s, struct session *one)
{
    map_remove(s->by_key, one->key);
    *(one->older != NULL ? &one->older->newer : &s->oldest) = one->newer;
    *(one->newer != NULL ? &one->newer->older : &s->newest) = one->older;
    s->used -= size_of(one);
}

/* It holds keys of the connection. */
static void forget(struct session *one)
{
    OPENSSL_cleanse(one->text, one->key.len + one->data.len);
    free(one);
}

static void forget_oldest(struct tls_sessions *s)
{
    struct session *one = s->oldest;

    assert(one->older == NULL);
    take_out(s, one);
    assert(s->oldest != one);
    forget(one);
}

void tls_sessions_free(struct tls_sessions *s)
{
    if (s == NULL)
        return;
    while (s->oldest != NULL)
        forget_oldest(s);
    map_free(s->by_key, NULL);
    pthread_mutex_destroy(&s->mtx);
    free(s);
}

static struct session *session_of(struct bytes key, struct bytes data)
{
    struct session *one = xcalloc(1, sizeof *one + key.len + data.len);

    memcpy(one->text, key.at, key.len);
    memcpy(one->text + key.len, data.at, data.len);
    one->key = bytes_of(one->text, key.len);
    one->data = bytes_of(one->text + key.len, data.len);
    return one;
}

static void put_in(struct tls_sessions *s, struct session *one)
{
    map_put(s->by_key, one->key, one);
    one->older = s->newest;
    *(s->newest != NULL ? &s->newest->newer : &s->oldest) = one;
    s->newest = one;
    s->used += size_of(one);
}

void tls_sessions_put(struct tls_sessions *s, struct bytes key,
                      struct bytes session)
{
    struct session *one, *old;

    if (session.len == 0 || session.len > TLS_SESSION_MOST)
        return;
    one = session_of(key, session);
    pthread_mutex_lock(&s->mtx);
    old = map_get(s->by_key, key);
    if (old != NULL) {
        take_out(s, old);
        forget(old);
    }
    put_in(s, one);
    while (s->used > s->room && s->oldest != NULL)
        forget_oldest(s);
    pthread_mutex_unlock(&s->mtx);
}

bool tls_sessions_take(struct tls_sessions *s, struct bytes key,
                       struct buf *out)
{
    struct session *one;

    pthread_mutex_lock(&s->mtx);
    one = map_get(s->by_key, key);
    if (one != NULL)
        take_out(s, one);
    pthread_mutex_unlock(&s->mtx);
    if (one == NULL)
        return false;
    buf_add_bytes(out, one->data);
    forget(one);
    return true;
}

/* ---- makes libcurl's connections resume TLS sessions ---- */

/*
 * libcurl makes an SSL_CTX for each connection, passes it to our callback, and
 * makes the SSL from it. The info callback runs when the handshake starts, the
 * last moment at which a session can be set: libcurl offers no other between
 * the two. Sessions come as the server sends them: in TLS 1.3 after the
 * handshake, often two. libcurl refuses the tickets of TLS 1.2 (RFC 5077),
 * which are all that a server without a cache of its own has to offer.
 */

/* Of one connection; it goes with its SSL_CTX. */
struct peer {
    struct tls_sessions *sessions;
    struct connection_counts *counts;
    struct buf key;
};

static int peer_index = -1;

static void free_peer(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int index,
                      long argl, void *argp)
{
    struct peer *p = ptr;

    (void)parent, (void)ad, (void)index, (void)argl, (void)argp;
    if (p == NULL)
        return;
    buf_fini(&p->key);
    free(p);
}

/* Does libcurl use the OpenSSL that we are linked with? Debian has a libcurl
 * over GnuTLS too. */
static bool is_our_library(void)
{
    const char *theirs = curl_version_info(CURLVERSION_NOW)->ssl_version;
    char ours[16];

    snprintf(ours, sizeof ours, "OpenSSL/%u.", OPENSSL_version_major());
    return theirs != NULL && strncmp(theirs, ours, strlen(ours)) == 0;
}

static void make_index(void)
{
    if (is_our_library())
        peer_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_peer);
}

static struct peer *peer_of(const SSL *ssl)
{
    return SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), peer_index);
}

/* ---- sessions ---- */

static void keep(struct peer *p, SSL_SESSION *session)
{
    int len = i2d_SSL_SESSION(session, NULL);
    unsigned char *at, *end;

    if (len <= 0 || (size_t)len > TLS_SESSION_MOST)
        return;
    at = end = xmalloc((size_t)len);
    len = i2d_SSL_SESSION(session, &end);
    if (len > 0)
        tls_sessions_put(p->sessions, buf_bytes(&p->key),
                         bytes_of((const char *)at, (size_t)len));
    OPENSSL_cleanse(at, (size_t)(end - at));
    free(at);
}

/* SSL_CTX_sess_set_new_cb; 0: we keep no reference. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
    keep(peer_of(ssl), session);
    return 0;
}

/* OpenSSL 3.3 has another name for it, and 3.4 warns of this one. */
#if OPENSSL_VERSION_NUMBER < 0x30300000L
#define SSL_SESSION_get_time_ex SSL_SESSION_get_time
#endif

static bool is_fresh(const SSL_SESSION *session)
{
    return time(NULL) < SSL_SESSION_get_time_ex(session) +
                            SSL_SESSION_get_timeout(session) &&
           SSL_SESSION_is_resumable(session);
}

static void offer_session(SSL *ssl, struct peer *p)
{
    const unsigned char *at;
    SSL_SESSION *session;
    struct buf data;

    if (SSL_get_session(ssl) != NULL)
        return; /* a renegotiation */
    buf_init(&data, TLS_SESSION_MOST);
    if (tls_sessions_take(p->sessions, buf_bytes(&p->key), &data)) {
        at = (const unsigned char *)data.at;
        session = d2i_SSL_SESSION(NULL, &at, (long)data.len);
        if (session != NULL && is_fresh(session))
            (void)SSL_set_session(ssl, session);
        SSL_SESSION_free(session);
        OPENSSL_cleanse(data.at, data.len);
    }
    buf_fini(&data);
}

/* A resumed session of TLS 1.2 that the server does not renew stays good. */
static void note_handshake(const SSL *ssl, struct peer *p)
{
    bool resumed = SSL_session_reused(ssl);

    atomic_fetch_add_explicit(resumed ? &p->counts->resumed : &p->counts->full,
                              1, memory_order_relaxed);
    if (resumed && SSL_version(ssl) < TLS1_3_VERSION && p->sessions != NULL)
        keep(p, SSL_get_session(ssl));
}

static void on_info(const SSL *ssl, int where, int value)
{
    struct peer *p = peer_of(ssl);

    (void)value;
    if (where == SSL_CB_HANDSHAKE_START && p->sessions != NULL)
        offer_session((SSL *)ssl, p);
    else if (where == SSL_CB_HANDSHAKE_DONE)
        note_handshake(ssl, p);
}

/* ---- libcurl ---- */

/* CURLOPT_SSL_CTX_FUNCTION */
static CURLcode on_context(CURL *easy, void *context, void *ctx)
{
    const struct tls_resume *r = ctx;
    struct peer *p;
    char *url = NULL;
    struct bytes text;

    curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url);
    if (url == NULL)
        return CURLE_OK;
    text = bytes_of_str(url);
    p = xcalloc(1, sizeof *p);
    p->sessions = r->sessions;
    p->counts = r->counts;
    buf_init(&p->key, (size_t)64 << 10);
    buf_addf(&p->key, "%s\n", r->client != NULL ? r->client : "");
    buf_add_bytes(&p->key, bytes_of(text.at, url_origin_length(text)));
    if (SSL_CTX_set_ex_data(context, peer_index, p) != 1) {
        free_peer(NULL, p, NULL, 0, 0, NULL);
        return CURLE_OK;
    }
    if (p->sessions != NULL) {
        SSL_CTX_sess_set_new_cb(context, on_session);
        SSL_CTX_clear_options(context, SSL_OP_NO_TICKET);
    }
    SSL_CTX_set_info_callback(context, on_info);
    return CURLE_OK;
}

void tls_resume_adopt(CURL *easy, struct tls_resume *r)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_index);
    if (peer_index < 0)
        return;
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, r);
}
