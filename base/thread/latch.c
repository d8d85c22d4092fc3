/* SPDX-License-Identifier: MIT */
/* latch.c - lets one thread wait until another has done something. */
#include "base/thread/latch.h"

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
