/* SPDX-License-Identifier: MIT */
/*
 * http_pump.c - epoll with two descriptors for each sleeper, and a timer for
 * the beats.
 *
 * Only this thread resumes connections, so none is resumed twice. A sleeping
 * connection cannot end, so a sleeper that was taken off the list still exists
 * when it is resumed after the mutex was released. (If we resumed under the
 * mutex, we would take the library's mutex under ours, which elsewhere happens
 * the other way round.)
 *
 * epoll watches a sleeper's descriptors only while it sleeps, since its owner
 * may be freed once it is awake. Both are one-shot: between the first event and
 * their removal no other comes, except those fetched together with it.
 */
#include "service/http/http_pump.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"

#define BEAT_NS NS_PER_S
#define BATCH   64

LIST_HEAD(sleeper_list, http_sleeper);

struct http_pump {
    struct http_pump_work work;
    int epoll, nudge;
    pthread_t thread;
    bool started;

    pthread_mutex_t mtx; /* guards what follows */
    struct sleeper_list for_beats, for_fds;
    uint64_t beats;
    bool early; /* an extra beat is wanted */
    bool cut, end;
    bool woken; /* all were woken since the cut */
    pthread_cond_t told;
};

/* ---- the thread ---- */

/* Empties a list under the mutex; the first of those that were there. */
static struct http_sleeper *pump_take_all(struct sleeper_list *list)
{
    struct http_sleeper *first = LIST_FIRST(list);

    LIST_INIT(list);
    return first;
}

static void resume_all(struct http_sleeper *s)
{
    while (s != NULL) {
        struct http_sleeper *next = LIST_NEXT(s, others); /* it may be freed */

        MHD_resume_connection(s->conn);
        s = next;
    }
}

static void do_beat(struct http_pump *p)
{
    struct http_sleeper *list;

    p->work.beat(p->work.beat_ctx);
    pthread_mutex_lock(&p->mtx);
    p->beats++;
    list = pump_take_all(&p->for_beats);
    pthread_mutex_unlock(&p->mtx);
    resume_all(list);
}

static void pump_forget(struct http_pump *p, const struct http_sleeper *s)
{
    epoll_ctl(p->epoll, EPOLL_CTL_DEL, s->fd, NULL);
    epoll_ctl(p->epoll, EPOLL_CTL_DEL, s->socket, NULL);
}

/* Only sockets give EPOLLRDHUP: the pipe never does. */
static void wake_one(struct http_pump *p, struct http_sleeper *s,
                     uint32_t events)
{
    pthread_mutex_lock(&p->mtx);
    LIST_REMOVE(s, others);
    pthread_mutex_unlock(&p->mtx);
    pump_forget(p, s);
    s->left = s->left || (events & EPOLLRDHUP) != 0;
    MHD_resume_connection(s->conn);
}

static void wake_cut(struct http_pump *p)
{
    struct http_sleeper *list;

    pthread_mutex_lock(&p->mtx);
    list = pump_take_all(&p->for_fds);
    pthread_mutex_unlock(&p->mtx);
    for (struct http_sleeper *s = list; s != NULL; s = LIST_NEXT(s, others))
        pump_forget(p, s);
    resume_all(list);
}

static void tell_cut(struct http_pump *p)
{
    pthread_mutex_lock(&p->mtx);
    p->woken = true;
    pthread_cond_broadcast(&p->told);
    pthread_mutex_unlock(&p->mtx);
}

/* Milliseconds until the beat at `next`, if a sleeper waits for it, or until
 * `look`; -1: neither. */
static int pump_wait_for(struct http_pump *p, int64_t next, int64_t look)
{
    int64_t now = clock_mono();
    bool wanted;

    pthread_mutex_lock(&p->mtx);
    wanted = !LIST_EMPTY(&p->for_beats);
    pthread_mutex_unlock(&p->mtx);
    if (!wanted || look < next)
        next = look;
    if (next == INT64_MAX)
        return -1;
    return next > now ? (int)((next - now) / NS_PER_MS) + 1 : 0;
}

static void take_nudge(struct http_pump *p)
{
    uint64_t times;

    if (read(p->nudge, &times, sizeof times) < 0 && errno != EAGAIN)
        log_error("cannot read an eventfd", "errno=%d", errno);
}

/* Combines the events of sleeper `of` and clears them. */
static uint32_t take_events(struct epoll_event *e, int n, const void *of)
{
    uint32_t events = 0;

    for (int i = 0; i < n; i++)
        if (e[i].data.ptr == of) {
            events |= e[i].events;
            e[i].data.ptr = NULL;
        }
    return events;
}

static void handle(struct http_pump *p, struct epoll_event *e, int n)
{
    for (int i = 0; i < n; i++) {
        void *of = e[i].data.ptr;

        if (of == p)
            take_nudge(p);
        else if (of != NULL)
            wake_one(p, of, take_events(e + i, n - i, of));
    }
}

