/* SPDX-License-Identifier: MIT */
/*
 * redis_stream.c - octets to and from a Redis server, without waiting.
 *
 *   CONNECTING --an address answers--> TALKING --end, error--> LOST
 *        '-------- none does --------------------------------> LOST
 *
 * TLS works on two buffers in memory, between which and the socket we carry the
 * octets: OpenSSL's own writes would raise SIGPIPE, and hiredis knows TLS only
 * in releases that Debian 12 does not have.
 */
#include "base/redis/redis_stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/process/secret.h"

#define OUT_MOST  ((size_t)64 << 20) /* its callers stay far below */
#define IN_CHUNK  ((size_t)64 << 10)
#define TURN_MOST 16 /* chunks: a server that never pauses is left in between */

enum stream_state { STREAM_CONNECTING, STREAM_TALKING, STREAM_LOST };

struct redis_stream {
    struct redis_address address;
    enum stream_state state;
    int fd;
    struct addrinfo *found, *next; /* addresses of the host, and the next try */
    struct buf out;                /* as the caller gave it */
    struct buf wire;               /* encrypted; unused without TLS */
    size_t sent;                   /* of `out`, or `wire` */
    SSL_CTX *ctx;                  /* NULL: no TLS */
    SSL *ssl;
    BIO *tls_in, *tls_out; /* of ssl */
    char error[200];
};

struct redis_stream *redis_stream_new(const struct redis_address *a)
{
    struct redis_stream *s = xcalloc(1, sizeof *s);

    s->address = *a;
    s->fd = -1;
    buf_init(&s->out, OUT_MOST);
    buf_init(&s->wire, OUT_MOST);
    return s;
}

