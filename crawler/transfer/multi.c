/* SPDX-License-Identifier: MIT */
/*
 * multi.c - curl's multi_socket interface over epoll.
 *
 * curl_multi_perform looks at every transfer in every turn, with a system call
 * for each; at 64 transfers that is most of a crawler's system time. With
 * multi_socket curl tells which sockets it waits for, and only ready ones are
 * handled.
 *
 * A socket that goes idle stays in the epoll set: the next request on the same
 * connection then costs no epoll_ctl at all. It is only removed when an idle
 * socket becomes readable (its server closed it). This applies to sockets that
 * we open, whose closing we see in multi_close_socket; other descriptors that
 * curl waits for (its resolver's) leave the set as soon as curl says so, since
 * their numbers may be reused without our knowing.
 */

#include "crawler/transfer/multi.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/logger.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/status.h"
#include "crawler/address/guard.h"
#include "crawler/transfer/in_hand.h"
#include "crawler/transfer/limits.h"
#include "frontier/url/url.h"

/* ---- TLS sessions of a crawl, resumed by later connections ---- */

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

/*
 * Faults of the libcurl in use that a web server could use
 * against us, or that cost others, and whether we must work around them.
 *
 * docs/decisions/libcurl-faults.md lists all those considered. We decide by the
 * version of the loaded library, not of the headers we were compiled with. Any
 * thread.
 *
 * A distribution may have fixed a fault without changing the version number.
 * Then we work around a fault that is not there, which costs a little and does
 * no harm.
 */

#define VERSION(major, minor, patch) ((major) << 16 | (minor) << 8 | (patch))

static unsigned version_in_use(void)
{
    return curl_version_info(CURLVERSION_NOW)->version_num;
}

bool curl_faults_header_dangles(void)
{
    return version_in_use() < VERSION(8, 1, 0);
}

/* From 8.1.0 until 8.16.0 a transfer that is told to keep DNS answers for ever
 * (CURLOPT_DNS_CACHE_TIMEOUT of -1) forgets them all as it ends: each new
 * connection then costs a look-up. */
static bool curl_faults_forever_forgets(void)
{
    return version_in_use() >= VERSION(8, 1, 0) &&
           version_in_use() < VERSION(8, 16, 0);
}

void curl_faults_log(void)
{
    const char *version = curl_version_info(CURLVERSION_NOW)->version;

    if (curl_faults_header_dangles())
        log_info("works around faults of libcurl",
                 "version=%s faults=\"11101: an easy handle is used once\"",
                 version);
    else if (curl_faults_forever_forgets())
        log_info("works around faults of libcurl",
                 "version=%s faults=\"11084: DNS answers always have an end\"",
                 version);
    else
        log_info("libcurl has no fault to work around", "version=%s", version);
}

/* ---- connections opened, kept and given up ---- */

/*
 * An idle connection whose place is wanted is shut down, not closed: curl owns
 * the descriptor, finds the connection dead within a second and closes it.
 *
 * Which connections are kept is decided here, as one is opened, since libcurl
 * would close the one that was used longest ago. With hosts that are asked in
 * turn that is the one needed next: of 100 kept ones for 200 hosts none would
 * ever be used again. The best is to give up what is needed last (Belady,
 * 1966), and our schedule knows when that is. Of hosts with one delay it is the
 * connection just being opened, which libcurl then closes after its response.
 */

#define TRANSFER_MAGIC UINT32_C(0x7472616e) /* "tran" */
#define MULTI_MAGIC    UINT32_C(0x6d756c74) /* "mult" */

struct socket {
    struct heap_item idle; /* by how soon it is needed, last first */
    uint32_t armed;        /* epoll events in the set; 0: not in it */
    uint32_t wanted;       /* epoll events curl waits for; 0: idle */
    int fd;
    bool ours;    /* from multi_open_socket, not closed yet */
    bool counted; /* counts for the limit per address */
    bool tls;
    bool closing; /* shut down by us while idle; not counted as open */
    unsigned char address[16];
    unsigned char address_len;
    struct transfer *user; /* the transfer that used it last */
};

struct multi {
    uint32_t magic;
    CURLM *curl;
    CURLSH *empty; /* shares connections that are never made; may be NULL */
    struct multi_options o;
    int epoll, wakeup;
    bool behind;        /* more sockets were ready than a turn handles */
    bool prunes_always; /* each transfer looks through the DNS answers */
    int64_t dns_pruned; /* when a transfer began that forgets DNS answers */
    int64_t timer;      /* when curl wants to be called; INT64_MAX: never */
    struct socket **sockets; /* by descriptor; NULL: never used */
    size_t socket_count;
    struct connection_counts unread; /* if nobody wants the counts */
    struct heap idle;                /* connections that may be closed */
    uint64_t doomed;                 /* connections that end with their use */
    uint64_t kept_most;              /* of the others; without a budget 0 */
};

