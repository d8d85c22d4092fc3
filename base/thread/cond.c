/* SPDX-License-Identifier: MIT */
/* cond.c - waits for a condition until a time of clock_mono. */
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
