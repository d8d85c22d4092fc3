/* SPDX-License-Identifier: MIT */
/*
 * http_server.c - starts, stops and ends libmicrohttpd's daemon; connections.
 *
 * One thread of the library handles all requests; http_exchange.c handles each.
 */
#include "service/http/http_server.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/listen_address.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/process/sandbox.h"
#include "base/status.h"
#include "base/thread/cond.h"
#include "service/http/http_request.h"
#include "service/http/http_server_impl.h"
#include "service/net/tls.h"

struct http_tls;
struct http_tls_set;

/* ---- the certificates of the HTTP port, and reloading them ----
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

static void http_tls_free(struct http_tls *t);
static void http_tls_leave(struct http_tls *t, struct http_tls_set *set);
void http_conns_know(struct http_conns *s, struct http_conn *c);

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

/* Reads the files again, for new connections. After an error the current set
 * stays. */
static enum status http_tls_reload(struct http_tls *t)
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

/* Errors are logged. STATUS_FORMAT: a bad certificate, key or CA, or they do
 * not match; others: a file cannot be read. */
static enum status http_tls_new(struct http_tls **out,
                                const struct tls_files *files)
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

/* Call it when no connection is left; NULL is fine. */
static void http_tls_free(struct http_tls *t)
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

/* Gives the session the current set, before its handshake; http_tls_leave
 * releases it at the end. NULL: GnuTLS refused, and the handshake will fail. */
static struct http_tls_set *http_tls_use(struct http_tls *t,
                                         gnutls_session_t session)
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

static void http_tls_leave(struct http_tls *t, struct http_tls_set *set)
{
    if (set == NULL)
        return;
    pthread_mutex_lock(&t->mtx);
    set->sessions--;
    pthread_mutex_unlock(&t->mtx);
}

/* ---- places and deadlines of the HTTP port's connections ----
 *
 * All are checked when the earliest deadline may have passed, once a second at
 * most. Under the mutex a descriptor cannot be closed and reused: the library
 * reports the end of a connection before it closes the descriptor.
 */

#define LOOK_EVERY NS_PER_S

struct http_conn {
    struct place place; /* first */
    TAILQ_ENTRY(http_conn) all;
    int fd;
    struct http_tls_set *tls;
    int64_t due;        /* 0: none */
    enum place_end why; /* the reason for closing it then */
};

TAILQ_HEAD(http_conn_list, http_conn);

struct http_conns {
    struct http_conns_options options;

    pthread_mutex_t mtx; /* guards what follows */
    struct places places;
    struct http_conn_list all;
    int64_t next; /* the next check */
};

static struct http_conns *http_conns_new(const struct http_conns_options *o)
{
    struct http_conns *s = xcalloc(1, sizeof *s);

    s->options = *o;
    pthread_mutex_init(&s->mtx, NULL);
    places_init(&s->places, o->connections, o->address_most);
    TAILQ_INIT(&s->all);
    s->next = INT64_MAX;
    return s;
}

static void http_conns_free(struct http_conns *s)
{
    if (s == NULL)
        return;
    pthread_mutex_destroy(&s->mtx);
    free(s);
}

/* ---- deadlines ---- */

/* Under the mutex. True: tell the pump. */
static bool set_due(struct http_conns *s, struct http_conn *c, int64_t in,
                    enum place_end why)
{
    c->due = clock_mono() + in;
    c->why = why;
    if (c->due >= s->next)
        return false;
    s->next = c->due;
    return true;
}

static void due_in(struct http_conns *s, struct http_conn *c, int64_t in,
                   enum place_end why)
{
    bool tell;

    if (c == NULL)
        return;
    pthread_mutex_lock(&s->mtx);
    tell = set_due(s, c, in, why);
    pthread_mutex_unlock(&s->mtx);
    if (tell)
        s->options.nudge(s->options.ctx);
}

void http_conns_asked(struct http_conns *s, struct http_conn *c)
{
    due_in(s, c, s->options.head_ns, PLACE_SLOW);
}

void http_conns_answered(struct http_conns *s, struct http_conn *c)
{
    due_in(s, c, s->options.idle_ns, PLACE_IDLE);
}

/* Known callers have only the library's own time limit from here on. */
void http_conns_read(struct http_conns *s, struct http_conn *c)
{
    if (c == NULL || c->place.is != PLACE_KNOWN)
        due_in(s, c, s->options.idle_ns, PLACE_SLOW);
    else
        http_conns_know(s, c);
}

/* Under the mutex. */
static void shut_down(struct place *gone)
{
    if (gone != NULL)
        shutdown(((struct http_conn *)gone)->fd,
                 SHUT_RDWR); /* `place` is first */
}

void http_conns_know(struct http_conns *s, struct http_conn *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&s->mtx);
    shut_down(places_know(&s->places, &c->place, clock_mono()));
    c->due = 0;
    pthread_mutex_unlock(&s->mtx);
}