static inline struct multi *multi_of(void *p)
{
    struct multi *m = p;

    assert(m != NULL && m->magic == MULTI_MAGIC);
    return m;
}

static inline struct transfer *transfer_of(void *p)
{
    struct transfer *t = p;

    assert(t != NULL && t->magic == TRANSFER_MAGIC);
    return t;
}

/* What is known of a descriptor; it stays at its address. */
static struct socket *multi_socket(struct multi *m, int fd)
{
    size_t i = (size_t)fd, count = m->socket_count;

    assert(fd >= 0);
    if (i >= count) {
        count = count > 0 ? count : 64;
        while (count <= i)
            count *= 2;
        m->sockets = xrealloc(m->sockets, count * sizeof(struct socket *));
        memset(m->sockets + m->socket_count, 0,
               (count - m->socket_count) * sizeof(struct socket *));
        m->socket_count = count;
    }
    if (m->sockets[i] == NULL)
        m->sockets[i] = xcalloc(1, sizeof *m->sockets[i]);
    return m->sockets[i];
}

static void address_octets(const struct sockaddr *a, struct socket *s)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (a->sa_family == AF_INET) {
        memcpy(&v4, a, sizeof v4);
        memcpy(s->address, &v4.sin_addr, 4);
        s->address_len = 4;
    } else {
        memcpy(&v6, a, sizeof v6);
        memcpy(s->address, &v6.sin6_addr, 16);
        s->address_len = 16;
    }
}

static _Atomic uint64_t *open_count(struct multi *m, const struct socket *s)
{
    return s->tls ? &m->o.counts->tls : &m->o.counts->plain;
}

/* Is the connection idle? A paused transfer waits for nothing either, but its
 * socket is in use. */
static bool is_idle(const struct socket *s, size_t fd)
{
    return s != NULL && s->ours && s->wanted == 0 && s->user != NULL &&
           !(s->user->busy && s->user->fd == (int)fd);
}

/* Ends an idle connection; curl closes it later. */
static void end_idle(struct multi *m, struct socket *s, int fd)
{
    (void)heap_remove(&m->idle, &s->idle);
    if (!s->closing)
        atomic_fetch_sub_explicit(open_count(m, s), 1, memory_order_relaxed);
    s->closing = true;
    shutdown(fd, SHUT_RDWR);
}

/* Closes idle connections to addresses with wishes. */
static void multi_yield_idle(struct multi *m)
{
    for (size_t fd = 0; fd < m->socket_count; fd++) {
        struct socket *s = m->sockets[fd];

        if (!is_idle(s, fd) || !s->counted ||
            !ip_limit_yield(m->o.ip_limit, s->address, s->address_len))
            continue;
        s->counted = false;
        end_idle(m, s, (int)fd);
    }
}

/* ---- which connections are kept ------------------------------------------ */

/* When the host of a transfer that ends now is asked again. */
static int64_t needed_at(const struct transfer *t)
{
    return t->pause == INT64_MAX ? INT64_MAX : clock_mono() + t->pause;
}

static bool are_too_many(const struct multi *m)
{
    uint64_t open =
        atomic_load(&m->o.counts->tls) + atomic_load(&m->o.counts->plain);

    return m->o.connections != NULL && open > m->kept_most + m->doomed;
}

static struct socket *needed_last(const struct multi *m)
{
    struct heap_item *top = heap_top(&m->idle);

    return top != NULL
               ? (struct socket *)((char *)top - offsetof(struct socket, idle))
               : NULL;
}

/* A transfer opens a connection. If there are too many, the one that is needed
 * last is given up, which may be this one. */
static void make_room(struct multi *m, struct transfer *t)
{
    struct socket *last = needed_last(m);

    if (t->doomed || !are_too_many(m))
        return;
    if (last != NULL && -last->idle.key > needed_at(t)) {
        end_idle(m, last, last->fd);
        return;
    }
    t->doomed = true;
    m->doomed++;
    curl_easy_setopt(t->easy, CURLOPT_FORBID_REUSE, 1L);
}

