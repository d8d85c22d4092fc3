/* SPDX-License-Identifier: MIT */
/*
 * conn.c - one client connection.
 *
 *   IDLE --head complete--> WAITING --latency over--> SENDING --all sent-->
 *     ^                                                              |
 *     +---------------------- END_KEEP ------------------------------+
 *                              END_SILENT, END_ENDLESS: until the client leaves
 *
 * An answer that needs no wait and fits into the socket's buffer, as nearly all
 * do, is sent in one sendmsg from the shared scratch buffers and changes no
 * epoll registration. Only the rest is copied.
 */
#include "tests/support/web/conn.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tests/support/web/parse.h"

#define TURN_MOST ((size_t)256 << 10) /* octets to one client in one turn */
#define READ_STEP ((size_t)16 << 10)

enum state { IDLE, WAITING, SENDING, SILENT };

struct conn {
    enum source source; /* SOURCE_CONN */
    struct heap_item timer;
    struct conn *next, *before;
    int fd;
    uint32_t host;
    uint64_t id;
    enum state state;
    uint32_t watched; /* epoll events asked for */
    struct buf in;
    size_t scanned; /* octets of `in` without an end of head */
    /* The current exchange: */
    struct buf line; /* method, path */
    size_t method_len;
    struct buf out;
    size_t sent;    /* of `out` */
    size_t repeats; /* END_ENDLESS: `out` from here again */
    uint64_t octets;
    int64_t start;
    int64_t handed; /* just before the latest send */
    int status;
    enum answer_end end;
    size_t drip;
    int64_t drip_ns;
    bool keep;
};

static void watch(struct hub *h, struct conn *c, uint32_t events)
{
    struct epoll_event e = {.events = events | EPOLLRDHUP, .data.ptr = c};

    if (c->watched == events)
        return;
    c->watched = events;
    (void)epoll_ctl(h->epoll, EPOLL_CTL_MOD, c->fd, &e);
}

void conn_open(struct hub *h, int fd, uint32_t host)
{
    struct conn *c = xcalloc(1, sizeof *c);
    struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = c};

    c->source = SOURCE_CONN;
    c->fd = fd;
    c->host = host;
    c->id = ++h->opened;
    c->watched = EPOLLIN;
    buf_init(&c->in, 2 * REQUEST_HEAD_MOST);
    buf_init(&c->line, 2 * REQUEST_HEAD_MOST);
    buf_init(&c->out, 2 * ANSWER_CEILING);
    c->next = h->all;
    if (h->all != NULL)
        h->all->before = c;
    h->all = c;
    (void)epoll_ctl(h->epoll, EPOLL_CTL_ADD, fd, &e);
}

/* Records the end of an exchange, in any way. The time is taken before an
 * answer's last octets are sent: if it were taken after, a client on another
 * core might seem to send its next request before it. */
static void record(struct hub *h, struct conn *c, bool done)
{
    char address[16];
    uint32_t ip = h->o->addresses[c->host];
    struct buf b;
    const struct bytes line = buf_bytes(&c->line);

    buf_init(&b, sizeof address);
    buf_addf(&b, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255,
             ip & 255);
    journal_add(h->o->journal, &(struct arrival){
                                   .start = c->start,
                                   .end = done ? c->handed : clock_mono(),
                                   .conn = c->id,
                                   .address = buf_bytes(&b),
                                   .method = bytes_of(line.at, c->method_len),
                                   .path = bytes_of(line.at + c->method_len,
                                                    line.len - c->method_len),
                                   .status = c->status,
                                   .octets = c->octets,
                                   .done = done,
                               });
    buf_fini(&b);
    c->state = IDLE;
}

static void close_conn(struct hub *h, struct conn *c)
{
    if (c->state != IDLE)
        record(h, c, false);
    heap_remove(&h->timers, &c->timer);
    if (c->next != NULL)
        c->next->before = c->before;
    if (c->before != NULL)
        c->before->next = c->next;
    else
        h->all = c->next;
    close(c->fd); /* which also ends its registration */
    buf_fini(&c->in);
    buf_fini(&c->line);
    buf_fini(&c->out);
    free(c);
}

void conn_close_all(struct hub *h)
{
    while (h->all != NULL)
        close_conn(h, h->all);
}

/* ---- sending ------------------------------------------------------------- */

