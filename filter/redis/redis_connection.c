/* SPDX-License-Identifier: MIT */
/*
 * redis_connection.c - a Redis server that runs scripts for a caller who waits.
 *
 *   CLOSED --connect, sign in--> OPEN --error, time-out--> CLOSED
 *
 * A node of a Redis Cluster that lacks a key names the one that has it (MOVED,
 * or ASK while a slot moves; the cluster specification, "MOVED Redirection").
 * We go there and stay. If the connection is lost, we begin again where the URL
 * says, as the node we were sent to may be gone for good.
 *
 * A server that sends an octet a second must not hold its caller for ever: each
 * wait has a deadline for the whole answer.
 */

#include "filter/redis/redis_connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/process/sandbox.h"
#include "base/status.h"
#include "filter/redis/redis_place.h"
#include "filter/redis/redis_reply.h"

/*
 * One connection to a Redis server: signs in, learns what the
 * server is, sends commands and gives their replies in order, without waiting.
 *
 * It connects once; its owner makes another one when it is lost. A server that
 * was restarted, and may have forgotten what it had not saved, has another run
 * ID. Threads: one.
 *
 *   AUTH --> SELECT --> INFO --> READY
 *
 * Each goes out when the one before it was accepted, so that a server which
 * refuses us hears no more from us.
 */

struct redis_link;

/*
 * Octets to and from a Redis server, over TCP, TLS or a Unix
 * socket, without waiting.
 *
 * Looking up a host's name waits for the resolver; nothing else waits. With TLS
 * the certificate must be valid for the host and lead to a root of the system
 * (SSL_CERT_FILE and SSL_CERT_DIR name others). Threads: one.
 *
 * CONNECTING --an address answers--> TALKING --end, error--> LOST
 *        '-------- none does --------------------------------> LOST
 *
 * TLS works on two buffers in memory, between which and the socket we carry the
 * octets: OpenSSL's own writes would raise SIGPIPE, and hiredis knows TLS only
 * in releases that Debian 12 does not have.
 */

struct redis_stream;

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

/* Never NULL; begins to connect with the first turn. */
static struct redis_stream *redis_stream_new(const struct redis_address *a)
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

/* NULL is fine */
static void redis_stream_free(struct redis_stream *s)
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

static enum status link_lost(struct redis_stream *s, const char *why)
{
    s->state = STREAM_LOST;
    close_socket(s);
    snprintf(s->error, sizeof s->error, "%s", why);
    return STATUS_CLOSED;
}

/* What is to be sent; the caller appends to it at any time. */
static struct buf *redis_stream_out(struct redis_stream *s)
{
    return &s->out;
}

/* For poll(2); fd -1: before the first turn, or link_lost. */
static int redis_stream_fd(const struct redis_stream *s)
{
    return s->fd;
}

static const char *redis_stream_error(const struct redis_stream *s)
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

static short redis_stream_events(const struct redis_stream *s)
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
    return link_lost(s, text);
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
            return link_lost(s, "the server does not read what it is sent");
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
        return link_lost(s, "the server closed the connection");
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
        return link_lost(s, gai_strerror(e));
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
    return link_lost(s, strerror(e));
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
            return link_lost(s, strerror(errno));
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
            return link_lost(s, strerror(errno));
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
            return link_lost(s, strerror(errno));
        if (n == 0)
            return link_lost(s, "the server closed the connection");
        if (s->ssl != NULL)
            st = tls_unseal(s, bytes_of(in, (size_t)n), take, ctx);
        else
            take(ctx, bytes_of(in, (size_t)n));
    }
    return st;
}

/* Connect, send and receive as far as it goes now, and pass what came to
 * `take`. STATUS_CLOSED: link_lost, for good; redis_stream_error() says why. */