/* The transfer has ended; its connection, if it is still there, waits. */
static void multi_let_rest(struct multi *m, struct transfer *t)
{
    struct socket *s = t->fd >= 0 ? multi_socket(m, t->fd) : NULL;

    if (t->doomed) {
        t->doomed = false;
        m->doomed--;
        curl_easy_setopt(t->easy, CURLOPT_FORBID_REUSE, 0L);
    }
    if (s != NULL && s->ours && s->wanted == 0 && !s->closing &&
        s->idle.place == 0)
        heap_push(&m->idle, &s->idle, -needed_at(t));
}

/* Closes idle connections when the budget has shrunk. */
static void multi_keep_to_budget(struct multi *m)
{
    struct socket *last;

    if (m->o.connections == NULL)
        return;
    m->kept_most =
        (uint64_t)connection_budget_most(m->o.connections,
                                         atomic_load(&m->o.counts->tls),
                                         atomic_load(&m->o.counts->plain));
    while (are_too_many(m) && (last = needed_last(m)) != NULL)
        end_idle(m, last, last->fd);
}

static bool take_place(struct multi *m, const struct socket *s)
{
    if (ip_limit_take(m->o.ip_limit, s->address, s->address_len))
        return true;
    multi_yield_idle(m);
    return ip_limit_take(m->o.ip_limit, s->address, s->address_len);
}

/* CURLOPT_OPENSOCKETFUNCTION; its data is the transfer. */
static curl_socket_t multi_open_socket(void *ctx, curlsocktype purpose,
                                       struct curl_sockaddr *a)
{
    struct transfer *t = transfer_of(ctx);
    struct multi *m = t->multi;
    struct socket s = {.ours = true, .tls = t->tls};
    int fd;

    if (purpose != CURLSOCKTYPE_IPCXN)
        return CURL_SOCKET_BAD;
    if (m->o.guard != NULL && !guard_permits(m->o.guard, &a->addr)) {
        t->refused = true;
        return CURL_SOCKET_BAD;
    }
    t->permitted = true;
    address_octets(&a->addr, &s);
    if (m->o.ip_limit != NULL) {
        s.counted = take_place(m, &s);
        t->crowded = t->crowded || !s.counted;
        if (!s.counted)
            return CURL_SOCKET_BAD;
    }
    fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    if (fd < 0) {
        log_error("cannot open a socket", "error=%s", strerror(errno));
        if (s.counted)
            ip_limit_give(m->o.ip_limit, s.address, s.address_len);
        return CURL_SOCKET_BAD;
    }
    s.fd = fd;
    *multi_socket(m, fd) = s;
    atomic_fetch_add_explicit(open_count(m, &s), 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->o.counts->opened, 1, memory_order_relaxed);
    make_room(m, t);
    return fd;
}

/* CURLOPT_CLOSESOCKETFUNCTION; its data is the multi. The kernel takes the
 * descriptor out of the epoll set. */
static int multi_close_socket(void *ctx, curl_socket_t fd)
{
    struct multi *m = multi_of(ctx);
    struct socket *s = multi_socket(m, fd);

    if (s->counted)
        ip_limit_give(m->o.ip_limit, s->address, s->address_len);
    (void)heap_remove(&m->idle, &s->idle);
    if (s->ours && !s->closing)
        atomic_fetch_sub_explicit(open_count(m, s), 1, memory_order_relaxed);
    *s = (struct socket){0};
    return close(fd);
}

/* ---- multi ---- */

#define EVENTS_MOST 64
#define CURL_KEEPS  (1L << 20) /* connections: it is never to choose */
#define DNS_KEPT    60L        /* seconds, libcurl's default */
#define WISHES_WAIT (100 * NS_PER_MS)

/* NULL: an internal handle, which later versions of curl use to close
 * connections. */
static struct transfer *transfer_of_easy(CURL *easy)
{
    void *p = NULL;

    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &p);
    return p != NULL ? transfer_of(p) : NULL;
}

/* ---- epoll --------------------------------------------------------------- */

static void arm(struct multi *m, int fd, struct socket *s, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.fd = fd};
    int op = EPOLL_CTL_MOD;

    if (s->armed == events)
        return;
    if (s->armed == 0)
        op = EPOLL_CTL_ADD;
    else if (events == 0)
        op = EPOLL_CTL_DEL;
    if (epoll_ctl(m->epoll, op, fd, &e) != 0)
        log_error("cannot watch a socket", "fd=%d error=%s", fd,
                  strerror(errno));
    s->armed = events;
}