void http_conns_use(struct http_conns *s, struct http_conn *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&s->mtx);
    places_use(&s->places, &c->place);
    pthread_mutex_unlock(&s->mtx);
}

void http_conns_rest(struct http_conns *s, struct http_conn *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&s->mtx);
    places_rest(&c->place);
    pthread_mutex_unlock(&s->mtx);
}

/* Shuts down connections past their deadline. Returns when to call it next, in
 * monotonic time, or INT64_MAX. */
static int64_t http_conns_check(void *conns)
{
    struct http_conns *s = conns;
    int64_t now = clock_mono(), next = INT64_MAX;
    struct http_conn *c;

    pthread_mutex_lock(&s->mtx);
    if (now < s->next) {
        next = s->next;
        pthread_mutex_unlock(&s->mtx);
        return next;
    }
    for (c = TAILQ_FIRST(&s->all); c != NULL; c = TAILQ_NEXT(c, all)) {
        if (c->due == 0)
            continue;
        if (now >= c->due) {
            c->due = 0;
            places_count(&s->places, c->why);
            shutdown(c->fd, SHUT_RDWR);
        } else if (c->due < next) {
            next = c->due;
        }
    }
    if (next < now + LOOK_EVERY)
        next = now + LOOK_EVERY;
    s->next = next;
    pthread_mutex_unlock(&s->mtx);
    return next;
}

/* ---- coming and going ---- */

/* A connection has come: `fd` from `from`, which uses `tls` (may be NULL). It
 * may take the place of another, which is shut down. */
static struct http_conn *http_conns_begin(struct http_conns *s, int fd,
                                          const struct sockaddr *from,
                                          struct http_tls_set *tls)
{
    struct http_conn *c = xcalloc(1, sizeof *c);

    c->fd = fd;
    c->tls = tls;
    pthread_mutex_lock(&s->mtx);
    shut_down(places_take(&s->places, &c->place, from, clock_mono()));
    TAILQ_INSERT_TAIL(&s->all, c, all);
    pthread_mutex_unlock(&s->mtx);
    due_in(s, c, s->options.head_ns, PLACE_SLOW);
    return c;
}

/* Call it before the descriptor is closed; returns the connection's `tls`. */
static struct http_tls_set *http_conns_end(struct http_conns *s,
                                           struct http_conn *c)
{
    struct http_tls_set *tls = c->tls;

    pthread_mutex_lock(&s->mtx);
    places_leave(&s->places, &c->place);
    TAILQ_REMOVE(&s->all, c, all);
    pthread_mutex_unlock(&s->mtx);
    free(c);
    return tls;
}

/* Any thread. */
static uint64_t http_conns_closed(const struct http_conns *s,
                                  enum place_end why)
{
    return places_counted(&s->places, why);
}

#define IDLE_SECONDS 60u
#define HEAD_TIME    (60 * NS_PER_S)
#define CONNECTIONS  1000u
#define LEAVING_MOST 64u /* connections shut down but not closed yet */
/* The versions and suites of service/net/tls.c: tests/cli/serve-tls.sh */
#define TLS_PRIORITY                                                           \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-RSA:"        \
    "+ECDHE-ECDSA:-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM"

/* ---- callbacks of the library ---- */

/* We decode names and queries ourselves. */
static size_t leave_as_it_is(void *ctx, struct MHD_Connection *conn, char *s)
{
    (void)ctx;
    (void)conn;
    return strlen(s);
}

static __attribute__((format(printf, 2, 0))) void library_says(void *ctx,
                                                               const char *fmt,
                                                               va_list args)
{
    char text[300];

    (void)ctx;
    vsnprintf(text, sizeof text, fmt, args);
    log_debug("http", "says=\"%s\"", text);
}

/* ---- beginning and end ---- */

static struct http_tls_set *use_tls(struct http_server *s,
                                    struct MHD_Connection *conn)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_GNUTLS_SESSION);

    if (s->tls == NULL || info == NULL || info->tls_session == NULL)
        return NULL;
    return http_tls_use(s->tls, info->tls_session);
}

static void leave_tls(struct http_server *s, struct http_tls_set *set)
{
    if (s->tls != NULL)
        http_tls_leave(s->tls, set);
}

/* A connection begins or ends. At the beginning its TLS session exists, but the
 * handshake is still to come. */
static void connection_changed(void *server, struct MHD_Connection *conn,
                               void **ours,
                               enum MHD_ConnectionNotificationCode what)
{
    struct http_server *s = server;
    const union MHD_ConnectionInfo *info;
    const struct sockaddr *from;
    int fd;

    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        leave_tls(s, http_conns_end(s->conns, *ours));
        return;
    }
    /* From libmicrohttpd 1.0 on, each call overwrites the result of the one
     * before. */
    info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    fd = info->connect_fd;
    info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    from = info != NULL ? info->client_addr : NULL;
    *ours = http_conns_begin(s->conns, fd, from, use_tls(s, conn));
}