/* Does what other threads asked for; they set it and then nudge. */
static bool turn(struct http_pump *p, int64_t *next)
{
    bool end, cut, beat;

    pthread_mutex_lock(&p->mtx);
    end = p->end;
    cut = p->cut;
    beat = p->early || (!LIST_EMPTY(&p->for_beats) && clock_mono() >= *next);
    p->early = false;
    pthread_mutex_unlock(&p->mtx);
    if (cut)
        wake_cut(p);
    if (beat) {
        do_beat(p);
        *next += BEAT_NS;
        if (*next < clock_mono())
            *next = clock_mono() + BEAT_NS;
    }
    if (cut)
        tell_cut(p);
    return !end;
}

static void *pump(void *arg)
{
    struct http_pump *p = arg;
    struct epoll_event events[BATCH];
    int64_t next = clock_mono();

    do {
        int64_t look = p->work.look(p->work.look_ctx);
        int n =
            epoll_wait(p->epoll, events, BATCH, pump_wait_for(p, next, look));

        handle(p, events, n);
    } while (turn(p, &next));
    return NULL;
}

/* ---- other threads ---- */

void http_pump_nudge(void *pump)
{
    struct http_pump *p = pump;
    const uint64_t one = 1;

    if (write(p->nudge, &one, sizeof one) < 0 && errno != EAGAIN)
        log_error("cannot write an eventfd", "errno=%d", errno);
}

uint64_t http_pump_beats(struct http_pump *p)
{
    uint64_t n;

    pthread_mutex_lock(&p->mtx);
    n = p->beats;
    pthread_mutex_unlock(&p->mtx);
    return n;
}

/* Makes epoll watch its descriptors; false: it failed. Called under the mutex,
 * so that events wait until the sleeper is on the list. */
static bool pump_watch(struct http_pump *p, struct http_sleeper *s)
{
    struct epoll_event in = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = s};
    struct epoll_event end = {.events = EPOLLRDHUP | EPOLLONESHOT,
                              .data.ptr = s};

    if (s->fd < 0)
        return true;
    if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, s->fd, &in) == 0 &&
        epoll_ctl(p->epoll, EPOLL_CTL_ADD, s->socket, &end) == 0)
        return true;
    log_error("cannot watch a pipe and its reader", "errno=%d", errno);
    pump_forget(p, s);
    return false;
}

enum http_pump_slept http_pump_sleep(struct http_pump *p,
                                     struct http_sleeper *s, uint64_t beats)
{
    enum http_pump_slept slept = HTTP_ASLEEP;
    bool first = false;

    pthread_mutex_lock(&p->mtx);
    if (s->fd < 0 && p->beats != beats)
        slept = HTTP_AWAKE;
    else if (p->cut || !pump_watch(p, s))
        slept = HTTP_CUT;
    if (slept == HTTP_ASLEEP) {
        MHD_suspend_connection(s->conn);
        first = s->fd < 0 && LIST_EMPTY(&p->for_beats);
        if (s->fd < 0)
            LIST_INSERT_HEAD(&p->for_beats, s, others);
        else
            LIST_INSERT_HEAD(&p->for_fds, s, others);
    }
    pthread_mutex_unlock(&p->mtx);
    if (first)
        http_pump_nudge(p);
    return slept;
}

void http_pump_beat(struct http_pump *p)
{
    pthread_mutex_lock(&p->mtx);
    p->early = true;
    pthread_mutex_unlock(&p->mtx);
    http_pump_nudge(p);
}

void http_pump_cut(struct http_pump *p)
{
    pthread_mutex_lock(&p->mtx);
    p->cut = true;
    p->early = true;
    http_pump_nudge(p);
    while (!p->woken)
        pthread_cond_wait(&p->told, &p->mtx);
    pthread_mutex_unlock(&p->mtx);
}

/* ---- beginning and end ---- */

static enum status pump_start(struct http_pump *p)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = p};
    sigset_t all, before;
    int rc;

    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    p->nudge = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (p->epoll < 0 || p->nudge < 0 ||
        epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->nudge, &e) != 0)
        return status_of_errno(errno);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&p->thread, NULL, pump, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    p->started = rc == 0;
    return rc == 0 ? STATUS_OK : status_of_errno(rc);
}

enum status http_pump_open(struct http_pump **out,
                           const struct http_pump_work *w)
{
    struct http_pump *p = xcalloc(1, sizeof *p);
    enum status st;

    p->work = *w;
    p->epoll = -1;
    p->nudge = -1;
    pthread_mutex_init(&p->mtx, NULL);
    pthread_cond_init(&p->told, NULL);
    st = pump_start(p);
    if (st != STATUS_OK) {
        log_error("cannot start a thread", "why=\"%s\"", status_text(st));
        http_pump_close(p);
        return st;
    }
    *out = p;
    return STATUS_OK;
}

void http_pump_close(struct http_pump *p)
{
    if (p == NULL)
        return;
    if (p->started) {
        pthread_mutex_lock(&p->mtx);
        p->end = true;
        pthread_mutex_unlock(&p->mtx);
        http_pump_nudge(p);
        pthread_join(p->thread, NULL);
    }
    if (p->nudge >= 0)
        close(p->nudge);
    if (p->epoll >= 0)
        close(p->epoll);
    pthread_cond_destroy(&p->told);
    pthread_mutex_destroy(&p->mtx);
    free(p);
}
