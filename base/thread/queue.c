/* SPDX-License-Identifier: MIT */
/*
 * queue.c - bounded queue between threads: a ring under one mutex.
 *
 * Items are batches of work, not single URLs, so the lock is taken a few
 * thousand times a second at most; a lock-free ring was not worth its proof.
 */
#include "base/thread/queue.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread/cond.h"

struct place {
    void *item;
    size_t octets;
};

struct queue {
    pthread_mutex_t mtx;
    pthread_cond_t may_send, may_receive;
    struct place *ring;
    size_t cap, head, count;
    size_t octets, most_octets;
    size_t enough;       /* items that a waiting receiver is woken for */
    bool woken, blocked; /* blocked: a sender waits for room */
};

struct queue *queue_new(size_t capacity, size_t octets)
{
    struct queue *q = xcalloc(1, sizeof *q);

    pthread_mutex_init(&q->mtx, NULL);
    cond_init(&q->may_send);
    cond_init(&q->may_receive);
    q->cap = capacity > 0 ? capacity : 1;
    q->enough = 1;
    q->ring = xcalloc(q->cap, sizeof *q->ring);
    q->most_octets = octets > 0 ? octets : SIZE_MAX;
    return q;
}

void queue_free(struct queue *q)
{
    if (q == NULL)
        return;
    pthread_cond_destroy(&q->may_receive);
    pthread_cond_destroy(&q->may_send);
    pthread_mutex_destroy(&q->mtx);
    free(q->ring);
    free(q);
}

static bool queue_has_room(const struct queue *q, size_t octets)
{
    return q->count == 0 || (q->count < q->cap && octets <= q->most_octets &&
                             q->octets <= q->most_octets - octets);
}

/* Signals are sent without the mutex: a thread that wakes needs it. */
void queue_send(struct queue *q, void *item, size_t octets)
{
    bool enough;

    pthread_mutex_lock(&q->mtx);
    while (!queue_has_room(q, octets)) {
        q->blocked = true;
        pthread_cond_signal(&q->may_receive);
        pthread_cond_wait(&q->may_send, &q->mtx);
    }
    q->ring[(q->head + q->count) % q->cap] = (struct place){item, octets};
    q->count++;
    q->octets += octets;
    enough = q->count >= q->enough;
    pthread_mutex_unlock(&q->mtx);
    if (enough)
        pthread_cond_signal(&q->may_receive);
}

/* Waits until there are `enough` items, until the time is `until`. */
static void queue_wait_for(struct queue *q, size_t enough, int64_t until)
{
    q->enough = enough;
    while (q->count < enough && !q->woken && !q->blocked)
        if (!cond_wait_until(&q->may_receive, &q->mtx, until))
            break;
    q->enough = 1;
}

size_t queue_gather(struct queue *q, void **items, size_t most,
                    int64_t timeout_ns, size_t enough, int64_t gather_ns)
{
    int64_t until = timeout_ns > 0 ? clock_mono() + timeout_ns : 0;
    bool was_blocked;
    size_t n = 0;

    pthread_mutex_lock(&q->mtx);
    while (q->count == 0 && !q->woken && timeout_ns != 0) {
        if (timeout_ns < 0)
            pthread_cond_wait(&q->may_receive, &q->mtx);
        else if (!cond_wait_until(&q->may_receive, &q->mtx, until))
            break;
    }
    if (q->count > 0 && q->count < enough && gather_ns > 0)
        queue_wait_for(q, enough, clock_mono() + gather_ns);
    q->woken = false;
    while (n < most && q->count > 0) {
        items[n++] = q->ring[q->head].item;
        q->octets -= q->ring[q->head].octets;
        q->head = (q->head + 1) % q->cap;
        q->count--;
    }
    was_blocked = q->blocked;
    q->blocked = false;
    pthread_mutex_unlock(&q->mtx);
    if (was_blocked)
        pthread_cond_broadcast(&q->may_send);
    return n;
}

void queue_wake(struct queue *q)
{
    pthread_mutex_lock(&q->mtx);
    q->woken = true;
    pthread_cond_broadcast(&q->may_receive);
    pthread_mutex_unlock(&q->mtx);
}

size_t queue_count(struct queue *q)
{
    size_t n;

    pthread_mutex_lock(&q->mtx);
    n = q->count;
    pthread_mutex_unlock(&q->mtx);
    return n;
}