static void close_socket(struct redis_stream *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

void redis_stream_free(struct redis_stream *s)
{
    if (s == NULL)
        return;
    close_socket(s);
    if (s->found != NULL)
        freeaddrinfo(s->found);
    SSL_free(s->ssl);
    SSL_CTX_free(s->ctx);
    if (s->out.at != NULL) /* it began with a password */
        explicit_bzero(s->out.at, s->out.cap);
    buf_fini(&s->out);
    buf_fini(&s->wire);
    explicit_bzero(s->address.password, sizeof s->address.password);
    free(s);
}

static enum status lost(struct redis_stream *s, const char *why)
{
    s->state = STREAM_LOST;
    close_socket(s);
    snprintf(s->error, sizeof s->error, "%s", why);
    return STATUS_CLOSED;
}

struct buf *redis_stream_out(struct redis_stream *s)
{
    return &s->out;
}

int redis_stream_fd(const struct redis_stream *s)
{
    return s->fd;
}

const char *redis_stream_error(const struct redis_stream *s)
{
    return s->error;
}

/* Before the handshake is over nothing of the caller's can be encrypted. */
static bool can_send(const struct redis_stream *s)
{
    if (s->ssl == NULL)
        return s->out.len > s->sent;
    return s->wire.len > s->sent ||
           (s->out.len > 0 && SSL_is_init_finished(s->ssl));
}

short redis_stream_events(const struct redis_stream *s)
{
    if (s->state == STREAM_CONNECTING)
        return POLLOUT;
    return (short)(POLLIN | (can_send(s) ? POLLOUT : 0));
}

/* ---- TLS ---- */

static enum status tls_failed(struct redis_stream *s)
{
    const char *why = ERR_reason_error_string(ERR_peek_error());
    long verify = s->ssl != NULL ? SSL_get_verify_result(s->ssl) : X509_V_OK;
    char text[160];

    if (verify != X509_V_OK)
        why = X509_verify_cert_error_string(verify);
    snprintf(text, sizeof text, "TLS: %s", why != NULL ? why : "it failed");
    ERR_clear_error();
    return lost(s, text);
}

static bool is_ip(const char *host)
{
    unsigned char any[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, any) == 1 ||
           inet_pton(AF_INET6, host, any) == 1;
}

static enum status tls_begin(struct redis_stream *s)
{
    const char *host = s->address.host;
    X509_VERIFY_PARAM *check;
    bool named = !is_ip(host);

    secret_held();
    s->ctx = SSL_CTX_new(TLS_client_method());
    if (s->ctx == NULL || SSL_CTX_set_default_verify_paths(s->ctx) != 1)
        return tls_failed(s);
    SSL_CTX_set_min_proto_version(s->ctx, TLS1_2_VERSION);
    SSL_CTX_set_verify(s->ctx, SSL_VERIFY_PEER, NULL);
    s->ssl = SSL_new(s->ctx);
    s->tls_in = BIO_new(BIO_s_mem());
    s->tls_out = BIO_new(BIO_s_mem());
    if (s->ssl == NULL || s->tls_in == NULL || s->tls_out == NULL)
        mem_out(0);
    SSL_set_bio(s->ssl, s->tls_in, s->tls_out);
    check = SSL_get0_param(s->ssl);
    if ((named ? X509_VERIFY_PARAM_set1_host(check, host, 0)
               : X509_VERIFY_PARAM_set1_ip_asc(check, host)) != 1 ||
        (named && SSL_set_tlsext_host_name(s->ssl, host) != 1))
        return tls_failed(s);
    SSL_set_connect_state(s->ssl);
    return STATUS_OK;
}

static bool tls_waits(struct redis_stream *s, int got)
{
    int e = SSL_get_error(s->ssl, got);

    return e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE;
}

/* Encrypt what the caller gave, and move what OpenSSL wants to send to
 * `wire`. */
static enum status tls_seal(struct redis_stream *s)
{
    size_t taken = 0;
    int n;

    while (taken < s->out.len) {
        size_t left = s->out.len - taken;

        n = SSL_write(s->ssl, s->out.at + taken,
                      (int)(left < IN_CHUNK ? left : IN_CHUNK));
        if (n <= 0 && !tls_waits(s, n))
            return tls_failed(s);
        if (n <= 0)
            break;
        taken += (size_t)n;
    }
    if (s->out.len == 0 && !SSL_is_init_finished(s->ssl)) {
        n = SSL_do_handshake(s->ssl);
        if (n <= 0 && !tls_waits(s, n))
            return tls_failed(s);
    }
    if (taken > 0) {
        memmove(s->out.at, s->out.at + taken, s->out.len - taken);
        buf_truncate(&s->out, s->out.len - taken);
    }
    while ((n = (int)BIO_ctrl_pending(s->tls_out)) > 0) {
        char *to = buf_room(&s->wire, (size_t)n);

        if (to == NULL || BIO_read(s->tls_out, to, n) != n)
            return lost(s, "the server does not read what it is sent");
        buf_grew(&s->wire, (size_t)n);
    }
    return STATUS_OK;
}

static enum status tls_unseal(struct redis_stream *s, struct bytes octets,
                              void (*take)(void *, struct bytes), void *ctx)
{
    char text[16384];
    int n;

    if (BIO_write(s->tls_in, octets.at, (int)octets.len) != (int)octets.len)
        mem_out(octets.len);
    while ((n = SSL_read(s->ssl, text, sizeof text)) > 0)
        take(ctx, bytes_of(text, (size_t)n));
    if (SSL_get_error(s->ssl, n) == SSL_ERROR_ZERO_RETURN)
        return lost(s, "the server closed the connection");
    return tls_waits(s, n) ? STATUS_OK : tls_failed(s);
}

/* ---- connecting ---- */

static int begin_unix(const struct redis_address *a)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    memcpy(to.sun_path, a->path, sizeof to.sun_path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        int e = errno;

        close(fd);
        errno = e;
        return -1;
    }
    return fd;
}

static enum status find_host(struct redis_stream *s)
{
    const struct addrinfo want = {.ai_socktype = SOCK_STREAM,
                                  .ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV};
    const struct addrinfo numeric = {.ai_socktype = SOCK_STREAM,
                                     .ai_flags =
                                         AI_NUMERICHOST | AI_NUMERICSERV};
    char port[8];
    int e;

