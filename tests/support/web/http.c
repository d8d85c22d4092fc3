/* SPDX-License-Identifier: MIT */
/*
 * http.c - listening, and the loop.
 *
 * There is a socket for each address rather than one for all: only addresses of
 * the web answer, and others refuse connections like a dead host.
 */
#include "tests/support/web/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tests/support/web/conn.h"

#define EVENTS       256
#define FLUSH_NS     (100 * NS_PER_MS)
#define PORT_GUESSES 20

struct listener {
    enum source source; /* SOURCE_LISTENER */
    int fd;
    uint32_t host;
};

struct server {
    struct hub hub;
    struct listener *listeners;
    uint32_t listening;
    enum source signal_source, stdin_source;
    int signals;
    uint16_t port;
    bool log_asked; /* write the journal, then call `logged` */
    bool ending;
};

/* ---- listening ----------------------------------------------------------- */

/* A listening socket; negative: errno, so that a taken port can be told. */
static int listen_on(uint32_t address, uint16_t *port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_port = htons(*port),
                             .sin_addr.s_addr = htonl(address)};
    socklen_t len = sizeof sa;
    int on = 1, err;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&sa, len) == 0 && listen(fd, 1024) == 0 &&
        getsockname(fd, (struct sockaddr *)&sa, &len) == 0) {
        *port = ntohs(sa.sin_port);
        return fd;
    }
    err = -errno;
    close(fd);
    return err;
}

static void stop_listening(struct server *s)
{
    for (uint32_t i = 0; i < s->listening; i++)
        close(s->listeners[i].fd);
    s->listening = 0;
}

/* All addresses on one port. Negative: errno. */
static int listen_all(struct server *s, uint16_t port)
{
    const struct http_options *o = s->hub.o;

    for (uint32_t i = 0; i < o->count; i++) {
        struct listener *l = &s->listeners[i];
        int fd = listen_on(o->addresses[i], &port);

        if (fd < 0) {
            stop_listening(s);
            return fd;
        }
        *l = (struct listener){SOURCE_LISTENER, fd, i};
        s->listening++;
    }
    s->port = port;
    return 0;
}

/* Port 0: one that is free on the first address may be taken on another, so
 * it is tried a few times. */
static enum status start_listening(struct server *s)
{
    struct epoll_event e = {.events = EPOLLIN};
    int err = -1;

    for (int i = 0; i < PORT_GUESSES && err < 0; i++) {
        err = listen_all(s, s->hub.o->port);
        if (s->hub.o->port != 0 || err != -EADDRINUSE)
            break;
    }
    if (err < 0) {
        fprintf(stderr, "site: cannot listen: %s\n", strerror(-err));
        return err == -EADDRINUSE ? STATUS_BUSY : STATUS_IO;
    }
    for (uint32_t i = 0; i < s->listening; i++) {
        e.data.ptr = &s->listeners[i];
        if (epoll_ctl(s->hub.epoll, EPOLL_CTL_ADD, s->listeners[i].fd, &e) < 0)
            return STATUS_IO;
    }
    return STATUS_OK;
}

static void raise_file_limit(void)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
        most.rlim_cur = most.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &most);
    }
}

/* ---- the loop ------------------------------------------------------------ */

static void accept_all(struct server *s, const struct listener *l)
{
    for (int i = 0; i < 64; i++) {
        int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0)
            return;
        conn_open(&s->hub, fd, l->host);
    }
}

/* The guard's pipe: when it ends, the program that started us is gone. */
static void read_stdin(struct server *s)
{
    char drop[256];

    if (read(STDIN_FILENO, drop, sizeof drop) <= 0)
        s->ending = true;
}

static void read_signals(struct server *s)
{
    struct signalfd_siginfo one;

    while (read(s->signals, &one, sizeof one) == (ssize_t)sizeof one) {
        if (one.ssi_signo == SIGUSR1)
            s->log_asked = true;
        else
            s->ending = true;
    }
}

