/* SPDX-License-Identifier: MIT */
/*
 * wide_server.c - one epoll loop, and a wheel of responses that are not due.
 *
 *     accepted ──► handshake ──► reads ──► waits in the wheel ──► writes ──┐
 *                                  ▲                                       │
 *                                  └───────────────────────────────────────┘
 *
 * A connection that its client closes while it waits stays in the wheel until
 * its time, so that nothing has to be searched for.
 */
#include "bench/support/wide_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#define TICK_MS      INT64_C(10)
#define TICKS        2048 /* of the wheel; no response takes as long */
#define EVENTS       256
#define REQUEST_MOST 1024
#define PAGE_MOST    ((size_t)8 << 10)

struct conn {
    int fd;
    SSL *ssl; /* NULL: without TLS */
    uint32_t host, page;
    bool shaken; /* the handshake is done, or not needed */
    bool waits;  /* in the wheel */
    bool gone;   /* its client closed it while it waited */
    uint32_t events;
    size_t in_len, out_at;
    char in[REQUEST_MOST];
    struct buf out;
    struct conn *next; /* in its tick */
};

struct server {
    const struct wide_web *web;
    struct wide_log *log;
    uint32_t pages_most;
    SSL_CTX *tls;
    int epoll;
    struct conn listeners[2]; /* plain, TLS */
    struct conn *wheel[TICKS];
    int64_t tick; /* the next to be looked at */
    int64_t begun;
    int64_t *ended; /* each host's last response; 0: none */
};

/* ---- TLS ---- */

/* A key and a certificate for nobody, for a day. */
static bool make_certificate(SSL_CTX *tls)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    bool ok = key != NULL && x != NULL;

    if (ok) {
        X509_gmtime_adj(X509_getm_notBefore(x), 0);
        X509_gmtime_adj(X509_getm_notAfter(x), 86400);
        X509_set_pubkey(x, key);
        X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                                   (const unsigned char *)"bench", -1, -1, 0);
        X509_set_issuer_name(x, X509_get_subject_name(x));
        ok = X509_sign(x, key, EVP_sha256()) > 0 &&
             SSL_CTX_use_certificate(tls, x) == 1 &&
             SSL_CTX_use_PrivateKey(tls, key) == 1;
    }
    X509_free(x);
    EVP_PKEY_free(key);
    return ok;
}

/* ---- sockets ---- */

static void watch(struct server *s, struct conn *c, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = c};

    if (c->events != events)
        epoll_ctl(s->epoll, c->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD,
                  c->fd, &e);
    c->events = events;
}

static void drop(struct conn *c)
{
    close(c->fd);
    SSL_free(c->ssl);
    c->ssl = NULL;
    buf_fini(&c->out);
    if (c->waits)
        c->gone = true;
    else
        free(c);
}

/* What a call of OpenSSL that did not succeed waits for; 0: it failed. */
static uint32_t ssl_wants(const struct conn *c, int n)
{
    switch (SSL_get_error(c->ssl, n)) {
    case SSL_ERROR_WANT_READ:
        return EPOLLIN;
    case SSL_ERROR_WANT_WRITE:
        return EPOLLOUT;
    default:
        return 0;
    }
}

/* Octets moved; 0: *wants is what it waits for, or 0 if the connection is at
 * its end. */
static size_t receive(struct conn *c, char *to, size_t room, uint32_t *wants)
{
    ssize_t n;

    if (c->ssl != NULL) {
        int got = SSL_read(c->ssl, to, (int)room);

        *wants = got > 0 ? 0 : ssl_wants(c, got);
        return got > 0 ? (size_t)got : 0;
    }
    n = recv(c->fd, to, room, 0);
    *wants = n < 0 && errno == EAGAIN ? EPOLLIN : 0;
    return n > 0 ? (size_t)n : 0;
}

static size_t transmit(struct conn *c, const char *from, size_t len,
                       uint32_t *wants)
{
    ssize_t n;

    if (c->ssl != NULL) {
        int put = SSL_write(c->ssl, from, (int)len);

        *wants = put > 0 ? 0 : ssl_wants(c, put);
        return put > 0 ? (size_t)put : 0;
    }
    n = send(c->fd, from, len, MSG_NOSIGNAL);
    *wants = n < 0 && errno == EAGAIN ? EPOLLOUT : 0;
    return n > 0 ? (size_t)n : 0;
}

static bool is_up(const struct server *s, uint32_t host)
{
    int64_t ms = (clock_mono() - s->begun) / NS_PER_MS;

    switch (wide_web_kind(host)) {
    case WIDE_GOES:
        return wide_web_is_up(host, ms);
    case WIDE_CLOSES:
        return false;
    default:
        return true;
    }
}