static enum status redis_stream_turn(struct redis_stream *s,
                                     void (*take)(void *ctx,
                                                  struct bytes octets),
                                     void *ctx)
{
    enum status st = STATUS_OK;

    if (s->state == STREAM_CONNECTING)
        st = connect_turn(s);
    if (st != STATUS_OK || s->state != STREAM_TALKING)
        return s->state == STREAM_LOST ? STATUS_CLOSED : st;
    if (s->out.failed)
        return link_lost(s, "the server does not read what it is sent");
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

enum greeting { GREET_AUTH, GREET_SELECT, GREET_INFO, GREET_READY };

struct redis_link {
    struct redis_stream *stream;
    struct redis_reader reader;
    struct redis_address address;
    enum greeting greeting; /* whose reply comes next */
    struct redis_info info;
    char error[256];
};

/* Send one command, once it is ready; any number may be under way. */
static void redis_link_send(struct redis_link *l, const struct bytes *words,
                            size_t n)
{
    redis_command_write(redis_stream_out(l->stream), words, n);
}

static void send_auth(struct redis_link *l)
{
    const struct redis_address *a = &l->address;
    struct bytes words[3] = {bytes_of_str("AUTH"), bytes_of_str(a->user),
                             bytes_of_str(a->password)};

    if (a->user[0] == '\0')
        words[1] = words[2];
    redis_link_send(l, words, a->user[0] == '\0' ? 2 : 3);
}

static void send_select(struct redis_link *l)
{
    char db[16];
    const struct bytes words[2] = {
        bytes_of_str("SELECT"),
        bytes_of(db, (size_t)snprintf(db, sizeof db, "%u", l->address.db))};

    redis_link_send(l, words, 2);
}

/* Send `g`, or the first after it that is needed. */
static void greet(struct redis_link *l, enum greeting g)
{
    const struct bytes info = bytes_of_str("INFO");

    if (g == GREET_AUTH && l->address.password[0] == '\0')
        g = GREET_SELECT;
    if (g == GREET_SELECT && l->address.db == 0)
        g = GREET_INFO;
    l->greeting = g;
    if (g == GREET_AUTH)
        send_auth(l);
    else if (g == GREET_SELECT)
        send_select(l);
    else if (g == GREET_INFO)
        redis_link_send(l, &info, 1);
}

static struct redis_link *redis_link_new(const struct redis_address *a)
{
    struct redis_link *l = xcalloc(1, sizeof *l);

    l->address = *a;
    l->stream = redis_stream_new(a);
    redis_reader_init(&l->reader);
    greet(l, GREET_AUTH);
    return l;
}

static void redis_link_free(struct redis_link *l)
{
    if (l == NULL)
        return;
    redis_stream_free(l->stream);
    redis_reader_fini(&l->reader);
    explicit_bzero(l->address.password, sizeof l->address.password);
    free(l);
}

static enum status link_failed(struct redis_link *l, const char *why)
{
    redis_error_keep(bytes_of_str(why), l->error, sizeof l->error);
    return STATUS_CLOSED;
}

/* The next reply, an error reply too, for freeReplyObject(). STATUS_AGAIN: not
 * there yet. STATUS_CLOSED: it is not in the protocol, or too long. */
static enum status redis_link_next(struct redis_link *l, redisReply **out)
{
    enum status st = redis_reader_next(&l->reader, out);

    if (st == STATUS_FORMAT)
        return link_failed(l,
                           "the server's answer is not in its protocol, or too "
                           "long");
    return st;
}

/* ---- signing in ---- */

static enum status take_info(struct redis_link *l, const redisReply *r)
{
    if (r->type == REDIS_REPLY_STRING)
        redis_info_read(&l->info, bytes_of(r->str, (size_t)r->len));
    if (l->info.run_id[0] == '\0')
        return link_failed(l, "the server does not say its run_id in INFO");
    if (l->info.loading) /* while loading, it answers INFO and nothing else */
        return link_failed(l, "the server is loading its data");
    return STATUS_OK;
}

static enum status take_greeting(struct redis_link *l, const redisReply *r)
{
    enum status st = STATUS_OK;

    if (r->type == REDIS_REPLY_ERROR) {
        struct bytes text = bytes_of(r->str, (size_t)r->len);

        st = redis_error_status(text);
        redis_error_keep(text, l->error, sizeof l->error);
        return st == STATUS_AGAIN ? STATUS_ARG : st; /* no script is meant */
    }
    if (l->greeting == GREET_INFO)
        st = take_info(l, r);
    if (st == STATUS_OK)
        greet(l, l->greeting + 1);
    return st;
}

/* Signed in, and the server has said what it is? */
static bool redis_link_is_ready(const struct redis_link *l)
{
    return l->greeting == GREET_READY;
}

static void feed(void *ctx, struct bytes octets)
{
    struct redis_link *l = ctx;

    /* Out of memory is the reader's error, which redis_link_next() gives. */
    (void)redisReaderFeed(l->reader.r, octets.at, octets.len);
}

/* Do what can be done now. STATUS_OK; STATUS_CLOSED: the connection is lost, or
 * the server is not ready (loading, too many clients); another status of
 * redis_error_status(): it refuses us (password, database, rights). After an
 * error only error() and free() are of use. */
static enum status redis_link_turn(struct redis_link *l)
{
    enum status stream = redis_stream_turn(l->stream, feed, l);
    enum status st = STATUS_OK;
    redisReply *r;

    while (st == STATUS_OK && l->greeting != GREET_READY) {
        r = NULL;
        st = redis_link_next(l, &r);
        if (st == STATUS_OK) {
            st = take_greeting(l, r);
            freeReplyObject(r);
        }
    }
    if (st != STATUS_OK && st != STATUS_AGAIN)
        return st; /* its own words say more than the end of the connection */
    if (stream != STATUS_OK)
        return link_failed(l, redis_stream_error(l->stream));
    return STATUS_OK;
}

/* ---- asking ---- */

static const struct redis_info *redis_link_info(const struct redis_link *l)
{
    return &l->info;
}

/* For poll(2); fd -1: turn first. */
static int redis_link_fd(const struct redis_link *l)
{
    return redis_stream_fd(l->stream);
}

static short redis_link_events(const struct redis_link *l)
{
    return redis_stream_events(l->stream);
}

/* The last failure in words, without secrets; "" before the first. */
static const char *redis_link_error(const struct redis_link *l)
{
    return l->error;
}

#define FIRST_WAIT (100 * NS_PER_MS)
#define MOST_WAIT  (30 * NS_PER_S)
#define SHA_SIZE   40
#define ARGS_MOST  48

struct redis_connection {
    struct redis_place place;  /* its host and port are those of now */
    struct redis_address home; /* the address in the URL */
    bool asking;               /* the next script must follow ASKING */
    int64_t patience;          /* ns */
    struct redis_link *link;   /* NULL: closed */
    int64_t wait;              /* ns, before the try after the next failure */
    int64_t next_try;          /* clock_mono() */
    char run_id[REDIS_RUN_ID_SIZE];
    char sha[LINK_SCRIPTS][SHA_SIZE + 1]; /* "": not loaded */
    bool may_evict, is_logged;
    char error[256];
};

struct redis_connection *redis_connection_new(const struct redis_place *place,
                                              int64_t patience_ms)
{
    struct redis_connection *l = xcalloc(1, sizeof *l);

    l->place = *place;
    l->home = place->at;
    l->patience = patience_ms * NS_PER_MS;
    return l;
}

static void close_link(struct redis_connection *l)
{
    redis_link_free(l->link);
    l->link = NULL;
    memset(l->sha, 0, sizeof l->sha);
}

void redis_connection_free(struct redis_connection *l)
{
    if (l == NULL)
        return;
    close_link(l);
    explicit_bzero(l->place.at.password, sizeof l->place.at.password);
    explicit_bzero(l->home.password, sizeof l->home.password);
    free(l);
}

/* ---- messages and waits ---- */

static void wait_longer(struct redis_connection *l)
{
    uint32_t random = 0;
    int64_t half;

    if (l->wait == 0)
        l->wait = FIRST_WAIT;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random = UINT32_C(1) << 31;
    half = l->wait / 2;
    l->next_try =
        clock_mono() + half + (int64_t)((double)half * random / UINT32_MAX);
    l->wait = l->wait * 2 < MOST_WAIT ? l->wait * 2 : MOST_WAIT;
}

void redis_connection_lose(struct redis_connection *l)
{
    close_link(l);
    l->place.at = l->home;
    l->asking = false;
    wait_longer(l);
}

static enum status lost(struct redis_connection *l, const char *why)
{
    redis_error_keep(bytes_of_str(why), l->error, sizeof l->error);
    redis_connection_lose(l);
    return STATUS_CLOSED;
}

bool redis_connection_is_open(const struct redis_connection *l)
{
    return l->link != NULL;
}

bool redis_connection_is_due(const struct redis_connection *l)
{
    return l->link != NULL || clock_mono() >= l->next_try;
}

const char *redis_connection_run_id(const struct redis_connection *l)
{
    return l->run_id;
}

const char *redis_connection_error(const struct redis_connection *l)
{
    return l->error;
}

bool redis_connection_may_evict(const struct redis_connection *l)
{
    return l->may_evict;
}

bool redis_connection_is_logged(const struct redis_connection *l)
{
    return l->is_logged;
}

/* ---- octets out and in ---- */

/* Let the connection do its work until something comes, at most until
 * `deadline`. */
static enum status connection_work(struct redis_connection *l, int64_t deadline)
{
    struct pollfd p = {.fd = redis_link_fd(l->link),
                       .events = redis_link_events(l->link)};
    int64_t left = deadline - clock_mono();
    enum status st;

    if (left <= 0)
        return lost(l, "no answer in time");
    if (p.fd >= 0)
        (void)poll(&p, 1, (int)(left / NS_PER_MS) + 1);
    st = redis_link_turn(l->link);
    if (st != STATUS_OK)
        snprintf(l->error, sizeof l->error, "%s", redis_link_error(l->link));
    return st;
}

static int64_t answer_deadline(const struct redis_connection *l)
{
    return clock_mono() + l->place.timeout_ms * NS_PER_MS;
}

/* Read the next whole answer. What came before a connection ended counts. */
static enum status read_answer(struct redis_connection *l, redisReply **out)
{
    int64_t deadline = answer_deadline(l);
    enum status st = redis_link_next(l->link, out), end = STATUS_OK;

    while (st == STATUS_AGAIN && end == STATUS_OK) {
        end = connection_work(l, deadline);
        if (l->link == NULL)
            return end;
        st = redis_link_next(l->link, out);
    }
    if (st == STATUS_OK)
        return STATUS_OK;
    return lost(l, redis_link_error(l->link));
}

/* Go to the node that a redirection names. STATUS_AGAIN: repeat the call. */
static enum status connection_follow(struct redis_connection *l,
                                     struct bytes text)
{
    struct redis_spot spot;
    bool ask;

    if (redis_redirect_read(text, &ask, &spot) != STATUS_OK ||
        spot.host.len >= sizeof l->place.at.host || l->place.at.is_unix)
        return STATUS_ARG;
    close_link(l);
    if (spot.host.len > 0)
        snprintf(l->place.at.host, sizeof l->place.at.host, "%.*s",
                 (int)spot.host.len, spot.host.at);
    l->place.at.port = spot.port;
    l->asking = ask;
    return STATUS_AGAIN;
}

static enum status receive(struct redis_connection *l, redisReply **out)
{
    redisReply *r = NULL;
    enum status st = read_answer(l, &r);
    struct bytes text;

    if (st != STATUS_OK || r->type != REDIS_REPLY_ERROR) {
        *out = r;
        return st;
    }
    text = bytes_of(r->str, (size_t)r->len);
    st = redis_error_status(text);
    redis_error_keep(text, l->error, sizeof l->error);
    if (st == STATUS_NOT_FOUND)
        st = connection_follow(l, text);
    else if (bytes_starts_with(text, "CROSSSLOT"))
        snprintf(l->error, sizeof l->error,
                 "in a Redis Cluster the keys of a filter are together only if "
                 "its name has a tag: key={%.64s}",
                 l->place.key);
    freeReplyObject(r);
    if (st == STATUS_CLOSED)
        redis_connection_lose(l);
    return st;
}

/* ---- connecting ---- */

static void learn(struct redis_connection *l)
{
    const struct redis_info *info = redis_link_info(l->link);

    memcpy(l->run_id, info->run_id, sizeof l->run_id);
    l->may_evict = info->may_evict;
    l->is_logged = info->is_logged;
}

static enum status connect_once(struct redis_connection *l)
{
    int64_t deadline = answer_deadline(l);
    enum status st = STATUS_OK;

    l->link = redis_link_new(&l->place.at);
    while (st == STATUS_OK && !redis_link_is_ready(l->link)) {
        st = connection_work(l, deadline);
        if (l->link == NULL)
            return st;
    }
    if (st == STATUS_OK)
        learn(l);
    else
        redis_connection_lose(l);
    return st;
}

static void sleep_until(int64_t when)
{
    int64_t left = when - clock_mono();
    struct timespec t = {.tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S};

    if (left > 0)
        (void)nanosleep(&t, NULL);
}

int64_t redis_connection_patience(const struct redis_connection *l)
{
    return l->patience;
}

enum status redis_connection_ready(struct redis_connection *l)
{
    int64_t deadline = clock_mono() + l->patience;
    enum status st = STATUS_CLOSED;

    while (l->link == NULL) {
        if (!redis_connection_is_due(l)) {
            if (l->next_try > deadline)
                return STATUS_CLOSED;
            sleep_until(l->next_try);
        }
        st = connect_once(l);
        if (st != STATUS_CLOSED)
            return st;
    }
    return STATUS_OK;
}

/* ---- scripts ---- */

static enum status connection_load(struct redis_connection *l,
                                   const struct redis_script *s)
{
    const struct bytes words[3] = {bytes_of_str("SCRIPT"), bytes_of_str("LOAD"),
                                   bytes_of_str(s->text)};
    redisReply *r = NULL;
    enum status st;

    redis_link_send(l->link, words, 3);
    st = receive(l, &r);
    if (st != STATUS_OK || r == NULL)
        return st;
    if (r->type != REDIS_REPLY_STRING || r->len != SHA_SIZE)
        st = lost(l, "SCRIPT LOAD is not answered by a digest");
    else
        memcpy(l->sha[s->number], r->str, SHA_SIZE + 1);
    freeReplyObject(r);
    return st;
}

static enum status connection_append(struct redis_connection *l,
                                     const struct redis_script *s,
                                     const struct bytes *keys, size_t nkeys,
                                     const struct bytes *args, size_t nargs)
{
    struct bytes words[ARGS_MOST] = {bytes_of_str("EVALSHA"),
                                     bytes_of(l->sha[s->number], SHA_SIZE)};
    char count[16];

    if (nkeys + nargs + 3 > ARGS_MOST)
        return STATUS_ARG;
    snprintf(count, sizeof count, "%zu", nkeys);
    words[2] = bytes_of_str(count);
    if (nkeys > 0)
        memcpy(words + 3, keys, nkeys * sizeof *keys);
    if (nargs > 0)
        memcpy(words + 3 + nkeys, args, nargs * sizeof *args);
    redis_link_send(l->link, words, 3 + nkeys + nargs);
    return STATUS_OK;
}

/* What does not go out now does so while the answer is waited for. */
static enum status flush_out(struct redis_connection *l)
{
    enum status st = redis_link_turn(l->link);

    return st == STATUS_OK ? STATUS_OK : lost(l, redis_link_error(l->link));
}

enum status redis_connection_send(struct redis_connection *l,
                                  const struct redis_script *s,
                                  const struct bytes *keys, size_t nkeys,
                                  const struct bytes *args, size_t nargs)
{
    enum status st = redis_connection_ready(l);

    if (st == STATUS_OK && (l->sha[s->number][0] == '\0' || l->asking))
        return STATUS_AGAIN; /* not loaded yet: run it alone first */
    if (st == STATUS_OK)
        st = connection_append(l, s, keys, nkeys, args, nargs);
    return st == STATUS_OK ? flush_out(l) : st;
}

enum status redis_connection_receive(struct redis_connection *l,
                                     redisReply **out)
{
    enum status st = l->link != NULL ? receive(l, out) : STATUS_CLOSED;

    if (st == STATUS_OK)
        l->wait = 0;
    return st;
}

static enum status say_asking(struct redis_connection *l)
{
    const struct bytes word = bytes_of_str("ASKING");
    redisReply *r = NULL;
    enum status st;

    l->asking = false;
    redis_link_send(l->link, &word, 1);
    st = receive(l, &r);
    freeReplyObject(r);
    return st;
}

enum status redis_connection_run(struct redis_connection *l,
                                 const struct redis_script *s,
                                 const struct bytes *keys, size_t nkeys,
                                 const struct bytes *args, size_t nargs,
                                 redisReply **out)
{
    enum status st = STATUS_AGAIN;

    /* Once more after SCRIPT FLUSH or a redirection, or after both. */
    for (int i = 0; st == STATUS_AGAIN && i < 3; i++) {
        st = redis_connection_ready(l);
        if (st == STATUS_OK && l->sha[s->number][0] == '\0')
            st = connection_load(l, s);
        if (st == STATUS_OK && l->asking)
            st = say_asking(l);
        if (st == STATUS_OK)
            st = connection_append(l, s, keys, nkeys, args, nargs);
        if (st == STATUS_OK)
            st = receive(l, out);
        if (st == STATUS_AGAIN)
            l->sha[s->number][0] = '\0';
    }
    if (st == STATUS_OK)
        l->wait = 0;
    return st;
}