static void dispatch(struct server *s, const struct epoll_event *e)
{
    switch (*(enum source *)e->data.ptr) {
    case SOURCE_LISTENER:
        accept_all(s, e->data.ptr);
        return;
    case SOURCE_CONN:
        conn_event(&s->hub, e->data.ptr, e->events);
        return;
    case SOURCE_SIGNAL:
        read_signals(s);
        return;
    case SOURCE_STDIN:
        read_stdin(s);
        return;
    }
}

static void run_timers(struct server *s, int64_t now)
{
    struct heap_item *t = heap_top(&s->hub.timers);

    for (; t != NULL && t->key <= now; t = heap_top(&s->hub.timers))
        conn_timer(&s->hub, heap_pop(&s->hub.timers));
}

/* Milliseconds until the next thing to do, rounded up. */
static int time_left(const struct server *s, int64_t now, int64_t flush_at)
{
    const struct heap_item *t = heap_top(&s->hub.timers);
    int64_t at = t != NULL && t->key < flush_at ? t->key : flush_at;

    return at <= now ? 0 : (int)((at - now + NS_PER_MS - 1) / NS_PER_MS);
}

static void loop(struct server *s)
{
    struct epoll_event events[EVENTS];
    int64_t now = clock_mono(), flush_at = now + FLUSH_NS;
    int64_t end = now + s->hub.o->max_time_ns;

    while (!s->ending && now < end) {
        int n = epoll_wait(s->hub.epoll, events, EVENTS,
                           time_left(s, now, flush_at));

        for (int i = 0; i < n; i++)
            dispatch(s, &events[i]);
        now = clock_mono();
        run_timers(s, now);
        if (now >= flush_at || s->log_asked) {
            journal_flush(s->hub.o->journal);
            flush_at = now + FLUSH_NS;
        }
        if (s->log_asked)
            s->hub.o->logged(s->hub.o->ctx);
        s->log_asked = false;
    }
    if (!s->ending)
        fprintf(stderr, "site: --max-time is over\n");
}

/* SIGTERM, SIGINT and SIGUSR1 become events: the last comes after everything
 * that had arrived before it. */
static enum status watch_ends(struct server *s)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = &s->signal_source};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    s->signal_source = SOURCE_SIGNAL;
    s->stdin_source = SOURCE_STDIN;
    s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signals < 0 ||
        epoll_ctl(s->hub.epoll, EPOLL_CTL_ADD, s->signals, &e) < 0)
        return STATUS_IO;
    e.data.ptr = &s->stdin_source;
    if (s->hub.o->stdin_guard &&
        epoll_ctl(s->hub.epoll, EPOLL_CTL_ADD, STDIN_FILENO, &e) < 0) {
        fprintf(stderr, "site: --stdin-guard needs a pipe as input\n");
        return STATUS_ARG;
    }
    return STATUS_OK;
}

enum status http_serve(const struct http_options *o)
{
    struct server s = {.hub.o = o, .hub.epoll = -1, .signals = -1};
    enum status st = STATUS_IO;

    raise_file_limit();
    heap_init(&s.hub.timers);
    answer_init(&s.hub.scratch);
    s.listeners = xcalloc(o->count, sizeof *s.listeners);
    s.hub.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (s.hub.epoll < 0)
        goto out;
    st = watch_ends(&s);
    if (st == STATUS_OK)
        st = start_listening(&s);
    if (st != STATUS_OK)
        goto out;
    o->ready(o->ctx, s.port);
    loop(&s);
out:
    conn_close_all(&s.hub);
    stop_listening(&s);
    if (s.signals >= 0)
        close(s.signals);
    if (s.hub.epoll >= 0)
        close(s.hub.epoll);
    heap_fini(&s.hub.timers);
    answer_fini(&s.hub.scratch);
    free(s.listeners);
    return st;
}
