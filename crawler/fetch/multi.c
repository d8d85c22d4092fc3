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
 * we open, whose closing we see in close_socket; other descriptors that curl
 * waits for (its resolver's) leave the set as soon as curl says so, since their
 * numbers may be reused without our knowing.
 *
 * An idle connection whose place is wanted is shut down, not closed: curl owns
 * the descriptor, finds the connection dead and closes it.
 */
#include "crawler/fetch/multi.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"

#define TRANSFER_MAGIC UINT32_C(0x7472616e) /* "tran" */
#define MULTI_MAGIC    UINT32_C(0x6d756c74) /* "mult" */
#define EVENTS_MOST    64
#define WISHES_WAIT    (100 * NS_PER_MS)

struct socket {
    uint32_t armed;  /* epoll events in the set; 0: not in it */
    uint32_t wanted; /* epoll events curl waits for; 0: idle */
    bool ours;       /* from open_socket, not closed yet */
    bool counted;    /* counts for the limit per address */
    bool tls;
    bool closing; /* shut down by us while idle */
    unsigned char address[16];
    unsigned char address_len;
    struct transfer *user; /* the transfer that used it last */
};

struct multi {
    uint32_t magic;
    CURLM *curl;
    struct multi_options o;
    int epoll, wakeup;
    int64_t timer;          /* when curl wants to be called; INT64_MAX: never */
    struct socket *sockets; /* by descriptor */
    size_t socket_count;
    struct connection_counts unread; /* if nobody wants the counts */
    long kept_most;                  /* last value given to curl; 0: none */
};

static struct multi *multi_of(void *p)
{
    struct multi *m = p;

    assert(m != NULL && m->magic == MULTI_MAGIC);
    return m;
}

static struct transfer *transfer_of(void *p)
{
    struct transfer *t = p;

    assert(t != NULL && t->magic == TRANSFER_MAGIC);
    return t;
}

/* NULL: an internal handle, which later versions of curl use to close
 * connections. */
static struct transfer *transfer_of_easy(CURL *easy)
{
    void *p = NULL;

    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &p);
    return p != NULL ? transfer_of(p) : NULL;
}

static struct socket *socket_at(struct multi *m, int fd)
{
    size_t i = (size_t)fd, count = m->socket_count;

    assert(fd >= 0);
    if (i >= count) {
        count = count > 0 ? count : 64;
        while (count <= i)
            count *= 2;
        m->sockets = xrealloc(m->sockets, count * sizeof *m->sockets);
        memset(m->sockets + m->socket_count, 0,
               (count - m->socket_count) * sizeof *m->sockets);
        m->socket_count = count;
    }
    return &m->sockets[i];
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
    struct socket *s = socket_at(m, fd);