/* CURLMOPT_SOCKETFUNCTION: curl tells what it waits for. */
static int watch(CURL *easy, curl_socket_t fd, int what, void *ctx, void *none)
{
    struct multi *m = multi_of(ctx);
    struct socket *s = multi_socket(m, fd);

    (void)none;
    s->wanted = 0;
    if (what == CURL_POLL_REMOVE) {
        if (!s->ours)
            arm(m, fd, s, 0);
        return 0;
    }
    (void)heap_remove(&m->idle, &s->idle);
    if (what & CURL_POLL_IN)
        s->wanted |= EPOLLIN;
    if (what & CURL_POLL_OUT)
        s->wanted |= EPOLLOUT;
    s->user = transfer_of_easy(easy);
    if (s->user != NULL) {
        s->user->fd = fd;
        if (s->ours && what == CURL_POLL_IN)
            s->user->connected = true;
    }
    arm(m, fd, s, s->wanted);
    return 0;
}

/* CURLMOPT_TIMERFUNCTION */
static int set_timer(CURLM *curl, long ms, void *ctx)
{
    struct multi *m = multi_of(ctx);

    (void)curl;
    if (ms < 0)
        m->timer = INT64_MAX;
    else
        m->timer = ms == 0 ? 0 : clock_mono() + ms * NS_PER_MS;
    return 0;
}

/* ---- transfers ----------------------------------------------------------- */

void multi_adopt(struct multi *m, struct transfer *t)
{
    t->magic = TRANSFER_MAGIC;
    t->multi = m;
    t->fd = -1;
    curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETFUNCTION, multi_open_socket);
    curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETDATA, t);
    curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETFUNCTION, multi_close_socket);
    curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETDATA, m);
}

/* libcurl looks through all of its DNS answers for those past their time as
 * each transfer ends, unless that transfer's answers have no end: with 5,000
 * hosts that took longer than all the rest. So one transfer a second has it
 * done, and answers are kept for a second more at most. Where an answer without
 * an end is a fault each transfer has it done. */
static void choose_dns_time(struct multi *m, struct transfer *t)
{
    int64_t now = clock_mono();
    bool prunes = m->prunes_always || now >= m->dns_pruned + NS_PER_S;
    long seconds = prunes ? DNS_KEPT : -1;

    if (prunes)
        m->dns_pruned = now;
    curl_easy_setopt(t->easy, CURLOPT_DNS_CACHE_TIMEOUT, seconds);
}

void multi_start(struct multi *m, struct transfer *t)
{
    choose_dns_time(m, t);
    t->busy = true;
    t->fd = -1;
    t->connected = t->permitted = t->refused = t->crowded = false;
    curl_multi_add_handle(m->curl, t->easy);
}

/* As a handle leaves, libcurl walks through its connections to the one that the
 * handle used last: of 5,000, half, and none of them is in the processor's
 * caches. A handle that was asked for its socket and does not find it has used
 * none. So it is asked while it shares another cache, which is empty. */
static void forget_connection(struct multi *m, CURL *easy)
{
    curl_socket_t none;

    if (curl_easy_setopt(easy, CURLOPT_SHARE, m->empty) != CURLE_OK)
        return;
    curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &none);
    curl_easy_setopt(easy, CURLOPT_SHARE, NULL);
}

void multi_abort(struct multi *m, struct transfer *t)
{
    assert(t->busy);
    curl_multi_remove_handle(m->curl, t->easy);
    t->busy = false;
    multi_let_rest(m, t);
}

struct transfer *multi_next_ended(struct multi *m, CURLcode *code)
{
    CURLMsg *msg;
    int left;

    while ((msg = curl_multi_info_read(m->curl, &left)) != NULL) {
        if (msg->msg == CURLMSG_DONE) {
            struct transfer *t = transfer_of_easy(msg->easy_handle);

            *code = msg->data.result; /* invalid once the handle has left */
            forget_connection(m, t->easy);
            multi_abort(m, t);
            return t;
        }
    }
    return NULL;
}

/* ---- the turn ------------------------------------------------------------ */

static void clear_wakeup(struct multi *m)
{
    uint64_t n;

    if (read(m->wakeup, &n, sizeof n) < 0)
        n = 0; /* no wake-up: nothing to clear */
}

void multi_take_in_hand(struct transfer *t, enum in_hand_doing doing)
{
    in_hand_take(t->multi->o.in_hand, t->id, doing);
}