struct http_conn *http_conn_of(struct MHD_Connection *conn)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info != NULL ? info->socket_context : NULL;
}

/* The library's own credentials have no certificate: a session without ours
 * fails its handshake. */
static int no_certificate(gnutls_session_t session,
                          const gnutls_datum_t *authorities, int count,
                          const gnutls_pk_algorithm_t *algorithms,
                          int algorithm_count, gnutls_pcert_st **certificate,
                          unsigned *length, gnutls_privkey_t *key)
{
    (void)session;
    (void)authorities;
    (void)count;
    (void)algorithms;
    (void)algorithm_count;
    (void)certificate;
    (void)length;
    (void)key;
    return -1;
}

static enum status server_start(struct http_server *s)
{
    const struct http_options *o = &s->options;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)no_certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITY},
        {MHD_OPTION_END, 0, NULL},
    };

    if (s->tls != NULL)
        flags |= MHD_USE_TLS;
    else
        tls[0].option = MHD_OPTION_END;
    pthread_mutex_lock(
        &s->mtx); /* its thread may need s->daemon before we set it */
    s->daemon =
        MHD_start_daemon(flags, 0, NULL, NULL, http_exchange_step, s,
                         MHD_OPTION_EXTERNAL_LOGGER, library_says, NULL,
                         MHD_OPTION_LISTEN_SOCKET, s->fd,
                         MHD_OPTION_CONNECTION_LIMIT,
                         o->connections + LEAVING_MOST,
                         MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_HEADERS_MOST,
                         MHD_OPTION_URI_LOG_CALLBACK, http_exchange_begin, s,
                         MHD_OPTION_NOTIFY_COMPLETED, http_exchange_end, s,
                         MHD_OPTION_NOTIFY_CONNECTION, connection_changed, s,
                         MHD_OPTION_UNESCAPE_CALLBACK, leave_as_it_is, NULL,
                         MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    pthread_mutex_unlock(&s->mtx);
    if (s->daemon != NULL)
        return STATUS_OK;
    log_error("cannot serve HTTP", "address=\"%s\"", s->address);
    return STATUS_IO;
}

static void nudge(void *server)
{
    http_pump_nudge(((struct http_server *)server)->pump);
}

static enum status listen_at(struct http_server *s)
{
    const struct http_options *o = &s->options;
    struct bytes host, port;
    enum status st;

    if (o->socket != NULL) {
        s->host = xstrdup("localhost");
        s->options.loopback = true;
        st = socket_file_open(&s->socket, o->socket);
        if (st == STATUS_OK)
            s->fd = socket_file_fd(s->socket);
        return st;
    }
    if (listen_address_split(bytes_of_str(o->listen), &host, &port))
        s->host = xstrndup(host.at, host.len);
    return listener_open(o->listen, &s->fd, s->address);
}

static void make_conns(struct http_server *s)
{
    struct http_conns_options o = {
        .connections = s->options.connections,
        .head_ns = s->options.head_ns > 0 ? s->options.head_ns : HEAD_TIME,
        .idle_ns = s->options.idle_ns > 0 ? s->options.idle_ns
                                          : IDLE_SECONDS * NS_PER_S,
        .nudge = nudge,
        .ctx = s,
    };

    s->conns = http_conns_new(&o);
}

static enum status open_pump(struct http_server *s)
{
    const struct http_pump_work w = {
        .beat = http_events_beat,
        .beat_ctx = s->events,
        .look = http_conns_check,
        .look_ctx = s->conns,
    };

    return http_pump_open(&s->pump, &w);
}

