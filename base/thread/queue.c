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

struct queue {
    pthread_mutex_t mtx;
    pthread_cond_t may_send, may_receive;
    void **ring;
    size_t cap, head, count;
    bool woken;
};

struct queue *queue_new(size_t capacity)
{
    struct queue *q = xcalloc(1, sizeof *q);

    pthread_mutex_init(&q->mtx, NULL);
    cond_init(&q->may_send);
    cond_init(&q->may_receive);
    q->cap = capacity > 0 ? capacity : 1;
    q->ring = xcalloc(q->cap, sizeof *q->ring);
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

void queue_send(struct queue *q, void *item)
{
    pthread_mutex_lock(&q->mtx);
    while (q->count == q->cap)
        pthread_cond_wait(&q->may_send, &q->mtx);
    q->ring[(q->head + q->count) % q->cap] = item;
    q->count++;
    pthread_cond_signal(&q->may_receive);
    pthread_mutex_unlock(&q->mtx);
}

size_t queue_receive(struct queue *q, void **items, size_t most,
                     int64_t timeout_ns)
{
    int64_t until = timeout_ns > 0 ? clock_mono() + timeout_ns : 0;
    size_t n = 0;

    pthread_mutex_lock(&q->mtx);
    while (q->count == 0 && !q->woken && timeout_ns != 0) {
        if (timeout_ns < 0)
            pthread_cond_wait(&q->may_receive, &q->mtx);
        else if (!cond_wait_until(&q->may_receive, &q->mtx, until))
            break;
    }
    q->woken = false;
    while (n < most && q->count > 0) {
        items[n++] = q->ring[q->head];
        q->head = (q->head + 1) % q->cap;
        q->count--;
    }
    if (n > 0)
        pthread_cond_broadcast(&q->may_send);
    pthread_mutex_unlock(&q->mtx);
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