static void run_socket(struct multi *m, int fd, uint32_t events)
{
    struct socket *s = multi_socket(m, fd);
    int running, ready = 0;

    if (s->wanted == 0) {
        arm(m, fd, s, 0); /* paused, or closed by its server while idle */
        return;
    }
    if (events & (EPOLLHUP | EPOLLERR))
        events |= s->wanted;
    if (events & EPOLLIN)
        ready |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        ready |= CURL_CSELECT_OUT;
    if (s->user != NULL)
        multi_take_in_hand(s->user, IN_HAND_TRANSFER);
    curl_multi_socket_action(m->curl, fd, ready, &running);
}

/* epoll waits in milliseconds; rounded up so that we never spin. Wishes of
 * other fetchers are checked now and then. */
static int wait_ms(const struct multi *m, int64_t until)
{
    int64_t now = clock_mono();
    int64_t ns = (m->timer < until ? m->timer : until) - now;
    int64_t most = m->o.ip_limit != NULL ? WISHES_WAIT : 60 * NS_PER_S;

    if (m->timer <= now || until <= now)
        return 0;
    if (ns > most)
        ns = most;
    return (int)((ns + NS_PER_MS - 1) / NS_PER_MS);
}

void multi_turn(struct multi *m, int64_t until)
{
    struct epoll_event events[EVENTS_MOST];
    int running;
    int n = epoll_wait(m->epoll, events, EVENTS_MOST, wait_ms(m, until));

    m->behind = n == EVENTS_MOST;
    multi_keep_to_budget(m);
    for (int i = 0; i < n; i++) {
        if (events[i].data.fd == m->wakeup)
            clear_wakeup(m);
        else
            run_socket(m, events[i].data.fd, events[i].events);
    }
    if (m->timer <= clock_mono()) {
        m->timer = INT64_MAX;
        curl_multi_socket_action(m->curl, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    if (m->o.ip_limit != NULL && ip_limit_is_wished(m->o.ip_limit))
        multi_yield_idle(m);
}

bool multi_is_behind(const struct multi *m)
{
    return m->behind;
}

void multi_wake(struct multi *m)
{
    const uint64_t one = 1;

    if (write(m->wakeup, &one, sizeof one) < 0)
        log_error("cannot wake a fetcher", "error=%s", strerror(errno));
}

/* ---- life ---------------------------------------------------------------- */

/* A cache of connections that stays empty; NULL: no memory, and forgetting a
 * connection then takes libcurl longer. */
static CURLSH *empty_share(void)
{
    CURLSH *share = curl_share_init();

    if (share != NULL &&
        curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT) ==
            CURLSHE_OK)
        return share;
    curl_share_cleanup(share);
    return NULL;
}

static enum status open_descriptors(struct multi *m)
{
    struct epoll_event e = {.events = EPOLLIN};

    m->epoll = epoll_create1(EPOLL_CLOEXEC);
    m->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    e.data.fd = m->wakeup;
    if (m->epoll >= 0 && m->wakeup >= 0 &&
        epoll_ctl(m->epoll, EPOLL_CTL_ADD, m->wakeup, &e) == 0)
        return STATUS_OK;
    log_error("cannot watch sockets", "error=%s", strerror(errno));
    return STATUS_IO;
}

enum status multi_new(struct multi **out, const struct multi_options *o)
{
    struct multi *m = xcalloc(1, sizeof *m);
    enum status st;

    m->magic = MULTI_MAGIC;
    m->o = *o;
    if (o->counts == NULL)
        m->o.counts = &m->unread;
    m->timer = INT64_MAX;
    m->prunes_always = curl_faults_forever_forgets();
    heap_init(&m->idle);
    st = open_descriptors(m);
    if (st != STATUS_OK)
        goto out;
    m->curl = curl_multi_init();
    if (m->curl == NULL) {
        st = STATUS_NOMEM;
        goto out;
    }
    m->empty = empty_share();
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
    if (o->connections != NULL)
        curl_multi_setopt(m->curl, CURLMOPT_MAXCONNECTS, CURL_KEEPS);
    *out = m;
    m = NULL;
out:
    multi_free(m);
    return st;
}

void multi_free(struct multi *m)
{
    if (m == NULL)
        return;
    if (m->curl != NULL)
        curl_multi_cleanup(m->curl);
    curl_share_cleanup(m->empty);
    if (m->epoll >= 0)
        close(m->epoll);
    if (m->wakeup >= 0)
        close(m->wakeup);
    for (size_t fd = 0; fd < m->socket_count; fd++)
        free(m->sockets[fd]);
    free(m->sockets);
    heap_fini(&m->idle);
    free(m);
}