static void accept_one(struct server *s, struct conn *listener, int fd)
{
    struct sockaddr_in a = {.sin_family = AF_UNSPEC};
    socklen_t len = sizeof a;
    struct conn *c;
    uint32_t host;
    int on = 1;

    if (getsockname(fd, (struct sockaddr *)&a, &len) != 0 ||
        !wide_web_host(s->web, ntohl(a.sin_addr.s_addr), &host) ||
        !is_up(s, host)) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c = xcalloc(1, sizeof *c);
    c->fd = fd;
    c->host = host;
    c->shaken = listener == &s->listeners[0];
    buf_init(&c->out, PAGE_MOST);
    if (!c->shaken) {
        c->ssl = SSL_new(s->tls);
        SSL_set_fd(c->ssl, fd);
        SSL_set_accept_state(c->ssl);
    }
    s->log->connections++;
    s->log->connections_tls += c->ssl != NULL;
    watch(s, c, EPOLLIN);
}

static void accept_all(struct server *s, struct conn *listener)
{
    int fd;

    while ((fd = accept4(listener->fd, NULL, NULL,
                         SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        accept_one(s, listener, fd);
}

/* ---- responses ---- */

static void add_body(const struct server *s, const struct conn *c,
                     struct buf *b)
{
    uint32_t pages = wide_web_pages(s->web, c->host);

    buf_addf(b,
             "<!DOCTYPE html><html><head><title>Page %u of host %u</title>"
             "</head><body><h1>Host %u</h1>\n<p>",
             c->page, c->host, c->host);
    for (int i = 0; i < 20; i++)
        buf_addf(b, "Paragraph %d of page %u speaks of host %u once more. ", i,
                 c->page, c->host);
    buf_add_str(b, "</p>\n<ul>\n");
    for (uint32_t to = c->page + 1; to < pages && to <= c->page + WIDE_LINKS;
         to++)
        buf_addf(b, "<li><a href='/%u'>Page %u of this host</a>\n", to, to);
    buf_add_str(b, "</ul></body></html>\n");
}

static void make_response(const struct server *s, struct conn *c)
{
    const char *status = "200 OK", *type = "text/html; charset=utf-8";
    struct buf body;

    buf_init(&body, PAGE_MOST);
    if (c->page == WIDE_ROBOTS) {
        type = "text/plain";
        buf_add_str(&body, "User-agent: *\nAllow: /\n");
    } else if (c->page < wide_web_pages(s->web, c->host)) {
        add_body(s, c, &body);
    } else {
        status = "404 Not Found";
    }
    buf_clear(&c->out);
    c->out_at = 0;
    buf_addf(&c->out,
             "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n",
             status, type, body.len);
    buf_add_bytes(&c->out, buf_bytes(&body));
    buf_fini(&body);
}

/* `when`: before it was sent, since the client may have it before we go on. */
static void note_served(struct server *s, const struct conn *c, int64_t when)
{
    unsigned char *n;

    s->ended[c->host] = when;
    if (c->page >= wide_web_pages(s->web, c->host))
        return;
    n = &s->log->served[(size_t)c->host * s->pages_most + c->page];
    *n = (unsigned char)(*n + (*n < UINT8_MAX));
    if (wide_web_lives(c->host))
        s->log->last_page = s->ended[c->host];
}

/* False: the connection was dropped. */
static bool write_out(struct server *s, struct conn *c)
{
    int64_t begun = clock_mono();
    uint32_t wants = 0;

    while (c->out_at < c->out.len) {
        size_t n =
            transmit(c, c->out.at + c->out_at, c->out.len - c->out_at, &wants);

        if (n == 0 && wants == 0) {
            drop(c);
            return false;
        }
        if (n == 0)
            break;
        c->out_at += n;
    }
    if (c->out_at == c->out.len)
        note_served(s, c, begun);
    watch(s, c, c->out_at < c->out.len ? wants : EPOLLIN);
    return true;
}

/* ---- requests ---- */

static void note_request(struct server *s, const struct conn *c)
{
    struct wide_log *log = s->log;
    int64_t now = clock_mono(), second;

    if (log->first == 0)
        log->first = now;
    if (s->ended[c->host] != 0 &&
        now - s->ended[c->host] < s->web->delay_ms * NS_PER_MS)
        log->early++;
    if (c->page < WIDE_SITEMAP && c->page >= wide_web_pages(s->web, c->host))
        log->strays++;
    if (!wide_web_lives(c->host))
        return;
    second = (now - log->first) / NS_PER_S;
    log->requests++;
    if (second < WIDE_SECONDS_MOST)
        log->by_second[second]++;
}

/* Its response is due after the time that the host takes. */
static void put_in_wheel(struct server *s, struct conn *c)
{
    int64_t ms = (clock_mono() - s->begun) / NS_PER_MS +
                 wide_web_answer_ms(s->web, c->host, c->page);
    struct conn **tick = &s->wheel[(ms / TICK_MS + 1) % TICKS];

    c->waits = true;
    c->next = *tick;
    *tick = c;
}

static uint32_t page_of(const char *request)
{
    unsigned page;

    if (strncmp(request, "GET /robots.txt ", 16) == 0)
        return WIDE_ROBOTS;
    if (strncmp(request, "GET /sitemap.xml ", 17) == 0)
        return WIDE_SITEMAP;
    return sscanf(request, "GET /%u ", &page) == 1 ? page : WIDE_SITEMAP - 1;
}

static void take_request(struct server *s, struct conn *c)
{
    c->in[c->in_len] = '\0';
    if (strstr(c->in, "\r\n\r\n") == NULL)
        return;
    c->in_len = 0;
    c->page = page_of(c->in);
    note_request(s, c);
    if (wide_web_kind(c->host) != WIDE_SILENT)
        put_in_wheel(s, c);
}

static void read_in(struct server *s, struct conn *c)
{
    uint32_t wants = 0;

    for (;;) {
        size_t room = sizeof c->in - 1 - c->in_len;
        size_t n = room > 0 ? receive(c, c->in + c->in_len, room, &wants) : 0;

        if (n == 0)
            break;
        c->in_len += n;
    }
    if (wants == 0) { /* closed, or a request that is too long */
        drop(c);
        return;
    }
    watch(s, c, wants);
    if (!c->waits)
        take_request(s, c);
}

/* Once the handshake is done, a request may be there already. */
static void shake(struct server *s, struct conn *c)
{
    int n = SSL_accept(c->ssl);
    uint32_t wants = n == 1 ? EPOLLIN : ssl_wants(c, n);

    if (wants == 0) {
        drop(c);
        return;
    }
    c->shaken = n == 1;
    if (c->shaken)
        read_in(s, c);
    else
        watch(s, c, wants);
}

/* ---- the loop ---- */

static void respond(struct server *s, struct conn *c)
{
    c->waits = false;
    if (c->gone) {
        free(c);
    } else if (!is_up(s, c->host)) {
        drop(c);
    } else {
        make_response(s, c);
        (void)write_out(s, c);
    }
}

static void turn_wheel(struct server *s)
{
    int64_t now = (clock_mono() - s->begun) / NS_PER_MS / TICK_MS;

    for (; s->tick <= now; s->tick++) {
        struct conn *c = s->wheel[s->tick % TICKS], *next;

        s->wheel[s->tick % TICKS] = NULL;
        for (; c != NULL; c = next) {
            next = c->next;
            respond(s, c);
        }
    }
}

static void handle(struct server *s, struct conn *c)
{
    if (c == &s->listeners[0] || c == &s->listeners[1])
        accept_all(s, c);
    else if (!c->shaken)
        shake(s, c);
    else if (c->out_at < c->out.len)
        (void)write_out(s, c);
    else
        read_in(s, c);
}

static _Noreturn void serve(struct server *s)
{
    struct epoll_event events[EVENTS];

    for (;;) {
        int n = epoll_wait(s->epoll, events, EVENTS, (int)TICK_MS);

        for (int i = 0; i < n; i++)
            handle(s, events[i].data.ptr);
        turn_wheel(s);
    }
}

/* ---- life ---- */

static bool listen_at(struct conn *c, uint16_t *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;

    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(c->fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        listen(c->fd, 65535) != 0 ||
        getsockname(c->fd, (struct sockaddr *)&a, &len) != 0)
        return false;
    *port = ntohs(a.sin_port);
    return true;
}

static void raise_descriptors(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

static _Noreturn void run_child(struct server *s)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    raise_descriptors();
    s->ended = xcalloc(s->web->hosts, sizeof *s->ended);
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->begun = clock_mono();
    s->tls = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_mode(s->tls, SSL_MODE_RELEASE_BUFFERS);
    if (!make_certificate(s->tls))
        _exit(1);
    watch(s, &s->listeners[0], EPOLLIN);
    watch(s, &s->listeners[1], EPOLLIN);
    serve(s);
}

static size_t log_size(const struct wide_web *w)
{
    return sizeof(struct wide_log) + (size_t)w->hosts * wide_web_pages_most(w);
}

enum status wide_server_start(struct wide_server *s, const struct wide_web *web)
{
    struct server child = {.web = &s->web};

    *s = (struct wide_server){.web = *web};
    s->log = mmap(NULL, log_size(web), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->log == MAP_FAILED)
        s->log = NULL;
    if (s->log == NULL || !listen_at(&child.listeners[0], &s->web.plain_port) ||
        !listen_at(&child.listeners[1], &s->web.tls_port)) {
        perror("bench: server");
        return STATUS_IO;
    }
    child.log = s->log;
    child.pages_most = wide_web_pages_most(web);
    fflush(stdout);
    s->pid = fork();
    if (s->pid == 0)
        run_child(&child);
    close(child.listeners[0].fd);
    close(child.listeners[1].fd);
    return s->pid > 0 ? STATUS_OK : STATUS_IO;
}

void wide_server_stop(struct wide_server *s)
{
    if (s->pid > 0) {
        kill(s->pid, SIGTERM);
        while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    s->pid = 0;
}

void wide_server_free(struct wide_server *s)
{
    wide_server_stop(s);
    if (s->log != NULL)
        munmap(s->log, log_size(&s->web));
    s->log = NULL;
}

unsigned wide_server_served(const struct wide_server *s, uint32_t host,
                            uint32_t page)
{
    size_t at = (size_t)host * wide_web_pages_most(&s->web) + page;

    return s->log->served[at];
}
