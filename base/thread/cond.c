/* SPDX-License-Identifier: MIT */
/* cond.c - waits for a condition until a time of clock_mono, and a latch. */
#include "base/thread/cond.h"

#include <time.h>

#include "base/clock.h"

void cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

bool cond_wait_until(pthread_cond_t *c, pthread_mutex_t *mtx, int64_t until)
{
    const struct timespec t = {.tv_sec = (time_t)(until / NS_PER_S),
                               .tv_nsec = (long)(until % NS_PER_S)};

    return pthread_cond_timedwait(c, mtx, &t) == 0;
}

/* ---- lets one thread wait until another has done something ---- */

void latch_init(struct latch *l)
{
    pthread_mutex_init(&l->mtx, NULL);
    pthread_cond_init(&l->cond, NULL);
    l->open = false;
}

void latch_fini(struct latch *l)
{
    pthread_cond_destroy(&l->cond);
    pthread_mutex_destroy(&l->mtx);
}

/* Signals under the lock: the waiting thread cannot free the latch before the
 * lock is released. */
void latch_open(struct latch *l)
{
    pthread_mutex_lock(&l->mtx);
    l->open = true;
    pthread_cond_signal(&l->cond);
    pthread_mutex_unlock(&l->mtx);
}

void latch_wait(struct latch *l)
{
    pthread_mutex_lock(&l->mtx);
    while (!l->open)
        pthread_cond_wait(&l->cond, &l->mtx);
    pthread_mutex_unlock(&l->mtx);
}
