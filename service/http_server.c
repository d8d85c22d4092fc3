/* SPDX-License-Identifier: MIT */
/*
 * http_server.c - libmicrohttpd's daemon: how it begins, stops and ends.
 *
 * One thread of the library's does all requests; what happens to one is in
 * http_exchange.c.
 */
#include "service/http_server.h"

#include <openssl/crypto.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "service/http2_server.h"
#include "service/http_server_impl.h"

#define HEADERS_MOST ((size_t)32 << 10) /* with the request line */
#define IDLE_SECONDS 60u
#define PEM_MOST     ((size_t)1 << 20)
#define TLS_PRIORITY                                                           \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-AES-128-CBC:"         \
    "-AES-256-CBC"

/* ---- for the library ---- */

/* Names and queries are decoded by us. */
static size_t leave_as_it_is(void *ctx, struct MHD_Connection *conn, char *s)
{
    (void)ctx;
    (void)conn;
    return strlen(s);
}

__attribute__((format(printf, 2, 0))) static void library_says(void *ctx,
                                                               const char *fmt,
                                                               va_list args)
{
    char text[300];

    (void)ctx;
    vsnprintf(text, sizeof text, fmt, args);
    log_debug("http", "says=\"%s\"", text);
}

/* ---- beginning and end ---- */

static enum status read_pem(const char *path, struct buf *to)
{
    enum status st;

    if (path == NULL)
        return STATUS_OK;
    st = file_read(path, to);
    if (st != STATUS_OK)
        log_error("cannot read a PEM file", "path=\"%s\" why=\"%s\"", path,
                  status_text(st));
    return st;
}

static enum status read_pems(struct http_server *s)
{
    const struct http_options *o = &s->options;
    enum status st = read_pem(o->tls_cert, &s->cert);

    if (st == STATUS_OK)
        st = read_pem(o->tls_key, &s->key);
    if (st == STATUS_OK)
        st = read_pem(o->client_ca, &s->client_ca);
    return st;
}

static enum status start(struct http_server *s)
{
    const struct http_options *o = &s->options;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, s->cert.at},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, s->key.at},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITY},
        {o->client_ca != NULL ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
         s->client_ca.at},
        {MHD_OPTION_END, 0, NULL},
    };

    if (o->tls_cert != NULL)
        flags |= MHD_USE_TLS;
    else
        tls[0].option = MHD_OPTION_END;
    s->daemon =
        MHD_start_daemon(flags, 0, NULL, NULL, http_exchange_step, s,
                         MHD_OPTION_EXTERNAL_LOGGER, library_says, NULL,
                         MHD_OPTION_LISTEN_SOCKET, s->fd,
                         MHD_OPTION_CONNECTION_LIMIT,
                         o->connections > 0 ? o->connections : 1000u,
                         MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADERS_MOST,
                         MHD_OPTION_URI_LOG_CALLBACK, http_exchange_begin, s,
                         MHD_OPTION_NOTIFY_COMPLETED, http_exchange_end, s,
                         MHD_OPTION_UNESCAPE_CALLBACK, leave_as_it_is, NULL,
                         MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    if (s->daemon != NULL)
        return STATUS_OK;
    log_error("cannot serve HTTP", "address=\"%s\"%s", s->address,
              o->tls_cert != NULL ? " why=\"TLS certificate or key?\"" : "");
    return o->tls_cert != NULL ? STATUS_FORMAT : STATUS_IO;
}

enum status http_server_open(struct http_server **out,
                             const struct http_options *o)
{
    struct http_server *s = xcalloc(1, sizeof *s);
    struct bytes host, port;
    enum status st;

    s->options = *o;
    s->fd = -1;
    pthread_mutex_init(&s->mtx, NULL);
    pthread_cond_init(&s->fewer, NULL);
    buf_init(&s->cert, PEM_MOST);
    buf_init(&s->key, PEM_MOST);
    buf_init(&s->client_ca, PEM_MOST);
    if (http2_split_address(bytes_of_str(o->listen), &host, &port))
        s->host = xstrndup(host.at, host.len);
    st = read_pems(s);
    if (st == STATUS_OK)
        st = listener_open(o->listen, &s->fd, s->address);
    if (st == STATUS_OK)
        st = start(s);
    if (st != STATUS_OK) {
        http_server_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void http_server_stop(void *server)
{
    struct http_server *s = server;

    bool was;

    pthread_mutex_lock(&s->mtx);
    was = s->stopping;
    if (!was)
        s->stop_by = clock_mono() + s->options.drain_ms * NS_PER_MS;
    s->stopping = true;
    pthread_mutex_unlock(&s->mtx);
    if (was)
        return;
    MHD_quiesce_daemon(s->daemon);
    shutdown(s->fd, SHUT_RDWR); /* who waits in the backlog is told */
}

/* What the frontier has it answers, come what may. */
static void wait_for_requests(struct http_server *s)
{
    pthread_mutex_lock(&s->mtx);
    while (s->waiting > 0 || (s->open > 0 && clock_mono() < s->stop_by)) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50 * NS_PER_MS;
        until.tv_sec += until.tv_nsec / NS_PER_S;
        until.tv_nsec %= NS_PER_S;
        pthread_cond_timedwait(&s->fewer, &s->mtx, &until);
    }
    pthread_mutex_unlock(&s->mtx);
}

void http_server_close(struct http_server *s)
{
    if (s == NULL)
        return;
    if (s->daemon != NULL) {
        http_server_stop(s);
        wait_for_requests(s);
        MHD_stop_daemon(s->daemon);
    }
    if (s->fd >= 0)
        close(s->fd);
    if (s->key.at != NULL)
        OPENSSL_cleanse(s->key.at, s->key.cap);
    buf_fini(&s->cert);
    buf_fini(&s->key);
    buf_fini(&s->client_ca);
    pthread_cond_destroy(&s->fewer);
    pthread_mutex_destroy(&s->mtx);
    free(s->host);
    free(s);
}

const char *http_server_address(const struct http_server *s)
{
    return s->address;
}

struct frontier_service *http_server_frontier(struct http_server *s)
{
    return s->options.frontier;
}

void http_server_sample(struct http_server *s, struct http_sample *out)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

    *out = (struct http_sample){0};
    if (info != NULL)
        out->connections = info->num_connections;
    pthread_mutex_lock(&s->mtx);
    out->requests = s->requests;
    out->stopping = s->stopping;
    pthread_mutex_unlock(&s->mtx);
}