    (void)none;
    s->wanted = 0;
    if (what == CURL_POLL_REMOVE) {
        if (!s->ours)
            arm(m, fd, s, 0);
        return 0;
    }
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

/* ---- opening and closing ------------------------------------------------- */

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

/* Is the connection idle? A paused transfer waits for nothing either, but its
 * socket is in use. */
static bool is_idle(const struct multi *m, size_t fd)
{
    const struct socket *s = &m->sockets[fd];

    return s->ours && s->wanted == 0 && s->user != NULL &&
           !(s->user->busy && s->user->fd == (int)fd);
}

/* Closes idle connections to addresses with wishes. */
static void yield_idle(struct multi *m)
{
    for (size_t fd = 0; fd < m->socket_count; fd++) {
        struct socket *s = &m->sockets[fd];

        if (!s->counted || !is_idle(m, fd) ||
            !ip_limit_yield(m->o.ip_limit, s->address, s->address_len))
            continue;
        s->counted = false;
        shutdown((int)fd, SHUT_RDWR);
    }
}

/* Closes connections when the budget has shrunk, since libcurl only closes one
 * for each that it adds. */
static void close_surplus(struct multi *m, uint64_t surplus)
{
    for (size_t fd = 0; fd < m->socket_count && surplus > 0; fd++) {
        if (!is_idle(m, fd) || m->sockets[fd].closing)
            continue;
        m->sockets[fd].closing = true;
        shutdown((int)fd, SHUT_RDWR);
        surplus--;
    }
}

/* Makes curl keep as many connections as the budget allows now. Not from within
 * a callback of curl. */
static void keep_to_budget(struct multi *m)
{
    uint64_t tls = atomic_load(&m->o.counts->tls);
    uint64_t plain = atomic_load(&m->o.counts->plain), open = tls + plain;
    long most;

    if (m->o.connections == NULL)
        return;
    most = connection_budget_most(m->o.connections, tls, plain);
    if (most != m->kept_most)
        curl_multi_setopt(m->curl, CURLMOPT_MAXCONNECTS, most);
    if (most < m->kept_most && open > (uint64_t)most)
        close_surplus(m, open - (uint64_t)most);
    m->kept_most = most;
}

static bool take_place(struct multi *m, const struct socket *s)
{
    if (ip_limit_take(m->o.ip_limit, s->address, s->address_len))
        return true;
    yield_idle(m);
    return ip_limit_take(m->o.ip_limit, s->address, s->address_len);
}

static _Atomic uint64_t *open_count(struct multi *m, const struct socket *s)
{
    return s->tls ? &m->o.counts->tls : &m->o.counts->plain;
}

/* CURLOPT_OPENSOCKETFUNCTION */
static curl_socket_t open_socket(void *ctx, curlsocktype purpose,
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
    *socket_at(m, fd) = s;
    atomic_fetch_add_explicit(open_count(m, &s), 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->o.counts->opened, 1, memory_order_relaxed);
    return fd;
}

/* CURLOPT_CLOSESOCKETFUNCTION; the kernel takes it out of the epoll set. */
static int close_socket(void *ctx, curl_socket_t fd)
{
    struct multi *m = multi_of(ctx);
    struct socket *s = socket_at(m, fd);

    if (s->counted)
        ip_limit_give(m->o.ip_limit, s->address, s->address_len);
    if (s->ours)
        atomic_fetch_sub_explicit(open_count(m, s), 1, memory_order_relaxed);
    *s = (struct socket){0};
    return close(fd);
}

/* ---- transfers ----------------------------------------------------------- */

void multi_adopt(struct multi *m, struct transfer *t)
{
    t->magic = TRANSFER_MAGIC;
    t->multi = m;
    t->fd = -1;
    curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETDATA, t);
    curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETDATA, m);
}

void multi_start(struct multi *m, struct transfer *t)
{
    t->busy = true;
    t->fd = -1;
    t->connected = t->permitted = t->refused = t->crowded = false;
    curl_multi_add_handle(m->curl, t->easy);
}

void multi_abort(struct multi *m, struct transfer *t)
{
    assert(t->busy);
    curl_multi_remove_handle(m->curl, t->easy);
    t->busy = false;
}

struct transfer *multi_next_ended(struct multi *m, CURLcode *code)
{
    CURLMsg *msg;
    int left;

    while ((msg = curl_multi_info_read(m->curl, &left)) != NULL) {
        if (msg->msg == CURLMSG_DONE) {
            struct transfer *t = transfer_of_easy(msg->easy_handle);

            *code = msg->data.result; /* invalid after the next line */
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
    struct socket *s = socket_at(m, fd);
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

    keep_to_budget(m);
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
        yield_idle(m);
}

void multi_wake(struct multi *m)
{
    const uint64_t one = 1;

    if (write(m->wakeup, &one, sizeof one) < 0)
        log_error("cannot wake a fetcher", "error=%s", strerror(errno));
}

/* ---- life ---------------------------------------------------------------- */

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
    st = open_descriptors(m);
    if (st != STATUS_OK)
        goto out;
    m->curl = curl_multi_init();
    if (m->curl == NULL) {
        st = STATUS_NOMEM;
        goto out;
    }
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
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
    if (m->epoll >= 0)
        close(m->epoll);
    if (m->wakeup >= 0)
        close(m->wakeup);
    free(m->sockets);
    free(m);
}