/* Returns octets sent; negative: the client is gone. */
static ssize_t send_two(struct conn *c, struct bytes a, struct bytes b)
{
    struct iovec v[2] = {{(void *)(uintptr_t)a.at, a.len},
                         {(void *)(uintptr_t)b.at, b.len}};
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
    ssize_t n = 0;

    c->handed = clock_mono();
    if (a.len + b.len > 0)
        n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

/* Everything was sent. False: the connection was closed. */
static bool finish(struct hub *h, struct conn *c)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    if (c->end == END_SILENT) {
        c->state = SILENT;
        watch(h, c, 0);
        return true;
    }
    record(h, c, true);
    if (c->end == END_RESET)
        (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    if (c->end != END_KEEP || !c->keep) {
        close_conn(h, c);
        return false;
    }
    buf_clear(&c->out);
    watch(h, c, EPOLLIN);
    return true;
}

/* Sends as much of `out` as the socket takes. False as above. */
static bool send_rest(struct hub *h, struct conn *c)
{
    size_t turn = 0;

    for (;;) {
        size_t left = c->out.len - c->sent;
        ssize_t n;

        if (c->drip > 0 && left > c->drip)
            left = c->drip;
        n = send_two(c, bytes_of(c->out.at + c->sent, left), bytes_of(NULL, 0));
        if (n < 0) {
            close_conn(h, c);
            return false;
        }
        c->sent += (size_t)n;
        c->octets += (uint64_t)n;
        turn += (size_t)n;
        if (c->sent == c->out.len && c->end == END_ENDLESS)
            c->sent = c->repeats;
        else if (c->sent == c->out.len)
            return finish(h, c);
        if (c->drip > 0) {
            watch(h, c, 0);
            heap_push(&h->timers, &c->timer, clock_mono() + c->drip_ns);
            return true;
        }
        if (n == 0 || turn >= TURN_MOST) {
            watch(h, c, EPOLLOUT);
            return true;
        }
    }
}

/* Begins to send the answer in h->scratch. False as above. */
static bool begin_answer(struct hub *h, struct conn *c)
{
    struct answer *an = &h->scratch;
    int64_t wait = an->delay_ns + h->o->latency_ns;
    struct bytes head = buf_bytes(&an->head), body = buf_bytes(&an->body);
    size_t n = 0;

    c->state = SENDING;
    c->status = an->status;
    c->end = an->end;
    c->drip = an->drip;
    c->drip_ns = an->drip_ns;
    c->sent = c->octets = 0;
    if (wait == 0 && c->drip == 0) {
        ssize_t sent = send_two(c, head, body);

        if (sent < 0) {
            close_conn(h, c);
            return false;
        }
        n = (size_t)sent;
        c->octets = n;
        if (n == head.len + body.len && c->end != END_ENDLESS)
            return finish(h, c);
    }
    buf_clear(&c->out);
    buf_add_bytes(&c->out, head);
    buf_add_bytes(&c->out, body);
    c->sent = n;
    c->repeats = head.len;
    if (wait == 0)
        return send_rest(h, c);
    c->state = WAITING;
    watch(h, c, 0);
    heap_push(&h->timers, &c->timer, clock_mono() + wait);
    return true;
}

/* ---- requests ------------------------------------------------------------ */

static void refuse(struct conn *c, int status, struct answer *an)
{
    c->keep = false;
    an->end = END_CLOSE;
    answer_text(an, status, "text/plain", "No.\n");
}

/* One request has arrived whole. False as above. */
static bool handle(struct hub *h, struct conn *c, struct bytes head)
{
    struct request rq = {.host = c->host};
    int refusal;

    c->start = clock_mono();
    c->keep = true;
    answer_clear(&h->scratch);
    refusal = request_parse(head, &rq, &c->keep);
    buf_clear(&c->line);
    buf_add_bytes(&c->line, rq.method);
    c->method_len = c->line.len;
    buf_add_bytes(&c->line, rq.target);
    if (refusal != 0)
        refuse(c, refusal, &h->scratch);
    else
        h->o->answer(h->o->ctx, &rq, &h->scratch);
    if (rq.head)
        buf_clear(&h->scratch.body);
    if (buf_failed(&h->scratch.head) != STATUS_OK ||
        buf_failed(&h->scratch.body) != STATUS_OK) {
        answer_clear(&h->scratch);
        refuse(c, 507, &h->scratch);
    }
    return begin_answer(h, c);
}

/* Serve what has arrived, in order, until an answer has to wait. */
static void serve_requests(struct hub *h, struct conn *c)
{
    while (c->state == IDLE) {
        size_t len = request_head_length(buf_bytes(&c->in), c->scanned);
        size_t rest = c->in.len - len;
        bool open;

        c->scanned = c->in.len;
        if (len == 0 && c->in.len < REQUEST_HEAD_MOST)
            return;
        if (len == 0 || len > REQUEST_HEAD_MOST) {
            close_conn(h, c); /* no valid request has such a large head */
            return;
        }
        open = handle(h, c, bytes_of(c->in.at, len));
        if (!open)
            return;
        memmove(c->in.at, c->in.at + len, rest);
        buf_truncate(&c->in, rest);
        c->scanned = 0;
    }
}

void conn_event(struct hub *h, struct conn *c, uint32_t events)
{
    char *room;
    ssize_t n;

    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
        close_conn(h, c);
        return;
    }
    if (events & EPOLLOUT && c->state == SENDING) {
        if (send_rest(h, c))
            serve_requests(h, c);
        return;
    }
    if (!(events & EPOLLIN))
        return;
    room = buf_room(&c->in, READ_STEP); /* idle: `in` is below one head */
    n = room != NULL ? recv(c->fd, room, READ_STEP, MSG_DONTWAIT) : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close_conn(h, c);
        return;
    }
    buf_grew(&c->in, (size_t)n);
    serve_requests(h, c);
}

void conn_timer(struct hub *h, struct heap_item *timer)
{
    struct conn *c =
        (struct conn *)((char *)timer - offsetof(struct conn, timer));

    assert(c->source == SOURCE_CONN);
    c->state = SENDING;
    if (send_rest(h, c))
        serve_requests(h, c);
}