    snprintf(port, sizeof port, "%u", s->address.port);
    e = getaddrinfo(s->address.host, port,
                    is_ip(s->address.host) ? &numeric : &want, &s->found);
    if (e != 0) {
        s->found = NULL;
        return lost(s, gai_strerror(e));
    }
    s->next = s->found;
    return STATUS_OK;
}

/* Begin with the next address; STATUS_CLOSED: there is none left, and `e` is
 * why the last one failed. */
static enum status try_next(struct redis_stream *s, int e)
{
    int on = 1;

    close_socket(s);
    for (; s->next != NULL; s->next = s->next->ai_next) {
        s->fd = socket(s->next->ai_family,
                       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (s->fd >= 0) {
            (void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            if (connect(s->fd, s->next->ai_addr, s->next->ai_addrlen) == 0 ||
                errno == EINPROGRESS) {
                s->next = s->next->ai_next;
                return STATUS_OK;
            }
        }
        e = errno;
        close_socket(s);
    }
    return lost(s, strerror(e));
}

static enum status connect_turn(struct redis_stream *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLOUT};
    socklen_t size = sizeof(int);
    enum status st = STATUS_OK;
    int e = 0;

    if (s->fd < 0 && s->address.is_unix) {
        s->fd = begin_unix(&s->address);
        if (s->fd < 0)
            return lost(s, strerror(errno));
    } else if (s->fd < 0) {
        st = find_host(s);
        return st == STATUS_OK ? try_next(s, ENETUNREACH) : st;
    }
    if (poll(&p, 1, 0) <= 0)
        return STATUS_OK;
    if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &e, &size) != 0)
        e = errno;
    if (e != 0)
        return try_next(s, e);
    s->state = STREAM_TALKING;
    return s->address.tls ? tls_begin(s) : STATUS_OK;
}

/* ---- octets out and in ---- */

static enum status send_some(struct redis_stream *s)
{
    struct buf *b = s->ssl != NULL ? &s->wire : &s->out;

    while (s->sent < b->len) {
        ssize_t n =
            send(s->fd, b->at + s->sent, b->len - s->sent, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return STATUS_OK;
        if (n < 0)
            return lost(s, strerror(errno));
        s->sent += (size_t)n;
    }
    buf_clear(b);
    s->sent = 0;
    return STATUS_OK;
}

static enum status receive_some(struct redis_stream *s,
                                void (*take)(void *, struct bytes), void *ctx)
{
    char in[IN_CHUNK];
    enum status st = STATUS_OK;

    for (int i = 0; i < TURN_MOST && st == STATUS_OK; i++) {
        ssize_t n = recv(s->fd, in, sizeof in, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0)
            return lost(s, strerror(errno));
        if (n == 0)
            return lost(s, "the server closed the connection");
        if (s->ssl != NULL)
            st = tls_unseal(s, bytes_of(in, (size_t)n), take, ctx);
        else
            take(ctx, bytes_of(in, (size_t)n));
    }
    return st;
}

enum status redis_stream_turn(struct redis_stream *s,
                              void (*take)(void *ctx, struct bytes octets),
                              void *ctx)
{
    enum status st = STATUS_OK;

    if (s->state == STREAM_CONNECTING)
        st = connect_turn(s);
    if (st != STATUS_OK || s->state != STREAM_TALKING)
        return s->state == STREAM_LOST ? STATUS_CLOSED : st;
    if (s->out.failed)
        return lost(s, "the server does not read what it is sent");
    if (s->ssl != NULL)
        st = tls_seal(s);
    if (st == STATUS_OK)
        st = send_some(s);
    if (st == STATUS_OK)
        st = receive_some(s, take, ctx);
    if (st == STATUS_OK && s->ssl != NULL) { /* the handshake goes on */
        st = tls_seal(s);
        if (st == STATUS_OK)
            st = send_some(s);
    }
    return st;
}
