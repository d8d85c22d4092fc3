/* SPDX-License-Identifier: MIT */
/* sockets.c - sockets that are ready at given moments, and epoll sets. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "tests/sim/files.h"
#include "tests/sim/life.h"
#include "tests/sim/network.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/world.h"

#define WATCHED_MOST 512

struct watched {
    int fd; /* 0: free */
    uint32_t events;
};

struct epoll_set {
    struct watched at[WATCHED_MOST];
    unsigned count;
};

struct sim_socket *socket_of(int fd)
{
    struct handle *h = handle_of(fd);

    return h != NULL && h->kind == HANDLE_SOCKET ? h->of : NULL;
}

int sim_socket(int family, int type, int protocol)
{
    int fd = handle_new(HANDLE_SOCKET);
    struct sim_socket *s = calloc(1, sizeof *s);

    (void)family, (void)type, (void)protocol;
    s->readable_at = s->writable_at = SCHEDULER_NEVER;
    handle_of(fd)->of = s;
    return fd;
}

int sim_shutdown(int fd, int how)
{
    struct sim_socket *s = socket_of(fd);

    (void)how;
    if (s != NULL)
        s->shut = true;
    return 0;
}

int sim_eventfd(unsigned count, int flags)
{
    int fd = handle_new(HANDLE_EVENT);

    handle_of(fd)->at = count;
    handle_of(fd)->flags = flags & EFD_NONBLOCK ? O_NONBLOCK : 0;
    return fd;
}

int sim_epoll_create1(int flags)
{
    int fd = handle_new(HANDLE_EPOLL);

    (void)flags;
    handle_of(fd)->of = calloc(1, sizeof(struct epoll_set));
    return fd;
}

static struct watched *watched_of(struct epoll_set *e, int fd)
{
    for (unsigned i = 0; i < e->count; i++)
        if (e->at[i].fd == fd)
            return &e->at[i];
    return NULL;
}

void handle_unwatch(int fd)
{
    for (int i = FILES_FIRST; i < FILES_FIRST + FILES_MOST; i++) {
        const struct handle *h = handle_of(i);
        struct watched *w =
            h != NULL && h->kind == HANDLE_EPOLL ? watched_of(h->of, fd) : NULL;

        if (w != NULL) {
            struct epoll_set *e = h->of;

            *w = e->at[--e->count];
        }
    }
}

int sim_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    struct epoll_set *e = handle_of(epoll)->of;
    struct watched *w = watched_of(e, fd);

    if (op == EPOLL_CTL_DEL) {
        if (w != NULL)
            *w = e->at[--e->count];
        return 0;
    }
    if (w == NULL) {
        if (e->count == WATCHED_MOST)
            world_fault("too many descriptors in an epoll set");
        w = &e->at[e->count++];
        w->fd = fd;
    }
    w->events = event->events;
    return 0;
}

/* What is ready of one, and in *next the first moment after now at which more
 * may be. */
static uint32_t ready_of(const struct watched *w, int64_t *next)
{
    const struct handle *h = handle_of(w->fd);
    const struct sim_socket *s;
    uint32_t ready = 0;

    if (h->kind == HANDLE_EVENT)
        return h->at > 0 ? EPOLLIN : 0;
    s = h->of;
    if (s->shut)
        return EPOLLIN | EPOLLHUP;
    if (w->events & EPOLLIN) {
        if (s->readable_at <= world->mono_ns)
            ready |= EPOLLIN;
        else if (s->readable_at < *next)
            *next = s->readable_at;
    }
    if (w->events & EPOLLOUT) {
        if (s->writable_at <= world->mono_ns)
            ready |= EPOLLOUT;
        else if (s->writable_at < *next)
            *next = s->writable_at;
    }
    return ready;
}

int sim_epoll_wait(int epoll, struct epoll_event *out, int most, int timeout_ms)
{
    struct epoll_set *e = handle_of(epoll)->of;
    int64_t until = timeout_ms < 0
                        ? SCHEDULER_NEVER
                        : scheduler_mono() + timeout_ms * INT64_C(1000000);

    for (;;) {
        int64_t next = SCHEDULER_NEVER;
        int count = 0;

        for (unsigned i = 0; i < e->count && count < most; i++) {
            uint32_t ready = ready_of(&e->at[i], &next);

            if (ready == 0)
                continue;
            out[count].events = ready;
            out[count++].data.fd = e->at[i].fd;
        }
        if (count > 0)
            scheduler_busy();
        if (count > 0 || world->mono_ns >= until)
            return count;
        (void)handle_wait(next < until ? next : until, until <= next);
    }
}

/* ---- what nobody has in a simulation ---- */

int sim_getaddrinfo(const char *host, const char *service,
                    const struct addrinfo *hints, struct addrinfo **out)
{
    struct addrinfo numeric = *hints;

    numeric.ai_flags |= AI_NUMERICHOST;
    return getaddrinfo(host, service, &numeric, out);
}
