/* SPDX-License-Identifier: MIT */
/*
 * loop.c - epoll, a heap of timers, and an eventfd to wake the loop.
 *
 * Level-triggered: a callback may leave bytes in the socket, so that one
 * connection cannot keep the others waiting. Events fetched together are
 * handled one by one; loop_unwatch removes a descriptor's event from the array,
 * in case it is closed before its event is handled.
 */
#include "service/net/loop.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"

#define EVENTS 64

struct loop {
    /* the loop's thread */
    int epoll;
    struct loop_fd wake;
    struct heap timers;
    struct epoll_event events[EVENTS];
    int event, event_count;
    int64_t now;
    void (*turn_end)(void *ctx);
    void *turn_end_ctx;

    /* shared, under mtx */
    pthread_mutex_t mtx;
    struct loop_post *first, **last;
    bool stopped;
};

static void woken(struct loop_fd *f, uint32_t events)
{
    uint64_t n;

    (void)events;
    while (read(f->fd, &n, sizeof n) > 0)
        ;
}

enum status loop_new(struct loop **out)
{
    struct loop *l = xcalloc(1, sizeof *l);
    enum status st = STATUS_OK;

    heap_init(&l->timers);
    pthread_mutex_init(&l->mtx, NULL);
    l->last = &l->first;
    l->wake.ready = woken;
    l->wake.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->now = clock_mono();
    if (l->wake.fd < 0 || l->epoll < 0)
        st = status_of_errno(errno);
    else
        st = loop_watch(l, &l->wake, EPOLLIN);
    if (st != STATUS_OK) {
        log_error("cannot make an event loop", "why=\"%s\"", strerror(errno));
        loop_free(l);
        return st;
    }
    *out = l;
    return STATUS_OK;
}

void loop_free(struct loop *l)
{
    if (l == NULL)
        return;
    if (l->epoll >= 0)
        close(l->epoll);
    if (l->wake.fd >= 0)
        close(l->wake.fd);
    heap_fini(&l->timers);
    pthread_mutex_destroy(&l->mtx);
    free(l);
}

/* ---- descriptors ---- */

enum status loop_watch(struct loop *l, struct loop_fd *f, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = f};

    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, f->fd, &e) != 0)
        return status_of_errno(errno);
    return STATUS_OK;
}

void loop_change(struct loop *l, struct loop_fd *f, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = f};
    int failed = epoll_ctl(l->epoll, EPOLL_CTL_MOD, f->fd, &e);

    assert(failed == 0); /* it is watched */
    (void)failed;
}

void loop_unwatch(struct loop *l, struct loop_fd *f)
{
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, f->fd, NULL);
    for (int i = l->event; i < l->event_count; i++)
        if (l->events[i].data.ptr == f)
            l->events[i].data.ptr = NULL;
}

static void run_events(struct loop *l)
{
    for (l->event = 0; l->event < l->event_count; l->event++) {
        struct loop_fd *f = l->events[l->event].data.ptr;

        if (f != NULL)
            f->ready(f, l->events[l->event].events);
    }
    l->event = l->event_count = 0;
}

/* ---- timers ---- */

void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t at)
{
    if (t->item.place != 0)
        heap_move(&l->timers, &t->item, at);
    else
        heap_push(&l->timers, &t->item, at);
}

void loop_timer_cancel(struct loop *l, struct loop_timer *t)
{
    heap_remove(&l->timers, &t->item);
}

int64_t loop_now(const struct loop *l)
{
    return l->now;
}

static void run_timers(struct loop *l)
{
    struct heap_item *i;

    while ((i = heap_top(&l->timers)) != NULL && i->key <= l->now) {
        struct loop_timer *t =
            (struct loop_timer *)((char *)i -
                                  offsetof(struct loop_timer, item));

        heap_pop(&l->timers);
        t->fire(t);
    }
}

/* Milliseconds until the next timer, rounded up; -1: there is none. */
static int wait_ms(const struct loop *l)
{
    struct heap_item *i = heap_top(&l->timers);
    int64_t left;

    if (i == NULL)
        return -1;
    left = i->key - clock_mono();
    if (left <= 0)
        return 0;
    return left > 60 * NS_PER_S ? 60000
                                : (int)((left + NS_PER_MS - 1) / NS_PER_MS);
}

/* ---- from other threads ---- */

static void wake(struct loop *l)
{
    uint64_t one = 1;
    ssize_t n = write(l->wake.fd, &one, sizeof one);

    (void)n; /* a full counter wakes the loop too */
}

void loop_post(struct loop *l, struct loop_post *p)
{
    bool was_empty;

    p->next = NULL;
    pthread_mutex_lock(&l->mtx);
    was_empty = l->first == NULL;
    *l->last = p;
    l->last = &p->next;
    pthread_mutex_unlock(&l->mtx);
    if (was_empty)
        wake(l);
}

void loop_stop(struct loop *l)
{
    pthread_mutex_lock(&l->mtx);
    l->stopped = true;
    pthread_mutex_unlock(&l->mtx);
    wake(l);
}

/* Runs the posts; false: the loop must stop. */
static bool run_posts(struct loop *l)
{
    struct loop_post *p, *next;
    bool stopped;

    pthread_mutex_lock(&l->mtx);
    p = l->first;
    l->first = NULL;
    l->last = &l->first;
    stopped = l->stopped;
    pthread_mutex_unlock(&l->mtx);
    for (; p != NULL; p = next) {
        next = p->next;
        p->run(p);
    }
    return !stopped;
}

void loop_run_posted(struct loop *l)
{
    bool any = true;

    while (any) {
        run_posts(l);
        pthread_mutex_lock(&l->mtx);
        any = l->first != NULL;
        pthread_mutex_unlock(&l->mtx);
    }
}

void loop_at_turn_end(struct loop *l, void (*call)(void *ctx), void *ctx)
{
    l->turn_end = call;
    l->turn_end_ctx = ctx;
}

void loop_run(struct loop *l)
{
    bool more = true;

    while (more) {
        int n = epoll_wait(l->epoll, l->events, EVENTS, wait_ms(l));

        l->event_count = n > 0 ? n : 0;
        l->now = clock_mono();
        run_events(l);
        more = run_posts(l);
        run_timers(l);
        if (l->turn_end != NULL)
            l->turn_end(l->turn_end_ctx);
    }
}