enum status http_server_open(struct http_server **out,
                             const struct http_options *o)
{
    struct http_server *s = xcalloc(1, sizeof *s);
    enum status st = STATUS_OK;

    s->options = *o;
    if (o->connections == 0)
        s->options.connections = CONNECTIONS;
    for (size_t i = 0; http_route_tables[i] != NULL; i++)
        http_counters_init(&s->tally, http_route_tables[i]);
    s->router = o->router;
    if (o->router == NULL && (o->frontier != NULL || o->crawls != NULL))
        s->router = s->own_router = router_new(o->frontier, o->crawls);
    s->fd = -1;
    pthread_mutex_init(&s->mtx, NULL);
    cond_init(&s->fewer);
    s->events = http_events_new(s);
    make_conns(s);
    if (o->tls.cert != NULL)
        st = http_tls_new(&s->tls, &o->tls);
    if (st == STATUS_OK)
        st = open_pump(s);
    if (st == STATUS_OK)
        st = listen_at(s);
    if (st == STATUS_OK)
        st = server_start(s);
    if (st != STATUS_OK) {
        http_server_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

enum status http_server_reload(void *server)
{
    struct http_server *s = server;

    return s->tls != NULL ? http_tls_reload(s->tls) : STATUS_OK;
}

/* False: the stop has begun before. */
static bool begin_stop(struct http_server *s)
{
    bool was;

    pthread_mutex_lock(&s->mtx);
    was = s->stopping;
    if (!was)
        s->stop_by = clock_mono() + s->options.drain_ms * NS_PER_MS;
    s->stopping = true;
    pthread_mutex_unlock(&s->mtx);
    if (was)
        return false;
    http_pump_beat(s->pump); /* tells watchers */
    MHD_quiesce_daemon(s->daemon);
    shutdown(s->fd, SHUT_RDWR); /* resets connections in the backlog */
    return true;
}

void http_server_stop(void *server)
{
    struct http_server *s = server;

    if (begin_stop(s))
        return;
    pthread_mutex_lock(&s->mtx);
    s->stop_by = clock_mono();
    pthread_cond_broadcast(&s->fewer);
    pthread_mutex_unlock(&s->mtx);
}

bool http_server_is_over(struct http_server *s)
{
    bool over;

    pthread_mutex_lock(&s->mtx);
    over = s->open == 0 && s->waiting == 0;
    pthread_mutex_unlock(&s->mtx);
    return over;
}

/* The frontier answers every call it has. Afterwards no more are submitted,
 * since the library must not end while a connection is suspended. */
static void wait_for_requests(struct http_server *s)
{
    pthread_mutex_lock(&s->mtx);
    while (s->waiting > 0 || (s->open > 0 && clock_mono() < s->stop_by))
        (void)cond_wait_until(&s->fewer, &s->mtx,
                              clock_mono() + 50 * NS_PER_MS);
    s->over = true;
    pthread_mutex_unlock(&s->mtx);
}

/* The clients of reports are gone, so reports end when they next write. */
static void wait_for_reports(struct http_server *s)
{
    pthread_mutex_lock(&s->mtx);
    while (s->reports > 0)
        pthread_cond_wait(&s->fewer, &s->mtx);
    pthread_mutex_unlock(&s->mtx);
}

bool http_server_report_begins(struct http_server *s)
{
    bool room;

    pthread_mutex_lock(&s->mtx);
    room = s->reports < HTTP_REPORTS_MOST;
    s->reports += room;
    pthread_mutex_unlock(&s->mtx);
    return room;
}

void http_server_report_ended(struct http_server *s)
{
    pthread_mutex_lock(&s->mtx);
    s->reports--;
    pthread_cond_broadcast(&s->fewer);
    pthread_mutex_unlock(&s->mtx);
}

void http_server_close(struct http_server *s)
{
    if (s == NULL)
        return;
    if (s->daemon != NULL) {
        (void)begin_stop(s);
        wait_for_requests(s);
        http_pump_cut(s->pump);
        MHD_stop_daemon(s->daemon);
        wait_for_requests(s); /* cut-off requests give their leases back */
        wait_for_reports(s);
    }
    http_pump_close(s->pump);
    http_events_free(s->events);
    http_conns_free(s->conns);
    if (s->fd >= 0 && s->socket == NULL)
        close(s->fd);
    socket_file_close(s->socket);
    http_tls_free(s->tls);
    router_free(s->own_router);
    pthread_cond_destroy(&s->fewer);
    pthread_mutex_destroy(&s->mtx);
    free(s->host);
    free(s);
}

const char *http_server_address(const struct http_server *s)
{
    return s->socket != NULL ? s->options.socket : s->address;
}

bool http_server_is_stopping(struct http_server *s)
{
    bool is;

    pthread_mutex_lock(&s->mtx);
    is = s->stopping;
    pthread_mutex_unlock(&s->mtx);
    return is;
}

struct frontier_service *http_server_frontier(struct http_server *s)
{
    return s->options.frontier;
}

const struct http_options *http_server_options(const struct http_server *s)
{
    return &s->options;
}

const struct http_counters *http_server_tally(const struct http_server *s)
{
    return &s->tally;
}

void http_server_get_stats(struct http_server *s, struct http_stats *out)
{
    const union MHD_DaemonInfo *info;
    struct MHD_Daemon *daemon;

    *out = (struct http_stats){0};
    pthread_mutex_lock(&s->mtx);
    daemon = s->daemon;
    out->stopping = s->stopping;
    pthread_mutex_unlock(&s->mtx);
    for (unsigned i = 0; i < PLACE_ENDS_; i++)
        out->closed[i] = http_conns_closed(s->conns, (enum place_end)i);
    info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    if (info != NULL)
        out->connections = info->num_connections;
}
