/* SPDX-License-Identifier: MIT */
/*
 * multi_connections.c - connections opened, kept and given up.
 *
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
#include "crawler/transfer/multi_parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"

struct socket *multi_socket(struct multi *m, int fd)
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

void multi_yield_idle(struct multi *m)
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

void multi_let_rest(struct multi *m, struct transfer *t)
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

void multi_keep_to_budget(struct multi *m)
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

curl_socket_t multi_open_socket(void *ctx, curlsocktype purpose,
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

int multi_close_socket(void *ctx, curl_socket_t fd)
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
